"""A tenant moves to another server by the statements of docs/postgres-router.md, while it is written to."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from textwrap import dedent

from mnemic.errors import StoreUnavailable
from mnemic.ports import Transaction
from mnemic.stores.postgres import PostgresStore
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.testing.record_store.fixtures import START
from mnemic.types import AuditEvent, Where
from tests.routed import DATABASE, RoutedServers

PAGE = Path(__file__).parents[3] / "docs" / "postgres-router.md"
BLOCK = re.compile(r" +```sql\n +-- (leave|enter): (\w+)\n(.*?)```", re.DOTALL)
LEFT, REACHED = 0, 2
COUNTED = ("memory", "memory_version", "scope", "usage", "mark", "request", "tenant")


class Writer:
    """Writes memories of two users, each with its line in the audit, and records acknowledged writes."""

    def __init__(self, store: PostgresStore) -> None:
        self.store = store
        self.acknowledged: list[str] = []
        self.refused = 0

    async def write(self, number: int) -> None:
        """Write one."""
        one = memory(f"note {number}", scope=scope(("ada", "bob")[number % 2]))

        async def work(transaction: Transaction) -> None:
            await transaction.insert(one)
            line = AuditEvent(
                tenant="acme", action="created", at=START, actor="ada", scope=one.scope, memory_id=one.memory_id
            )
            await transaction.append_audit(line)

        try:
            await self.store.transact(work)
        except StoreUnavailable:
            self.refused += 1
        else:
            self.acknowledged.append(one.memory_id)

    async def go_on(self, stop: asyncio.Event) -> None:
        """Write until `stop` is set."""
        number = 0
        while not stop.is_set():
            await self.write(number)
            number += 1


async def until(servers: RoutedServers, number: int, statement: str, value: object) -> None:
    """Return once the statement returns true."""
    async with asyncio.timeout(120):
        while (await asyncio.to_thread(servers.sql, number, statement))[0][0] != value:
            pass


async def test_a_tenant_is_moved_while_it_is_written_to(routed_servers: RoutedServers, tmp_path: Path) -> None:
    servers = routed_servers
    store = servers.store(tmp_path, pool_size=3)
    servers.router.homes |= {"acme": LEFT, "rival": REACHED}
    await store.open(EMBEDDER.space)
    await store.secret("acme")
    await remember(store, *(memory(f"theirs {number}", scope=scope(tenant="rival")) for number in range(9)))
    from_there = f"host={servers.servers[LEFT].folder} dbname={DATABASE} user=postgres"
    text = PAGE.read_text().replace("host=pg1 dbname=memories user=postgres", from_there)
    steps = {name: (LEFT if side == "leave" else REACHED, dedent(sql)) for side, name, sql in BLOCK.findall(text)}
    assert list(steps) == ["publish", "subscribe", "copied", "fence", "arrived", "unsubscribe", "clear"]

    async def run(name: str) -> None:
        await asyncio.to_thread(servers.sql, *steps[name])

    writer, stop = Writer(store), asyncio.Event()
    writing = asyncio.create_task(writer.go_on(stop))
    await run("publish")
    await run("subscribe")
    await until(servers, *steps["copied"], 0)
    await run("fence")
    await until(servers, *steps["arrived"], True)
    refused = writer.refused
    async with asyncio.timeout(60):
        while writer.refused == refused:
            assert await store.count(Where(scopes=(scope(),))) > 0
    await run("unsubscribe")
    for table in COUNTED:
        counted = f"SELECT count(*) FROM mnemic.{table} WHERE tenant = 'acme'"
        assert servers.sql(LEFT, counted) == servers.sql(REACHED, counted)
    servers.router.homes["acme"] = REACHED
    written = len(writer.acknowledged)
    async with asyncio.timeout(60):
        while len(writer.acknowledged) < written + 5:
            await store.count(Where(scopes=(scope(),)))
    stop.set()
    await writing
    await run("clear")

    users = tuple(scope(owner) for owner in ("ada", "bob", "new"))
    await remember(store, memory("of a user who is new here", scope=users[2]))
    found = await store.newest(Where(scopes=users), limit=10_000)
    assert {one.memory_id for one in found if one.scope != users[2]} == set(writer.acknowledged)
    assert len(found) == len(writer.acknowledged) + 1
    lines = await store.audit("acme", limit=10_000)
    assert [line.memory_id for line in lines] == writer.acknowledged
    assert await store.broken_audit("acme") == (len(lines), None, lines[-1].hash)
    assert servers.sql(LEFT, "SELECT count(*) FROM mnemic.memory") == [(0,)]
    assert await store.count(Where(scopes=(scope(tenant="rival"),))) == 9
    other = servers.store(tmp_path)
    await other.open(EMBEDDER.space)
    assert len(await other.newest(Where(scopes=users), limit=10_000)) == len(found)
    await asyncio.gather(store.close(), other.close())
