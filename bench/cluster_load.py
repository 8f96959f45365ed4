"""Many users on three nodes, loaded in bulk, then asked: a row of `python -m bench.cluster`.

A scope is written as its transaction would leave it, in one batch on its partition, and without the lightweight
transaction: nobody else writes to a partition that is not listed yet. Memories are written silently, as `mnemic move`
does, with the vectors of a cheap embedder.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import Any

from cassandra import ConsistencyLevel
from cassandra.query import BatchStatement, BatchType

from mnemic.bootstrap import build_store
from mnemic.ports import Transaction
from mnemic.stores.cassandra.commit import written_rows
from mnemic.stores.cassandra.partitions import Head
from mnemic.stores.cassandra.routing import EVERYWHERE, Partition
from mnemic.stores.cassandra.store import CassandraStore, CassandraTransaction
from mnemic.stores.cassandra.transaction_view import View
from mnemic.stores.row_store_adapter.memories import place_of
from mnemic.stores.store_verbs import drive
from mnemic.types import Actor, Candidate, Kind, Memory, VectorSpace
from mnemic.types.scope import new_id
from mnemic.write.prepare import fingerprint_of
from mnemic_eval.texts import statements
from mnemic_eval.vectors import HashedEmbedder
from tests.cassandra_nodes import Cluster

EACH = 100
"""Memories of a user."""
_AT_ONCE = 6
"""Users on their way to the nodes. One of 100 memories is some 300 kB."""


class Loader:
    """Loads users into an opened store."""

    def __init__(self, store: CassandraStore, space: VectorSpace) -> None:
        database = store._database
        self._store, self._partitions, self._link = store, database.partitions, database.link
        self._embedder = HashedEmbedder(space)
        self._begin = self._link._session.prepare(
            "INSERT INTO rows (tenant, level, owner, version, writers) VALUES (?, ?, ?, 1, 'loaded')"
        )
        self._everywhere = Head(None, "")
        self._secrets: dict[str, bytes] = {}

    async def begin(self, tenants: Iterator[str]) -> None:
        """Read what every scope needs."""
        self._everywhere = await self._partitions.head(EVERYWHERE)
        self._secrets = {tenant: await self._store.secret(tenant) for tenant in tenants}

    async def load(self, actor: Actor, seed: int) -> None:
        """Write the memories of a user, which are always the same for a seed."""
        scope = actor.scope("user")
        home = Partition(*place_of(scope))
        texts = [f"{text} ({seed})" for text in islice(statements(seed), EACH)]
        vectors = await self._embedder.embed(texts)
        memories = [self._memory(actor, *each) for each in zip(texts, vectors, strict=True)]

        async def work(transaction: Transaction) -> None:
            for memory in memories:
                await transaction.insert(memory)

        view = View(self._partitions)
        view.heads = {home: Head(None, ""), EVERYWHERE: self._everywhere}
        await drive(lambda rows: work(CassandraTransaction(rows, self._store._scopes)), view)
        batch = BatchStatement(BatchType.UNLOGGED, consistency_level=ConsistencyLevel.QUORUM)
        batch.add(self._begin, self._partitions.key(home))
        for name, values in self._partitions.rows(home, written_rows(view, home)):
            batch.add(self._link._bound(name, values))
        await self._link.write([("list", (*self._partitions.shard(home.tenant), home.level, home.owner))])
        await self._link._try_answer(partial(self._link._answer, batch))

    def _memory(self, actor: Actor, text: str, vector: bytes) -> Memory:
        now, scope = datetime.now(UTC), actor.scope("user")
        candidate = Candidate(content=text, kind=Kind.EPISODIC)
        return Memory(
            memory_id=new_id(now),
            kind=Kind.EPISODIC,
            scope=scope,
            content=text,
            created_at=now,
            updated_at=now,
            occurred_at=now,
            vector=vector,
            fingerprint=fingerprint_of(self._secrets[actor.tenant], scope, candidate),
        )


async def load(location: str, space: VectorSpace, users: int, user: Callable[[int], Actor]) -> dict[str, Any]:
    """Load as many users, and tell how far it is after each tenth."""
    store = build_store(location, durability="durable")
    assert isinstance(store, CassandraStore)
    await store.open(space)
    began, own = time.time(), time.process_time()
    try:
        loader = Loader(store, space)
        await loader.begin(iter({user(number).tenant for number in range(users)}))
        left = iter(range(users))

        async def task() -> None:
            for number in left:
                await loader.load(user(number), number)
                if (number + 1) % (users // 10) == 0:
                    print(f"{number + 1} users loaded after {time.time() - began:.0f} s", file=sys.stderr, flush=True)

        await asyncio.gather(*(task() for _ in range(_AT_ONCE)))
    finally:
        await store.close()
    return {
        "users": users,
        "memories": users * EACH,
        "seconds": round(time.time() - began),
        "client_ms_a_memory": round(1000 * (time.process_time() - own) / (users * EACH), 3),
    }


def stored(cluster: Cluster) -> dict[str, Any]:
    """Return what the nodes have on their disks, in MB, once all is in files."""
    for node in cluster.nodes:
        node.nodetool("flush")
    return {
        "mb_on_each_node": [
            round(sum(file.stat().st_size for file in (node.folder / "data").rglob("*") if file.is_file()) / 1e6)
            for node in cluster.nodes
        ],
        "files": sum(1 for node in cluster.nodes for _ in (node.folder / "data").rglob("*-Data.db")),
    }


def compact(cluster: Cluster) -> dict[str, Any]:
    """Let the nodes compact what was loaded, as they do by themselves; return what that took."""
    before, began = cluster.spent(), time.time()
    for node in cluster.nodes:
        node.nodetool("enableautocompaction")
    while not all(re.search(r"pending tasks:?\s+0\b", node.nodetool("compactionstats")) for node in cluster.nodes):
        time.sleep(5)
    return {"compaction_server_s": round(cluster.spent() - before, 1), "compaction_s": round(time.time() - began)}
