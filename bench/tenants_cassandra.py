"""Cost of one tenant's usage and marks on Cassandra as its users grow: statements sent to the nodes, and milliseconds.

A private node; the totals, the counted scopes and the marks are filled in, without the
memories: `python -m bench.tenants_cassandra --sizes 1000,1000000`. With `--written`, each user adds a memory;
with `--writes 25` instead, writes a second of 16 users of one tenant and of 16 tenants in turn, like `bench_tenants`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from statistics import median
from typing import Any

from cassandra import OperationTimedOut, WriteTimeout
from cassandra.query import BatchStatement, BatchType

from bench.tenants import rates
from mnemic.ports import Transaction
from mnemic.ports.database_backend import RowChange
from mnemic.stores.cassandra import CassandraStore, tenant_totals
from mnemic.stores.cassandra.connection import some_at_once
from mnemic.stores.cassandra.encoding import pack_row, sortable_key
from mnemic.stores.cassandra.partitions import Written, in_batches
from mnemic.stores.cassandra.routing import COUNTED, LATEST, NAMES, TOTAL, Partition
from mnemic.stores.codec import text_check
from mnemic.stores.row_store_adapter.tables import MARK
from mnemic.testing.record_store.fixtures import EMBEDDER, memory, remember, scope
from mnemic.types import Kind, Usage
from mnemic.types.identity import first_id
from tests.cassandra_nodes import Cluster
from tests.processes import running

_TENANT = "acme"
_MINUTE = timedelta(minutes=1)
_IN_ONE_BATCH = 200
_AT_ONCE = 4
_CALLS = 11


@contextmanager
def counting(store: CassandraStore) -> Iterator[list[str]]:
    """Note each statement that a store sends."""
    link = store._database.link
    ask, asked = link.ask, []

    async def noted(name: str, values: Sequence[Any], **how: Any) -> Any:
        asked.append(name)
        return await ask(name, values, **how)

    link.ask = noted  # type: ignore[method-assign]
    try:
        yield asked
    finally:
        link.ask = ask  # type: ignore[method-assign]


async def persistently(ask: Callable[[], Awaitable[object]]) -> None:
    """Repeat a plain write until a busy node answers in time; raise what the last of twenty attempts raised."""
    for attempt in range(20):
        try:
            await ask()
        except (OperationTimedOut, WriteTimeout):
            if attempt == 19:
                raise
        else:
            return


async def fill(store: CassandraStore, users: range) -> None:
    """Count a memory of each of these users, of five minutes ago, and give each a mark: the rows that collections and
    consents leave, written in plain batches.
    """
    link = store._database.link
    floor = first_id(datetime.now(UTC) - 2 * _MINUTE)
    newest = first_id(datetime.now(UTC) - 5 * _MINUTE)
    used = pack_row(("long_term", 1, 100))
    end, beside = Partition(_TENANT, "audit", "end"), Partition(_TENANT, "", "")

    def rows(numbers: range) -> Iterator[tuple[Partition, list[Written]]]:
        counted, marks = [], []
        for number in numbers:
            name = f"u{number}"
            place, mark = f"{newest} user {name}", f"consent:{name}:diet"
            counted.append((NAMES[COUNTED], sortable_key(("user", name)), pack_row(("user", name, 1, place, used))))
            counted.append((NAMES[LATEST], sortable_key((place,)), pack_row((place, "user", name, floor, b""))))
            marks.append((NAMES[MARK], sortable_key((mark,)), pack_row((mark, "granted", text_check(mark, "granted")))))
        yield end, counted
        yield beside, marks

    async def some(numbers: range) -> None:
        for home, written in rows(numbers):
            for batch in in_batches(written):
                statement = BatchStatement(BatchType.UNLOGGED)
                for each in store._database.partitions.rows(home, batch):
                    statement.add(link._bound(*each))
                await persistently(partial(link._answer, statement))

    chunks = (range(n, min(n + _IN_ONE_BATCH, users.stop)) for n in range(users.start, users.stop, _IN_ONE_BATCH))
    await some_at_once((partial(some, numbers) for numbers in chunks), most=_AT_ONCE)

    async def counts(change: RowChange) -> None:
        total = {kind: counted for _, kind, *counted in await change.scan(TOTAL, (_TENANT,))}
        memories, size = total.get("long_term", (0, 0))
        await change.put(TOTAL, [(_TENANT, "long_term", memories + len(users), size + 100 * len(users))])
        await tenant_totals._note_whole(change, _TENANT)

    await store._database.transact(counts)


async def write(store: CassandraStore, users: range) -> None:
    """Let each of these users add a memory of five minutes ago and give consent."""
    turn = asyncio.Semaphore(_AT_ONCE)

    async def one(number: int) -> None:
        name = f"u{number}"
        async with turn:
            made = memory("tea", at=datetime.now(UTC) - 5 * _MINUTE, scope=scope(name))
            await remember(store, made)
            await store.transact(lambda change: change.put_mark(_TENANT, f"consent:{name}:diet", "granted"))

    await asyncio.gather(*map(one, users))


async def costs(store: CassandraStore) -> dict[str, dict[str, float]]:
    """Return what each question asks of the nodes, and its median time of eleven calls."""

    async def under_quota() -> dict[Kind, Usage]:
        async def work(change: Transaction) -> dict[Kind, Usage]:
            await change.insert(memory("juice", at=datetime.now(UTC), scope=scope("u5")))
            return dict(await change.usage(_TENANT, since=datetime.now(UTC) - _MINUTE, settled=False))

        return await store.transact(work)

    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "usage": lambda: store.usage(_TENANT, since=datetime.now(UTC) - _MINUTE),
        "marks of one user": lambda: store.marks(_TENANT, "consent:u77:"),
        "one mark": lambda: store.marks(_TENANT, "consent:u77:diet", limit=1),
        "a write under a quota": under_quota,
    }
    found = {}
    for name, call in calls.items():
        asked, times = [], []
        for _ in range(_CALLS):
            with counting(store) as sent:
                began = time.perf_counter()
                await call()
                times.append(1000 * (time.perf_counter() - began))
            asked.append(len(sent))
        found[name] = {"asked": median(asked), "ms": round(median(times), 1)}
    return found


async def measured(url: str, sizes: Sequence[int], *, written: bool = False) -> list[dict[str, Any]]:
    """Return the costs at each number of users, printed as they come."""
    store, rows, before = CassandraStore(url), [], 0
    await store.open(EMBEDDER.space)
    for users in sizes:
        await (write if written else fill)(store, range(before, users))
        before = users
        if written:
            for _ in range(users // tenant_totals.MAX_COLLECTED + 1):
                await store.usage(_TENANT, since=datetime.now(UTC) - _MINUTE)
        found = await store.usage(_TENANT, since=datetime.now(UTC) - _MINUTE)
        row = {"users": users, "counted": found[Kind.LONG_TERM].rows, "load": round(os.getloadavg()[0], 1)}
        rows.append(row | await costs(store))
        print(json.dumps(rows[-1]), flush=True)
    await store.close()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,100000,1000000")
    parser.add_argument("--written", action="store_true")
    parser.add_argument("--writes", type=float)
    given = parser.parse_args()
    sizes = sorted(int(size) for size in given.sizes.split(","))
    with running(Cluster(1)) as cluster:
        if given.writes:
            print(json.dumps(asyncio.run(rates(cluster.url("growth", copies=1), given.writes))))
            return
        asyncio.run(measured(cluster.url("growth", copies=1), sizes, written=given.written))


if __name__ == "__main__":
    main()
