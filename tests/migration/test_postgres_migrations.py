"""A database is brought up to date once, whoever comes first, and one that is newer or not ours is not touched."""

from __future__ import annotations

import asyncio
from pathlib import Path

import asyncpg
import pytest

from mnemic.errors import StoreCorrupt, StoreNewer, StoreOlder, StoreUnavailable
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.postgres.schema import migrations
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.types import Where
from tests.servers import PostgresServer

RELATIONS = "SELECT relname, relkind::text FROM pg_class WHERE relnamespace = to_regnamespace('mnemic') ORDER BY 1"


async def opened(dsn: str) -> None:
    store = PostgresStore(dsn)
    await store.open(EMBEDDER.space)
    await remember(store, memory("tea"))
    await store.close()


async def test_many_first_openers_migrate_once(postgres: PostgresServer, tmp_path: Path) -> None:
    dsn = postgres.database(tmp_path)
    await asyncio.gather(*(opened(dsn) for _ in range(8)))
    versions = [row["version"] for row in postgres.sql("SELECT version FROM mnemic.schema_version ORDER BY 1")]
    assert versions == [step.number for step in migrations()]
    store = PostgresStore(dsn)
    await store.open(EMBEDDER.space)
    assert await store.count(Where(scopes=(scope(),))) == 8
    await store.close()


async def test_a_newer_database_is_refused_and_not_touched(postgres: PostgresServer, tmp_path: Path) -> None:
    dsn = postgres.database(tmp_path)
    await opened(dsn)
    postgres.sql(f"INSERT INTO mnemic.schema_version (version) VALUES ({migrations()[-1].number + 1})")
    before = postgres.sql(RELATIONS)
    with pytest.raises(StoreNewer) as refused:
        await PostgresStore(dsn).open(EMBEDDER.space)
    assert refused.value.reason == "store_newer"
    assert postgres.sql(RELATIONS) == before


async def test_database_older_than_the_first_release_is_refused_and_not_touched(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    dsn = postgres.database(tmp_path)
    await opened(dsn)
    postgres.sql(f"UPDATE mnemic.schema_version SET version = {migrations()[0].number - 1}")
    before = postgres.sql(RELATIONS)
    with pytest.raises(StoreOlder, match="mnemic import --own") as refused:
        await PostgresStore(dsn).open(EMBEDDER.space)
    assert refused.value.reason == "store_older"
    assert postgres.sql(RELATIONS) == before


async def test_a_schema_of_another_program_is_refused_and_not_touched(postgres: PostgresServer, tmp_path: Path) -> None:
    dsn = postgres.database(tmp_path)
    postgres.sql("CREATE SCHEMA mnemic", "CREATE TABLE mnemic.memory (theirs text)")
    before = postgres.sql(RELATIONS)
    with pytest.raises(StoreCorrupt, match="not_mnemic"):
        await PostgresStore(dsn).open(EMBEDDER.space)
    assert postgres.sql(RELATIONS) == before


async def test_a_database_that_is_not_there_is_unavailable(postgres: PostgresServer) -> None:
    with pytest.raises(StoreUnavailable) as missing:
        await PostgresStore(postgres.dsn("nowhere")).open(EMBEDDER.space)
    assert "nowhere" not in str(missing.value)
    with pytest.raises(StoreUnavailable):
        await PostgresStore("postgresql://postgres@/x?host=/nonexistent").open(EMBEDDER.space)


async def test_an_open_database_that_a_newer_version_migrates_is_written_no_more(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    dsn = postgres.database(tmp_path)
    store = PostgresStore(dsn)
    await store.open(EMBEDDER.space)
    tea = memory("tea")
    await remember(store, tea)
    connection = await asyncpg.connect(dsn)
    await connection.execute("INSERT INTO mnemic.schema_version (version) VALUES ($1)", migrations()[-1].number + 1)
    with pytest.raises(StoreNewer):
        await remember(store, memory("coffee"))
    with pytest.raises(StoreNewer):
        await store.transact(lambda transaction: transaction.remove(tea.memory_id, scope=tea.scope))
    assert await store.newest(Where(scopes=(scope(),)), limit=9) == [tea]
    await connection.execute("DELETE FROM mnemic.schema_version WHERE version = $1", migrations()[-1].number + 1)
    await remember(store, memory("coffee"))
    await connection.close()
    await store.close()


async def test_writers_wait_for_a_migration_and_look_again(postgres: PostgresServer, tmp_path: Path) -> None:
    dsn = postgres.database(tmp_path)
    store = PostgresStore(dsn)
    await store.open(EMBEDDER.space)
    connection = await asyncpg.connect(dsn)
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", 0x6D6E656D6963)
        await connection.execute("INSERT INTO mnemic.schema_version (version) VALUES (9999)")
        writing = asyncio.create_task(remember(store, memory("coffee")))
        waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        while not await connection.fetchval(waiting):
            assert not writing.done()
    with pytest.raises(StoreNewer):
        await writing
    await connection.close()
    await store.close()
