"""What one tenant's usage and marks cost on Cassandra as its users grow: questions to the nodes, and milliseconds.

A private node; the totals, the counted scopes and the marks are filled in through the store's own transactions, without
the memories: `python -m tests.bench_tenants_cassandra --sizes 1000,1000000`. With `--written`, each user adds a memory;
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
from statistics import median
from typing import Any

from mnemic.ports import Transaction
from mnemic.ports.row_store import RowChange
from mnemic.stores.layered.auxiliary_records import put_mark
from mnemic.types import Kind, Usage
from mnemic.types.identity import first_id
from mnemic_cassandra import CassandraStore, totals
from mnemic_cassandra.encoding import packed
from mnemic_cassandra.routing import Partition
from mnemic_cassandra.totals import Count
from mnemic_testing.record_store.fixtures import EMBEDDER, memory, remember, scope
from tests.bench_tenants import rates
from tests.cassandra_nodes import Cluster
from tests.processes import running

_TENANT = "acme"
_MINUTE = timedelta(minutes=1)
_IN_ONE_TRANSACTION = 100
_AT_ONCE = 16
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


async def fill(store: CassandraStore, users: range) -> None:
    """Count a memory of each of these users, of five minutes ago, and give each a mark."""
    floor = first_id(datetime.now(UTC) - 2 * _MINUTE)
    newest = first_id(datetime.now(UTC) - 5 * _MINUTE)
    used = packed(("long_term", 1, 100))

    async def some(change: RowChange, numbers: range) -> None:
        counts = [Count(Partition(_TENANT, "user", f"u{n}"), 1, used, newest, floor, b"") for n in numbers]
        await totals.count(change, _TENANT, counts)
        for number in numbers:
            await put_mark(change, _TENANT, f"consent:u{number}:diet", "granted")

    for first in range(users.start, users.stop, _IN_ONE_TRANSACTION):
        numbers = range(first, min(first + _IN_ONE_TRANSACTION, users.stop))
        await store._database.transact(lambda change, numbers=numbers: some(change, numbers))


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
            for _ in range(users // totals.MOST_COLLECTED + 1):
                await store.usage(_TENANT, since=datetime.now(UTC) - _MINUTE)
        else:
            await store._database.transact(lambda change: totals._note_whole(change, _TENANT))
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
