"""An index on PostgreSQL that lacks an entry: the row is not found, and `doctor` names the index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemic.stores.postgres import PostgresStore
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.testing.record_store.fixtures import everything
from tests.servers import PostgresServer

NAMED = "(SELECT indexrelid FROM pg_index WHERE indexrelid = 'mnemic.memory_by_age'::regclass)"


@pytest.fixture
def dsn(postgres: PostgresServer, tmp_path: Path) -> Iterator[str]:
    yield postgres.database(tmp_path)
    postgres.sql("DROP EXTENSION IF EXISTS amcheck")


async def opened(dsn: str) -> PostgresStore:
    store = PostgresStore(dsn)
    await store.open(EMBEDDER.space)
    return store


async def test_an_index_that_lacks_an_entry_is_named_until_it_is_made_again(postgres: PostgresServer, dsn: str) -> None:
    store = await opened(dsn)
    await remember(store, memory("tea"))
    await store.close()
    # Rows written while an index counts as not ready have no entry in it.
    postgres.sql(f"UPDATE pg_index SET indisready = false WHERE indexrelid = {NAMED}")
    store = await opened(dsn)
    lost = memory("coffee")
    await remember(store, lost)
    postgres.sql(f"UPDATE pg_index SET indisready = true WHERE indexrelid = {NAMED}")
    tenant = scope().tenant
    assert await store.find_damage(tenant) == []  # without the extension nothing was checked
    postgres.sql("CREATE EXTENSION amcheck")
    assert await store.find_damage(tenant) == [("index", "memory_by_age")]
    postgres.sql("REINDEX INDEX mnemic.memory_by_age")
    assert await store.find_damage(tenant) == []
    assert lost.memory_id in {one.memory_id for one in await store.newest(everything(), limit=9)}
    await store.close()


async def test_who_may_not_ask_the_extension_is_told_of_rows_alone(postgres: PostgresServer, dsn: str) -> None:
    store = await opened(dsn)
    await remember(store, memory("tea"))
    await store.close()
    postgres.sql("CREATE EXTENSION amcheck", "CREATE ROLE an_app LOGIN IN ROLE mnemic_app")
    try:
        store = await opened(dsn.replace("//postgres@", "//an_app@"))
        assert await store.find_damage(scope().tenant) == []
        await store.close()
    finally:
        postgres.sql("DROP OWNED BY an_app", "DROP ROLE an_app")
