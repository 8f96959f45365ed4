"""A store on connections that lose their role, or whose server has merged two others."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic.errors import InvalidConfig
from mnemic.stores.postgres import PostgresStore
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.types import Where
from tests.servers import PostgresServer


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
