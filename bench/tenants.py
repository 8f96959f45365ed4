"""What one tenant's usage and marks cost as its users grow: blocks that PostgreSQL reads, and milliseconds.

Rows are filled in directly, on a private server: `python -m bench.tenants --sizes 1000,1000000`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import asyncpg

from mnemic.ports import RecordStore
from mnemic.runtime.clock import SystemClock
from mnemic.stores.codec import text_check
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.postgres.connections import session_settings
from mnemic.stores.postgres.statements import load
from mnemic.stores.relational.statements import load as shared
from mnemic.testing.record_store import EMBEDDER
from tests.processes import running
from tests.servers import PostgresServer

_FILLED = (
    (
        "INSERT INTO mnemic.scope (tenant, level, owner) "
        "SELECT 'acme', 'user', 'u' || n FROM generate_series({first}, {last}) n"
    ),
    (
        "INSERT INTO mnemic.usage (tenant, scope_id, kind, memories, bytes) "
        "SELECT s.tenant, s.scope_id, 'long_term', 1, 100 FROM mnemic.scope s WHERE NOT EXISTS "
        "(SELECT FROM mnemic.usage u WHERE u.tenant = s.tenant AND u.scope_id = s.scope_id)"
    ),
    "DELETE FROM mnemic.usage_lane",
    (
        "INSERT INTO mnemic.usage_lane (tenant, lane, kind, memories, bytes) "
        "SELECT 'acme', n, 'long_term', {last} / 256, 100 * {last} / 256 FROM generate_series(0, 255) n"
    ),
)
_STATEMENTS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "usage": (shared("jobs", "postgres")["usage_of_tenant"], ("acme",)),
    "recent usage": (shared("jobs", "postgres")["recent_usage"], ("acme", None, None, "0", 0)),
    "marks": (load("upkeep")["marks"], ("acme", "consent:u77:", None, None)),
    "one mark": (load("upkeep")["marks"], ("acme", "consent:u77:diet", None, 1)),
}


_TOGETHER = 10_000
"""Marks in one statement."""


async def blocks(dsn: str) -> dict[str, int]:
    """Blocks that each statement reads, with the settings of the store."""
    settings = dict(session_settings(60, {"search_path": "mnemic, public"}))
    connection = await asyncpg.connect(dsn, server_settings=settings)
    try:
        async with connection.transaction():
            await connection.fetch(load("session")["name_tenant"], "acme", "60000")
            found = {}
            for name, (statement, values) in _STATEMENTS.items():
                given = await connection.fetchval(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", *values)
                plan = json.loads(given)[0]["Plan"]
                found[name] = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
            return found
    finally:
        await connection.close()


def fill(server: PostgresServer, before: int, users: int) -> None:
    """Let the tenant have so many users, with a memory and a mark each."""
    server.sql(*(one.format(first=before + 1, last=users) for one in _FILLED))
    for first in range(before + 1, users + 1, _TOGETHER):
        marks = _marks(first, min(users, first + _TOGETHER - 1))
        rows = ", ".join(f"('acme', '{name}', 'granted', {check})" for name, check in marks)
        server.sql(f"INSERT INTO mnemic.mark (tenant, name, value, checksum) VALUES {rows}")
    for table in ("scope", "usage", "mark", "usage_lane"):
        server.sql(f"VACUUM ANALYZE mnemic.{table}")


def _marks(first: int, last: int) -> Iterator[tuple[str, int]]:
    """Yield the name and the checksum of a consent of each of these users."""
    for number in range(first, last + 1):
        name = f"consent:u{number}:diet"
        yield name, text_check(name, "granted")


async def milliseconds(store: RecordStore) -> dict[str, float]:
    """The median time of each call of the store, of eleven."""
    since = SystemClock().now()
    calls = {
        "usage": lambda: store.usage("acme", since=since),
        "marks": lambda: store.marks("acme", "consent:u77:"),
        "one mark": lambda: store.marks("acme", "consent:u77:diet", limit=1),
    }
    found = {}
    for name, call in calls.items():
        times = []
        for _ in range(11):
            began = time.perf_counter()
            await call()
            times.append(1000 * (time.perf_counter() - began))
        found[name] = round(median(times), 2)
    return found


async def measured(server: PostgresServer, folder: Path, sizes: list[int]) -> list[dict[str, Any]]:
    """The costs at each number of users."""
    store = PostgresStore(server.database(folder))
    await store.open(EMBEDDER.space)
    rows, before = [], 0
    for users in sizes:
        await asyncio.to_thread(fill, server, before, users)
        before = users
        await blocks(server.dsn())
        rows.append({"users": users, "blocks": await blocks(server.dsn()), "ms": await milliseconds(store)})
    await store.close()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,100000,1000000")
    given = parser.parse_args()
    sizes = sorted(int(size) for size in given.sizes.split(","))
    with running(PostgresServer("fsync=off")) as server, TemporaryDirectory() as folder:
        for row in asyncio.run(measured(server, Path(folder), sizes)):
            print(json.dumps(row))


if __name__ == "__main__":
    main()
