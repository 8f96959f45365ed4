"""The database itself keeps tenants apart: also from a statement that forgot to ask for one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest
import pytest_asyncio

from mnemic.errors import InvalidConfig
from mnemic.stores.postgres import PostgresDocuments, PostgresStore
from mnemic.stores.postgres.graph import PostgresGraph
from mnemic.stores.postgres.statements import load
from mnemic.stores.relational.statements import load as shared
from mnemic.testing.graph_store import fragment
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.testing.record_store.fixtures import START
from mnemic.types import AuditEvent, Kind, Memory, OutboxEntry, PutDocument, Where
from tests.servers import PostgresServer

TABLES = (
    *("tenant", "scope", "memory", "memory_version", "usage", "term_posting", "facet"),
    *("audit", "audit_head", "outbox", "request", "mark"),
    *("journal", "lane_end", "lane_collected", "usage_lane"),
    *("graph_node", "graph_relation"),
    *("document", "document_vector"),
)
GLOBAL = {"next_space", "projection", "salt", "schema_version", "space"}
"""Tables that hold nothing of a tenant."""

PARTITIONS = [f"{table}_{number}" for table in ("memory_version", "term_posting") for number in range(8)]
TENANTS = ("acme", "rival")


@pytest_asyncio.fixture
async def filled(postgres: PostgresServer, tmp_path: Path) -> AsyncIterator[str]:
    """The address of a database in which two tenants have rows in every table."""
    dsn = postgres.database(tmp_path)
    store = PostgresStore(dsn, index_bytes=0, exact_up_to=1)
    graph = PostgresGraph(dsn)
    await store.open(EMBEDDER.space)
    await graph.open()
    for tenant in TENANTS:
        await store.secret(tenant)
        kept = memory("the harbour", scope=scope(tenant=tenant), memory_id="same", fingerprint="f")
        booking = memory("a booking", scope=scope(tenant=tenant), kind=Kind.STRUCTURED, data={"seat": "12A"})
        await remember(store, kept, booking)

        async def trail(transaction: Any, tenant: str = tenant, kept: Memory = kept) -> None:
            await transaction.append_audit(AuditEvent(tenant=tenant, action="created", at=START, actor="ada"))
            await transaction.enqueue(OutboxEntry.for_memory(kept))
            await transaction.remember_request(tenant, "key", "digest", "{}", START)
            await transaction.put_mark(tenant, "consent", "granted")

        await store.transact(trail)
        await store.audit(tenant)

        async def later(transaction: Any, tenant: str = tenant) -> None:
            await transaction.append_audit(AuditEvent(tenant=tenant, action="updated", at=START, actor="ada"))

        await store.transact(later)
        # Large scopes alone have postings.
        await store.match(Where(scopes=(scope(tenant=tenant),)), "harbour", limit=1)
        await store.wait_until_moved()
        await graph.link(scope(tenant=tenant), [fragment("same", ("ana", "knows", "bo"))])
        await asyncio.to_thread(put_document, dsn, tenant)
    await graph.close()
    await store.close()
    yield dsn


def put_document(dsn: str, tenant: str) -> None:
    documents = PostgresDocuments(dsn)
    vectors = (EMBEDDER.vector("harbour"),)
    documents.apply(tenant, [PutDocument(namespace=("a",), key="k", value="{}", vectors=vectors)])
    documents.close()


@pytest_asyncio.fixture
async def raw(filled: str) -> AsyncIterator[Any]:
    """A connection as the application has it, without the store."""
    connection = await asyncpg.connect(
        filled, server_settings={"role": "mnemic_app", "search_path": "mnemic, public"}, timeout=30
    )
    yield connection
    await connection.close()


async def seen(connection: Any, table: str) -> int:
    return int(await connection.fetchval(f"SELECT count(*) FROM {table}"))


async def as_acme(connection: Any, statement: str) -> str:
    async with connection.transaction():
        await connection.execute("SELECT set_config('mnemic.tenant', 'acme', true)")
        return str(await connection.execute(statement))


async def test_who_names_no_tenant_sees_nothing(raw: Any) -> None:
    assert {table: await seen(raw, table) for table in TABLES} == dict.fromkeys(TABLES, 0)
    await raw.execute("SELECT set_config('mnemic.tenant', '', false)")
    assert {table: await seen(raw, table) for table in TABLES} == dict.fromkeys(TABLES, 0)


@pytest.mark.parametrize("tenant", TENANTS)
async def test_who_names_a_tenant_sees_its_rows_alone(raw: Any, tenant: str) -> None:
    async with raw.transaction():
        await raw.execute("SELECT set_config('mnemic.tenant', $1, true)", tenant)
        for table in TABLES:
            assert [row[0] for row in await raw.fetch(f"SELECT DISTINCT tenant FROM {table}")] == [tenant]
    assert await seen(raw, "memory") == 0


async def test_nothing_of_another_tenant_can_be_written(raw: Any) -> None:
    assert await as_acme(raw, "UPDATE memory SET status = 'expired' WHERE tenant = 'rival'") == "UPDATE 0"
    assert await as_acme(raw, "DELETE FROM memory_version WHERE tenant = 'rival'") == "DELETE 0"
    writes = [
        "INSERT INTO request VALUES ('rival', 'k', 'd', '{}', 0, 0)",
        "INSERT INTO outbox VALUES ('rival', DEFAULT, 'user', 'ada', 'remove', 'same', 1)",
        "UPDATE memory SET tenant = 'rival'",
    ]
    for write in writes:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await as_acme(raw, write)


async def test_a_partition_is_closed_to_the_application_and_shows_its_owner_nothing(
    raw: Any, postgres: PostgresServer
) -> None:
    postgres.sql("DROP ROLE IF EXISTS keeper", "CREATE ROLE keeper LOGIN", "GRANT USAGE ON SCHEMA mnemic TO keeper")
    for partition in PARTITIONS:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await as_acme(raw, f"SELECT FROM {partition}")
    held = {name: postgres.sql(f"SELECT count(*) FROM mnemic.{name}")[0][0] for name in PARTITIONS}
    assert {
        sum(held[f"{table}_{number}"] for number in range(8)) > 0 for table in ("memory_version", "term_posting")
    } == {True}
    (partition, *_) = [name for name, rows in held.items() if rows]
    postgres.sql(f"ALTER TABLE mnemic.{partition} OWNER TO keeper")
    shown = postgres.sql("SET ROLE keeper", "SET mnemic.tenant = 'acme'", f"SELECT count(*) FROM mnemic.{partition}")
    assert shown[0][0] == 0


async def test_the_drain_sees_the_outbox_and_nothing_else(raw: Any) -> None:
    async with raw.transaction():
        await raw.execute("SELECT set_config('mnemic.drain', 'on', true)")
        assert {table: await seen(raw, table) for table in TABLES} == dict.fromkeys(TABLES, 0) | {"outbox": 2}
        assert await raw.execute("UPDATE outbox SET taken = '{hot_set}'") == "UPDATE 2"
    await raw.execute("SELECT set_config('mnemic.drain', 'on', false)")
    for forgery in ("UPDATE outbox SET memory_id = 'other'", "UPDATE outbox SET tenant = 'acme'"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await raw.execute(forgery)


@pytest.mark.parametrize(
    "change",
    [
        *("UPDATE audit SET event = '{}'", "DELETE FROM audit", "TRUNCATE audit", "DROP TABLE audit"),
        *("UPDATE journal SET event = '{}'", "TRUNCATE journal"),
    ],
)
async def test_the_audit_cannot_be_changed_by_the_application(raw: Any, change: str) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await as_acme(raw, change)


async def test_the_owner_cannot_change_the_audit_by_mistake(postgres: PostgresServer, filled: str) -> None:
    changes = ["UPDATE mnemic.audit SET event = '{}'", "DELETE FROM mnemic.audit", "TRUNCATE mnemic.audit"]
    for change in (*changes, "UPDATE mnemic.journal SET event = '{}'", "TRUNCATE mnemic.journal"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="append-only"):
            postgres.sql(change)


async def test_row_security_binds_every_table_and_its_owner(postgres: PostgresServer, filled: str) -> None:
    rows = postgres.sql(
        "SELECT relname, relrowsecurity AND relforcerowsecurity FROM pg_class "
        "WHERE relnamespace = 'mnemic'::regnamespace AND relkind IN ('r', 'p')"
    )
    assert {name for name, bound in rows if bound} == {*TABLES, *PARTITIONS}
    assert {name for name, bound in rows if not bound} == GLOBAL


async def test_every_key_starts_with_the_tenant(postgres: PostgresServer, filled: str) -> None:
    rows = postgres.sql(
        "SELECT c.relname, a.attname FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid "
        "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0] "
        "WHERE i.indisunique AND c.relnamespace = 'mnemic'::regnamespace"
    )
    assert {table for table, first in rows if first == "tenant"} == {*TABLES, *PARTITIONS}
    assert {table for table, first in rows if first != "tenant"} == GLOBAL


def test_every_statement_on_a_tenants_table_names_the_tenant() -> None:
    own = [load(file) for file in ("session", "reading", "searching", "writing", "lanes", "upkeep", "documents")]
    for statements in (*own, shared("jobs", "postgres"), shared("graph", "postgres")):
        for name, statement in statements.items():
            if any(f" {table} " in f"{statement} " for table in TABLES):
                assert "tenant = $1" in statement or statement.startswith("INSERT INTO"), name


async def test_a_role_that_would_see_everything_is_refused(postgres: PostgresServer, filled: str) -> None:
    postgres.sql("ALTER ROLE mnemic_app BYPASSRLS")
    try:
        with pytest.raises(InvalidConfig, match="postgres_role"):
            await PostgresStore(filled).open(EMBEDDER.space)
    finally:
        postgres.sql("ALTER ROLE mnemic_app NOBYPASSRLS")


async def test_a_login_that_owns_nothing_works_on_a_ready_database(postgres: PostgresServer, filled: str) -> None:
    postgres.sql("DROP ROLE IF EXISTS plain", "CREATE ROLE plain LOGIN", "GRANT mnemic_app TO plain")
    store = PostgresStore(filled.replace("postgres@", "plain@"))
    await store.open(EMBEDDER.space)
    await remember(store, memory("written as a plain user"))
    assert await store.get("same", scopes=[scope(tenant="rival")]) is not None
    await store.close()


async def test_a_login_that_may_not_be_the_application_is_refused(postgres: PostgresServer, filled: str) -> None:
    postgres.sql("DROP ROLE IF EXISTS stranger", "CREATE ROLE stranger LOGIN")
    with pytest.raises(InvalidConfig, match="postgres_role"):
        await PostgresStore(filled.replace("postgres@", "stranger@"), owner_dsn=filled).open(EMBEDDER.space)


@pytest.mark.parametrize(
    ("forgery", "broken"),
    [
        ("UPDATE mnemic.audit SET event = replace(event, 'ada', 'eve') WHERE sequence = 2", 2),
        ("UPDATE mnemic.audit SET event = '' WHERE sequence = 3", 3),
        ("DELETE FROM mnemic.audit WHERE sequence = 1", 2),
        ("DELETE FROM mnemic.audit WHERE sequence = 2", 3),
        ("UPDATE mnemic.audit SET sequence = 9 WHERE sequence = 3", 9),
    ],
)
async def test_an_owner_who_forges_the_audit_is_found_out(
    postgres: PostgresServer, tmp_path: Path, forgery: str, broken: int
) -> None:
    store = PostgresStore(postgres.database(tmp_path))
    await store.open(EMBEDDER.space)
    for _ in range(3):
        event = AuditEvent(tenant="acme", action="created", at=START, actor="ada")
        await store.transact(lambda transaction, event=event: transaction.append_audit(event))
    assert (await store.broken_audit("acme"))[:2] == (3, None)
    postgres.sql("ALTER TABLE mnemic.audit DISABLE TRIGGER ALL", forgery)
    lines, first, _ = await store.broken_audit("acme")
    assert (lines, first) == (2 if forgery.startswith("DELETE") else 3, broken)
    await store.close()
