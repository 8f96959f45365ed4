"""A store behind a router: operations that could fail silently are refused, or correct."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from mnemic.bootstrap import build_store
from mnemic.bootstrap.stores import build_documents
from mnemic.errors import InvalidConfig, MnemicError, NotSupported, StoreNewer, StoreUnavailable
from mnemic.maintenance.tenant_registry import SERVICE_TENANT, Tenants
from mnemic.operations.store_operations import backup_store
from mnemic.ports import Snapshot, Transaction
from mnemic.runtime.clock import SystemClock
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.postgres.routing import ANNOUNCEMENTS, Route, quoted
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.types import OutboxEntry, VectorSpace, Where
from tests.routed import SERVERS, RoutedServers
from tests.router_double import ANNOUNCEMENT

TENANTS = ("acme", "rival", "third")
"""One on each server."""
SALT = "UPDATE mnemic.salt SET value = '\\x00112233445566778899aabbccddeeff'"


@pytest.fixture
def servers(routed_servers: RoutedServers, tmp_path: Path) -> RoutedServers:
    """Three servers without memories, one tenant on each."""
    routed_servers.database(tmp_path)
    routed_servers.router.homes |= {tenant: number for number, tenant in enumerate(TENANTS)}
    return routed_servers


@pytest_asyncio.fixture
async def store(servers: RoutedServers, tmp_path: Path) -> AsyncIterator[PostgresStore]:
    store = servers.store(tmp_path, pool_size=1)
    await store.open(EMBEDDER.space)
    yield store
    await store.close()


async def enqueue(store: PostgresStore, tenant: str) -> None:
    async def work(transaction: Transaction) -> None:
        await transaction.enqueue(OutboxEntry.of(memory("tea", scope=scope(tenant=tenant))))

    await store.transact(work)


async def test_one_connection_serves_tenants_of_servers_that_number_the_vector_type_differently(
    store: PostgresStore, servers: RoutedServers
) -> None:
    numbers = [servers.sql(number, "SELECT 'vector'::regtype::oid::bigint") for number in range(SERVERS)]
    assert len({number for ((number,),) in numbers}) == SERVERS
    kept = {tenant: memory(f"tea of {tenant}", scope=scope(tenant=tenant)) for tenant in TENANTS}
    for tenant, one in kept.items():
        await remember(store, one)
        assert await store.get(one.memory_id, scopes=[one.scope]) == one
        assert await store.find_fingerprint(one.scope, "none") is None
        near = await store.nearest(Where(scopes=(one.scope,)), EMBEDDER.vector("tea"), limit=9)
        assert [entry.memory_id for entry in near] == [one.memory_id]
        assert servers.sql(servers.router.home(tenant), "SELECT tenant FROM mnemic.scope") == [(tenant,)]
    assert servers.router.refused == []


async def test_scopes_of_the_same_number_on_two_servers_are_told_apart(
    store: PostgresStore, servers: RoutedServers
) -> None:
    for number, tenant in enumerate(TENANTS):
        servers.sql(
            number,
            "INSERT INTO mnemic.scope (tenant, level, owner, scope_id) OVERRIDING SYSTEM VALUE "
            f"VALUES ('{tenant}', 'user', 'ada', 7)",
        )
    kept = {tenant: memory(f"tea of {tenant}", scope=scope(tenant=tenant)) for tenant in TENANTS}
    await remember(store, *kept.values())
    for _ in range(2):
        for one in kept.values():
            found = await store.match(Where(scopes=(one.scope,)), "tea", limit=9)
            assert [entry.memory_id for entry in found] == [one.memory_id]
        await store.settled()


async def test_an_act_on_a_tenant_stands_in_its_own_audit(store: PostgresStore, servers: RoutedServers) -> None:
    """The marks of the registry are on another server than the tenant's audit."""
    servers.router.homes[SERVICE_TENANT] = 2
    tenants = Tenants(store, SystemClock())
    await tenants.create("acme", by="ops")
    await tenants.suspend("acme", by="ops")
    assert [line.action for line in await store.audit("acme")] == ["tenant_created", "tenant_suspended"]
    assert await store.audit(SERVICE_TENANT) == []
    assert (await store.broken_audit("acme"))[:2] == (2, None)
    known = await tenants.find("acme")
    assert known is not None
    assert known.suspended_at is not None
    assert (SERVICE_TENANT, "tenant:acme") in servers.sql(2, "SELECT tenant, name FROM mnemic.mark")
    assert servers.sql(0, "SELECT tenant, name FROM mnemic.mark") == []


