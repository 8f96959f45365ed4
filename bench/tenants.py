"""What one tenant's usage and marks cost as its users grow: blocks that PostgreSQL reads, and milliseconds.

Rows are filled in directly, on a private server: `python -m bench.tenants --sizes 1000,1000000`; with `--file`
in a file of SQLite, milliseconds alone. With `--writes 25` instead:
writes a second of 16 users of one tenant and of 16 tenants, each for 25 seconds, a second of either in turn; on
PostgreSQL a commit waits for 20 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from typing import Any

import apsw
import asyncpg

from mnemic.bootstrap import build_store
from mnemic.engine import MemoryEngine
from mnemic.ports import RecordStore
from mnemic.runtime.clock import SystemClock
from mnemic.stores.codec import text_check
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.postgres.pool import session_settings
from mnemic.stores.postgres.statements import load
from mnemic.stores.relational.statements import load as shared
from mnemic.testing.record_store import EMBEDDER
from mnemic.types import Actor, Candidate, Kind, VectorSpace
from mnemic_eval.texts import statements
from mnemic_eval.vectors import HashedEmbedder
from tests.processes import running
from tests.servers import PostgresServer

SPACE = VectorSpace(model="all-MiniLM-L6-v2-int8", dimension=384)
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


async def in_a_file(folder: Path, sizes: list[int]) -> None:
    """Print the same milliseconds of SQLite at each number of users."""
    path, before = folder / "memories.db", 0
    for users in sizes:
        store = build_store(str(path), durability="durable")
        await store.open(EMBEDDER.space)
        await store.close()
        connection, numbers = apsw.Connection(str(path)), range(before, users)
        with connection:
            connection.executemany(
                "INSERT INTO scope (tenant, level, owner) VALUES ('acme', 'user', ?)", ((f"u{n}",) for n in numbers)
            )
            connection.execute(
                "INSERT INTO usage SELECT tenant, scope_id, 'long_term', 1, 100 FROM scope "
                "WHERE scope_id NOT IN (SELECT scope_id FROM usage)"
            )
            connection.executemany(
                "INSERT INTO mark (tenant, name, value, checksum) VALUES ('acme', ?, 'granted', ?)",
                _marks(before, users - 1),
            )
        connection.close()
        before = users
        store = build_store(str(path), durability="durable")
        await store.open(EMBEDDER.space)
        print(json.dumps({"store": "sqlite", "users": users, "ms": await milliseconds(store)}), flush=True)
        await store.close()


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


async def rate(engine: MemoryEngine, actors: list[Actor], seconds: float, name: str) -> tuple[float, float]:
    """Writes a second of so many users at once, and milliseconds of this process for each."""
    began, own, made = time.perf_counter(), time.process_time(), 0

    async def write(actor: Actor) -> None:
        nonlocal made
        said = statements(hash_of(actor, name))
        while time.perf_counter() - began < seconds:
            await engine.add(Candidate(content=f"{next(said)} ({name} {made})", kind=Kind.EPISODIC), actor=actor)
            made += 1

    await asyncio.gather(*map(write, actors))
    return made / (time.perf_counter() - began), 1000 * (time.process_time() - own) / made


def hash_of(actor: Actor, name: str) -> int:
    """A seed for what a user says."""
    return zlib.crc32(f"{actor.tenant} {actor.user} {name}".encode())


async def rates(location: str, seconds: float) -> dict[str, Any]:
    """Both rates, a second each in turn, so that what else the machine does meets both alike."""
    one = [Actor(tenant="acme", user=f"u{number}") for number in range(16)]
    many = [Actor(tenant=f"t{number}", user="ana") for number in range(16)]
    store = build_store(location, durability="durable")
    found: dict[str, list[tuple[float, float]]] = {"one tenant": [], "sixteen": []}
    async with MemoryEngine(store=store, embedder=HashedEmbedder(SPACE)) as engine:
        await rate(engine, one + many, 3.0, "warm")
        for turn in range(round(seconds)):
            found["one tenant"].append(await rate(engine, one, 1.0, f"one{turn}"))
            found["sixteen"].append(await rate(engine, many, 1.0, f"many{turn}"))
    means = {name: round(mean(row[0] for row in rows), 1) for name, rows in found.items()}
    return means | {
        "quotient": round(means["one tenant"] / means["sixteen"], 2),
        "process_ms": {name: round(mean(row[1] for row in rows), 1) for name, rows in found.items()},
        "load": round(os.getloadavg()[0], 1),
    }


def compare(seconds: float) -> None:
    """Print both rates on PostgreSQL and on SQLite."""
    with running(PostgresServer("commit_delay=20000", "commit_siblings=0")) as server, TemporaryDirectory() as folder:
        print(
            json.dumps({"store": "postgres"} | asyncio.run(rates(server.database(Path(folder)), seconds))), flush=True
        )
        print(json.dumps({"store": "sqlite"} | asyncio.run(rates(f"{folder}/memories.db", seconds))), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,100000,1000000")
    parser.add_argument("--writes", type=float)
    parser.add_argument("--file", action="store_true")
    given = parser.parse_args()
    if given.writes:
        compare(given.writes)
        return
    sizes = sorted(int(size) for size in given.sizes.split(","))
    if given.file:
        with TemporaryDirectory() as folder:
            asyncio.run(in_a_file(Path(folder), sizes))
        return
    with running(PostgresServer("fsync=off")) as server, TemporaryDirectory() as folder:
        for row in asyncio.run(measured(server, Path(folder), sizes)):
            print(json.dumps(row))


if __name__ == "__main__":
    main()
