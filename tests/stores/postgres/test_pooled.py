"""A store behind a pooler: changes that it may make to a connection, and the refusals that follow."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from mnemic.errors import InvalidConfig
from mnemic.stores.postgres import PostgresStore
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.types import Where
from tests.servers import PostgresServer

SOCKET = ".s.PGSQL.5432"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Folder of the pooler's socket."""
    (tmp_path / "pooler").mkdir()
    return tmp_path / "pooler"


@asynccontextmanager
async def pooler(dsn: str, folder: Path, *, keeps_role: bool) -> AsyncIterator[str]:
    """A test double of a pooler in `folder`: bytes pass through, but the role that a connection requests only if it
    keeps roles.
    """
    server = Path(parse_qs(urlsplit(dsn).query)["host"][0]) / SOCKET

    async def passed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        (size,) = struct.unpack("!I", await reader.readexactly(4))
        body = await reader.readexactly(size - 4)
        if not keeps_role:
            body = body.replace(b"role\0mnemic_app\0", b"")
        answers, upstream = await asyncio.open_unix_connection(server)
        upstream.write(struct.pack("!I", len(body) + 4) + body)
        await asyncio.gather(passed(reader, upstream), passed(answers, writer))

    async with await asyncio.start_unix_server(served, folder / SOCKET):
        yield f"postgresql://postgres@/postgres?host={folder}"


@pytest.mark.parametrize("keeps_role", [True, False])
async def test_without_row_level_security_nothing_is_read_or_written(
    postgres: PostgresServer, tmp_path: Path, folder: Path, keeps_role: bool
) -> None:
    dsn = postgres.database(tmp_path)
    owner = PostgresStore(dsn)
    await owner.open(EMBEDDER.space)
    await remember(owner, memory("tea"))
    await owner.close()
    async with pooler(dsn, folder, keeps_role=keeps_role) as address:
        store = PostgresStore(address, owner_dsn=dsn)
        if not keeps_role:
            with pytest.raises(InvalidConfig) as refused:
                await store.open(EMBEDDER.space)
            assert refused.value.reason == "invalid_config:postgres_role"
            return
        await store.open(EMBEDDER.space)
        assert await store.count(Where(scopes=(scope(),))) == 1
        await store.close()


async def test_a_connection_that_loses_its_role_is_refused_later_too(postgres: PostgresServer, tmp_path: Path) -> None:
    dsn = postgres.database(tmp_path)
    store = PostgresStore(dsn, pool_size=1)
    await store.open(EMBEDDER.space)
    await remember(store, memory("tea"))

    async def reset(session: object) -> None:
        await session.execute("RESET ROLE")  # type: ignore[attr-defined]

    opened = store._ready.connections
    await opened._thread.run(opened._run("", reset, opened._limit_seconds(None)))
    await opened._thread.run(
        opened._run("", lambda session: session.execute("SET ROLE postgres"), opened._limit_seconds(None))
    )
    for call in (store.count(Where(scopes=(scope(),))), remember(store, memory("coffee"))):
        with pytest.raises(InvalidConfig):
            await call
    await store.close()


async def test_tenants_whose_scopes_have_the_same_number_are_kept_apart(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    """Numbers as scopes of two servers that were merged may have them."""
    store = PostgresStore(postgres.database(tmp_path))
    await store.open(EMBEDDER.space)
    postgres.sql(
        "INSERT INTO mnemic.scope (tenant, level, owner, scope_id) OVERRIDING SYSTEM VALUE "
        "VALUES ('acme', 'user', 'ada', 7), ('rival', 'user', 'ada', 7)"
    )
    kept = {tenant: memory(f"tea of {tenant}", scope=scope(tenant=tenant)) for tenant in ("acme", "rival")}
    await remember(store, *kept.values())
    for _ in range(2):
        for tenant, one in kept.items():
            found = await store.match(Where(scopes=(scope(tenant=tenant),)), "tea", limit=9)
            assert [entry.memory_id for entry in found] == [one.memory_id]
            near = await store.nearest(Where(scopes=(scope(tenant=tenant),)), EMBEDDER.vector("tea"), limit=9)
            assert [entry.memory_id for entry in near] == [one.memory_id]
    await store.wait_until_moved()
    await store.close()