async def test_an_act_that_was_cut_short_is_not_in_force_and_is_done_again(
    store: PostgresStore, servers: RoutedServers
) -> None:
    servers.router.homes[SERVICE_TENANT] = 2
    tenants = Tenants(store, SystemClock())
    await tenants.create("acme", by="ops")
    servers.sql(2, "REVOKE INSERT, UPDATE ON mnemic.mark FROM mnemic_app")
    with pytest.raises(MnemicError):
        await tenants.suspend("acme", by="ops")
    known = await tenants.find("acme")
    assert known is not None
    assert known.suspended_at is None
    servers.sql(2, "GRANT INSERT, UPDATE ON mnemic.mark TO mnemic_app")
    assert (await tenants.suspend("acme", by="ops")).suspended_at is not None
    actions = [line.action for line in await store.audit("acme")]
    assert actions == ["tenant_created", "tenant_suspended", "tenant_suspended"]


async def test_outboxes_are_drained_server_by_server(store: PostgresStore, servers: RoutedServers) -> None:
    for tenant in (*TENANTS, *TENANTS):
        await enqueue(store, tenant)
    entries = await store.pending()
    assert [entry.scope.tenant for entry in entries] == [*TENANTS, *TENANTS]
    assert len({entry.sequence for entry in entries}) == 6
    assert [entry.scope.tenant for entry in await store.pending(limit=2)] == list(TENANTS[:2])
    await store.acknowledge([entries[1].sequence])
    assert [entry for entry in await store.pending() if entry.scope.tenant == "rival"] == [entries[4]]
    assert len(await store.pending()) == 5
    await store.register("copy")
    assert await store.projections() == {"copy": 5}
    await store.acknowledge([entry.sequence for entry in entries], projection="copy")
    assert await store.pending() == []
    await store.unregister("copy")
    assert [servers.sql(number, "SELECT name FROM mnemic.projection") for number in range(SERVERS)] == [[], [], []]


async def test_servers_that_were_set_up_apart_are_refused(servers: RoutedServers, tmp_path: Path) -> None:
    store = servers.store(tmp_path)
    await store.open(EMBEDDER.space)
    await store.close()
    other = VectorSpace(model="another", dimension=EMBEDDER.space.dimension)
    spoilt = {
        SALT: "invalid_config:postgres_servers",
        "UPDATE mnemic.space SET model = 'another'": "invalid_config:postgres_servers",
        "INSERT INTO mnemic.schema_version (version) VALUES (9999)": "store_newer",
        "ALTER TABLE mnemic.mark NO FORCE ROW LEVEL SECURITY": "invalid_config:postgres_role",
        "ALTER ROLE mnemic_app BYPASSRLS": "invalid_config:postgres_role",
        "ALTER SEQUENCE mnemic.outbox_sequence_seq INCREMENT BY 1024 START WITH 1": "invalid_config:postgres_servers",
    }
    mended = (
        "UPDATE mnemic.salt SET value = (SELECT value FROM kept_salt)",
        f"UPDATE mnemic.space SET model = '{EMBEDDER.space.model}'",
        "DELETE FROM mnemic.schema_version WHERE version = 9999",
        "ALTER TABLE mnemic.mark FORCE ROW LEVEL SECURITY",
        "ALTER ROLE mnemic_app NOBYPASSRLS",
        "ALTER SEQUENCE mnemic.outbox_sequence_seq START WITH 3",
    )
    servers.sql(2, "CREATE TABLE kept_salt AS SELECT value FROM mnemic.salt")
    for (spoil, reason), mend in zip(spoilt.items(), mended, strict=True):
        servers.sql(2, spoil)
        for space in (EMBEDDER.space, None):
            store = servers.store(tmp_path)
            with pytest.raises(MnemicError) as refused:
                await store.open(space)
            assert refused.value.reason == reason
        servers.sql(2, mend)
    store = servers.store(tmp_path)
    await store.open(EMBEDDER.space)
    with pytest.raises(MnemicError):
        await store.open(other)
    await store.close()
    servers.sql(2, "DROP TABLE kept_salt")


async def test_a_server_that_was_not_there_at_opening_is_refused_by_each_transaction(
    store: PostgresStore, servers: RoutedServers
) -> None:
    kept = memory("tea", scope=scope(tenant="third"))
    await remember(store, kept)
    servers.sql(2, "CREATE TABLE kept_salt AS SELECT value FROM mnemic.salt", SALT)
    try:
        for call in (store.get(kept.memory_id, scopes=[kept.scope]), remember(store, memory("b", scope=kept.scope))):
            with pytest.raises(InvalidConfig) as refused:
                await call
            assert refused.value.reason == "invalid_config:postgres_servers"
        await remember(store, memory("tea"))
    finally:
        servers.sql(2, "UPDATE mnemic.salt SET value = (SELECT value FROM kept_salt)", "DROP TABLE kept_salt")
    servers.sql(2, "INSERT INTO mnemic.schema_version (version) VALUES (9999)")
    with pytest.raises(StoreNewer):
        await remember(store, memory("c", scope=kept.scope))
    assert await store.get(kept.memory_id, scopes=[kept.scope]) == kept
    servers.sql(2, "DELETE FROM mnemic.schema_version WHERE version = 9999")


async def test_a_login_that_may_not_be_the_role_is_refused(
    store: PostgresStore, servers: RoutedServers, tmp_path: Path
) -> None:
    for server in servers.servers:
        server.sql("DROP ROLE IF EXISTS stranger", "CREATE ROLE stranger LOGIN")
    stranger = PostgresStore(
        servers.router.dsn(servers.database(tmp_path), "stranger"), router=ANNOUNCEMENT, servers=servers.dsns()
    )
    await stranger.open(EMBEDDER.space)
    for call in (stranger.count(Where(scopes=(scope(),))), remember(stranger, memory("tea"))):
        with pytest.raises(InvalidConfig) as refused:
            await call
        assert (refused.value.reason, "GRANT" in str(refused.value)) == ("invalid_config:postgres_role", True)
    await stranger.close()
    for server in servers.servers:
        server.sql("GRANT mnemic_app TO stranger")
    await stranger.open(EMBEDDER.space)
    await remember(stranger, memory("tea"))
    assert await store.count(Where(scopes=(scope(),))) == 1
    await stranger.close()


@pytest.mark.parametrize("code", ["08006", "58000", "XX000"])
async def test_a_server_that_a_router_does_not_reach_is_unavailable_whatever_the_router_calls_it(
    store: PostgresStore, servers: RoutedServers, code: str
) -> None:
    servers.router.homes["acme"] = -SERVERS - 1
    servers.router.away = code
    try:
        for call in (store.count(Where(scopes=(scope(),))), remember(store, memory("tea")), store.marks("acme", "")):
            with pytest.raises(StoreUnavailable):
                await call
    finally:
        servers.router.away = "08006"
    await remember(store, memory("tea", scope=scope(tenant="rival")))
    assert servers.router.refused == []


async def test_a_read_of_which_a_statement_fails_goes_on_without_a_savepoint(
    store: PostgresStore, servers: RoutedServers
) -> None:
    await remember(store, memory("tea"))

    async def work(snapshot: Snapshot) -> int:
        assert await snapshot.count(Where(scopes=(scope(),))) == 1
        servers.sql(0, "REVOKE SELECT ON mnemic.memory_version FROM mnemic_app")
        with pytest.raises(StoreUnavailable):
            await snapshot.newest(Where(scopes=(scope(),)), limit=9)
        servers.sql(0, "GRANT SELECT ON mnemic.memory_version TO mnemic_app")
        return await snapshot.count(Where(scopes=(scope(),)))

    assert await store.read(work) == 1
    assert servers.router.refused == []


async def test_a_scope_that_outgrows_the_exact_search_moves_into_the_index(
    servers: RoutedServers, tmp_path: Path
) -> None:
    store = servers.store(tmp_path, exact_up_to=20, index_bytes=0)
    await store.open(EMBEDDER.space)
    kept = [memory(f"tea {number}", scope=scope(tenant="rival")) for number in range(40)]
    await remember(store, *kept)
    where = Where(scopes=(kept[0].scope,))
    for _ in range(2):
        assert len(await store.nearest(where, EMBEDDER.vector("tea"), limit=40)) == 40
        assert len(await store.match(where, "tea", limit=40)) == 40
        await store.settled()
    assert servers.sql(1, "SELECT count(*) FROM mnemic.memory WHERE large") == [(40,)]
    await store.close()


async def test_a_killed_server_takes_its_tenants_along_and_no_others(
    store: PostgresStore, servers: RoutedServers
) -> None:
    kept = [memory(f"before {number}", scope=scope(tenant=tenant)) for number in range(3) for tenant in TENANTS]
    await remember(store, *kept)
    servers.servers[1].kill()
    try:
        for number in range(5):
            for tenant in ("acme", "third"):
                kept.append(memory(f"meanwhile {number}", scope=scope(tenant=tenant)))
                await remember(store, kept[-1])
                assert await store.get(kept[-1].memory_id, scopes=[kept[-1].scope]) == kept[-1]
            for call in (
                remember(store, memory("lost", scope=scope(tenant="rival"))),
                store.count(Where(scopes=(scope(tenant="rival"),))),
                store.marks("rival", ""),
            ):
                with pytest.raises(StoreUnavailable):
                    await call
        for tenant in ("acme", "third"):
            await enqueue(store, tenant)
        assert [entry.scope.tenant for entry in await store.pending()] == ["acme", "third"]
        assert store.capabilities.degraded == {"server"}
        await store.acknowledge([entry.sequence for entry in await store.pending()])
        assert await store.projections() == {}
    finally:
        servers.servers[1].start()
    for tenant in TENANTS:
        found = await store.newest(Where(scopes=(scope(tenant=tenant),)), limit=99)
        assert {one.memory_id for one in found} == {one.memory_id for one in kept if one.scope.tenant == tenant}
        assert (await store.broken_audit(tenant))[1] is None
    await remember(store, memory("afterwards", scope=scope(tenant="rival")))
    assert servers.router.refused == []


async def test_a_server_is_added_with_the_salt_of_the_others(servers: RoutedServers, tmp_path: Path) -> None:
    servers.router.homes["third"] = 1
    name, first = servers.database(tmp_path), servers.dsns()[:2]
    for number in range(SERVERS):
        servers.sql(number, "DROP SCHEMA IF EXISTS mnemic CASCADE")
    store = PostgresStore(servers.router.dsn(name), router=ANNOUNCEMENT, servers=first)
    await store.open(EMBEDDER.space)
    kept = memory("tea")
    await remember(store, kept)
    await store.register("copy")
    await store.close()
    servers.router.homes["third"] = 2
    store = PostgresStore(servers.router.dsn(name), router=ANNOUNCEMENT, servers=[servers.dsns()[2], *first])
    await store.open(None)
    added = memory("coffee", scope=scope(tenant="third"))
    await remember(store, added)
    assert await store.get(added.memory_id, scopes=[added.scope]) == added
    assert len(await store.match(Where(scopes=(kept.scope,)), "tea", limit=9)) == 1
    assert await store.projections() == {"copy": 0}
    assert servers.sql(2, "SELECT name FROM mnemic.projection") == [("copy",)]
    salts = [servers.sql(number, "SELECT value FROM mnemic.salt")[0][0] for number in range(SERVERS)]
    assert len(set(salts)) == 1
    starts = "SELECT DISTINCT start_value FROM pg_sequences WHERE schemaname = 'mnemic' AND increment_by = 1024"
    assert sorted(servers.sql(number, starts)[0][0] for number in range(SERVERS)) == [1, 2, 3]
    await store.close()


async def test_one_server_in_use_becomes_the_first_of_several(servers: RoutedServers, tmp_path: Path) -> None:
    for number in range(SERVERS):
        servers.sql(number, "DROP SCHEMA IF EXISTS mnemic CASCADE")
    alone = PostgresStore(servers.dsns()[0])
    await alone.open(EMBEDDER.space)
    before = memory("tea")
    await remember(alone, before)
    await enqueue(alone, "acme")
    store = servers.store(tmp_path)
    await store.open(None)
    after = memory("coffee")
    await remember(store, after)
    await enqueue(store, "acme")
    assert [one.memory_id for one in await store.newest(Where(scopes=(scope(),)), limit=9)] == [
        after.memory_id,
        before.memory_id,
    ]
    first, second = [entry.sequence for entry in await store.pending()]
    assert first < second
    assert second % 1024 == servers.sql(0, "SELECT start_value FROM pg_sequences WHERE schemaname = 'mnemic'")[0][0]
    await asyncio.gather(alone.close(), store.close())


async def test_an_address_names_the_router_and_the_servers(servers: RoutedServers, tmp_path: Path) -> None:
    location = servers.location(tmp_path)
    store = build_store(location, durability="durable")
    await store.open(EMBEDDER.space)
    await remember(store, *(memory("tea", scope=scope(tenant=tenant)) for tenant in TENANTS))
    assert (store.capabilities.spans_tenants, store.capabilities.servers) == (False, SERVERS)
    assert [servers.sql(number, "SELECT count(*) FROM mnemic.memory")[0][0] for number in range(SERVERS)] == [1, 1, 1]
    await store.close()
    documents = build_documents(location)
    assert await asyncio.to_thread(documents.sweep, "rival") == 0
    await asyncio.to_thread(documents.close)
    for wrong in (location.replace("&server=", "&nothing="), location.replace("&router=", "&nothing=")):
        with pytest.raises(InvalidConfig):
            build_store(wrong, durability="durable")
    with pytest.raises(NotSupported) as refused:
        backup_store(location, tmp_path / "copy", SystemClock())
    assert refused.value.reason == "not_supported:backup:router"


async def test_a_router_and_a_replica_exclude_each_other(servers: RoutedServers) -> None:
    given = {"router": ANNOUNCEMENT, "servers": servers.dsns()}
    for wrong in (
        given | {"replica_dsn": "postgresql://replica/memories"},
        given | {"owner_dsn": "postgresql://owner/memories"},
        given | {"router": "unknown"},
        given | {"servers": []},
        given | {"servers": [servers.dsns()[0]] * 2},
        {"servers": servers.dsns()},
    ):
        with pytest.raises(InvalidConfig) as refused:
            PostgresStore("postgresql://router/memories", **wrong)  # type: ignore[arg-type]
        assert refused.value.reason == "invalid_config:router"
    assert PostgresStore("postgresql://router/memories", router="pgdog", servers=["a"]).capabilities.servers == 1


def test_a_tenant_is_announced_as_a_literal() -> None:
    assert quoted("acme") == "'acme'"
    assert quoted("o'neil'; DROP TABLE x --") == "'o''neil''; DROP TABLE x --'"


@pytest.mark.parametrize(("router", "first"), [("pgdog", "BEGIN"), ("spqr", "SET __spqr__sharding_key TO 'acme'")])
def test_a_router_is_told_the_tenant_where_it_listens(router: str, first: str) -> None:
    """PgDog refuses its command outside of a transaction (`this command requires a transaction`)."""
    route = Route(ANNOUNCEMENTS[router], (), b"", 1, no_server)
    assert route.begun("BEGIN", "acme")[0] == first
    assert set(route.begun("BEGIN", "acme")) == {"BEGIN", route.announced("acme")}


async def no_server(_: str) -> list[object]:
    return []
