"""A database is brought up to date once, whoever comes first, and one that is newer or not ours is not touched."""

from __future__ import annotations

import asyncio
from pathlib import Path

import asyncpg
import pytest

from mnemic.errors import StoreCorrupt, StoreNewer, StoreUnavailable
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.postgres.schema import claim, migrate, migrations
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.testing.record_store.fixtures import START
from mnemic.types import Kind, Where
from mnemic.types.facets import value_facet
from tests.servers import PostgresServer

RELATIONS = "SELECT relname, relkind::text FROM pg_class WHERE relnamespace = to_regnamespace('mnemic') ORDER BY 1"

CHECKSUMS = "SET search_path = mnemic, public;" + next(step.sql for step in migrations() if step.number == 15)
NO_CHECKSUMS = """
    ALTER TABLE memory_version DROP COLUMN checksum;
    ALTER TABLE memory DROP COLUMN vector_check, DROP COLUMN next_vector_check, DROP COLUMN words_check;
    ALTER TABLE mark DROP COLUMN checksum;
    ALTER TABLE request DROP COLUMN checksum;
    ALTER TABLE tenant DROP COLUMN checksum;
    DROP FUNCTION checked_marks, checked_under, checked_as, enter_checked;
"""


NO_LANES = """
    DROP TABLE journal, lane_end, lane_collected, usage_lane;
    DROP FUNCTION behind, marks_between;
"""


LARGE_ALONE = next(step.sql for step in migrations() if "CREATE TABLE term_posting" in step.sql)
ALL_POSTINGS = """
    CREATE TABLE posting (LIKE term_posting INCLUDING ALL);
    ALTER TABLE posting ENABLE ROW LEVEL SECURITY;
    ALTER TABLE posting FORCE ROW LEVEL SECURITY;
    CREATE POLICY own_tenant ON posting USING (tenant = (SELECT nullif(current_setting('mnemic.tenant', true), '')));
    GRANT SELECT, INSERT, UPDATE, DELETE ON posting TO mnemic_app;
    INSERT INTO posting
    SELECT m.tenant, m.scope_id, p.term, m.number, p.content, p.context, m.content_length, m.context_length,
           m.status = 'active'
    FROM memory m CROSS JOIN LATERAL postings_of(m.content, m.context) p;
    DROP TABLE term_posting;
    DROP FUNCTION postings_of, terms_in, times;
"""
"""Make of a database one of before postings were kept of large scopes alone."""


async def opened(dsn: str) -> None:
    store = PostgresStore(dsn)
    await store.open(EMBEDDER.space)
    await remember(store, memory("tea"))
    await store.close()


def test_steps_are_numbered_without_gaps() -> None:
    assert [step.number for step in migrations()] == list(range(1, len(migrations()) + 1))


async def test_many_first_openers_migrate_once(postgres: PostgresServer, tmp_path: Path) -> None:
    dsn = postgres.database(tmp_path)
    await asyncio.gather(*(opened(dsn) for _ in range(8)))
    versions = [row["version"] for row in postgres.sql("SELECT version FROM mnemic.schema_version ORDER BY 1")]
    assert versions == [step.number for step in migrations()]
    store = PostgresStore(dsn)
    await store.open(EMBEDDER.space)
    assert await store.count(Where(scopes=(scope(),))) == 8
    await store.close()


@pytest.mark.parametrize("done", range(len(migrations())))
async def test_a_database_left_at_any_step_goes_on_from_there(
    postgres: PostgresServer, tmp_path: Path, done: int
) -> None:
    dsn = postgres.database(tmp_path)
    if done:
        recorded = ", ".join(f"({step.number})" for step in migrations()[:done])
        table = "CREATE TABLE schema_version (version integer PRIMARY KEY, applied_at timestamptz DEFAULT now())"
        begun = ["CREATE SCHEMA mnemic", "SET search_path = mnemic, public", table]
        connection = await asyncpg.connect(dsn)
        for statement in (*begun, *(step.sql for step in migrations()[:done])):
            await connection.execute(statement)
        await connection.execute(f"INSERT INTO schema_version (version) VALUES {recorded}")
        await connection.close()
    await opened(dsn)
    assert len(postgres.sql("SELECT version FROM mnemic.schema_version")) == len(migrations())


async def test_a_newer_database_is_refused_and_not_touched(postgres: PostgresServer, tmp_path: Path) -> None:
    dsn = postgres.database(tmp_path)
    await opened(dsn)
    postgres.sql(f"INSERT INTO mnemic.schema_version (version) VALUES ({migrations()[-1].number + 1})")
    before = postgres.sql(RELATIONS)
    with pytest.raises(StoreNewer) as refused:
        await PostgresStore(dsn).open(EMBEDDER.space)
    assert refused.value.reason == "store_newer"
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


async def test_structured_memories_of_before_are_found_by_their_fields(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    dsn = postgres.database(tmp_path)
    store = PostgresStore(dsn)
    await store.open(EMBEDDER.space)
    seat = memory("a seat", kind=Kind.STRUCTURED, data={"row": 1})
    await remember(store, seat, memory("tea"))
    (step,) = [step for step in migrations() if "CREATE TABLE facet" in step.sql]
    connection = await asyncpg.connect(dsn)
    async with connection.transaction():
        await connection.execute("SET LOCAL search_path = mnemic, public")
        await connection.execute("DROP TABLE facet; DROP FUNCTION forget_facets CASCADE")
        await connection.execute(step.sql)
    await connection.close()
    found = await store.newest(Where(scopes=(scope(),)), limit=9, facets=[frozenset({value_facet("row", 1)})])
    assert found == [seat]
    await store.close()


async def test_what_was_there_before_the_partitions_is_all_there(postgres: PostgresServer, tmp_path: Path) -> None:
    """Versions and search entries of several tenants, as a database of before has them."""
    dsn = postgres.database(tmp_path)
    connection = await asyncpg.connect(dsn)
    async with connection.transaction():
        await connection.execute("SET LOCAL search_path = mnemic, public")
        await migrate(connection, up_to=13)
        await claim(connection, EMBEDDER.space)
    kinds = "SELECT relname, relkind::text FROM pg_class WHERE relname IN ('memory_version', 'posting') ORDER BY 1"
    assert [kind for _, kind in await connection.fetch(kinds)] == ["r", "r"]
    # The statements are the same: a store of before is one that finds nothing to migrate.
    await connection.execute(CHECKSUMS)
    (lanes,) = [step for step in migrations() if "CREATE TABLE lane_end" in step.sql]
    async with connection.transaction():
        await connection.execute("SET LOCAL search_path = mnemic, public")
        await connection.execute(lanes.sql)
        await connection.execute(LARGE_ALONE)
    await connection.execute("INSERT INTO mnemic.schema_version (version) VALUES (17)")
    before = PostgresStore(dsn, index_bytes=0)
    await before.open(EMBEDDER.space)
    kept = [memory(f"tea of {tenant}", scope=scope(tenant=tenant)) for tenant in ("acme", "rival", "third", "fourth")]
    await remember(before, *kept)
    changed = kept[0].next_version(kept[0].updated_at, content="coffee", fingerprint="other")
    await before.transact(lambda transaction: transaction.replace(changed))
    await before.close()
    async with connection.transaction():
        await connection.execute("SET LOCAL search_path = mnemic, public")
        await connection.execute(ALL_POSTINGS + NO_LANES + NO_CHECKSUMS)
    await connection.execute("DELETE FROM mnemic.schema_version WHERE version = 17")
    await connection.close()
    after = PostgresStore(dsn, index_bytes=0)
    await after.open(EMBEDDER.space)
    assert [kind for _, kind in postgres.sql(kinds)] == ["p"]
    for one in (changed, *kept[1:]):
        assert await after.get(one.memory_id, scopes=[one.scope]) == one
        (found,) = await after.match(Where(scopes=(one.scope,)), one.content, limit=9)
        assert found.memory_id == one.memory_id
    assert len(await after.versions(changed.memory_id, scopes=[changed.scope])) == 2
    await after.transact(lambda transaction: transaction.remove(changed.memory_id, scope=changed.scope))
    assert postgres.sql("SELECT count(*) FROM mnemic.memory_version") == [(3,)]
    await after.close()


async def test_what_tenants_held_before_there_were_lanes_is_counted(postgres: PostgresServer, tmp_path: Path) -> None:
    dsn = postgres.database(tmp_path)
    store = PostgresStore(dsn)
    await store.open(EMBEDDER.space)
    await remember(store, memory("tea"), memory("coffee", scope=scope("bob")), memory("x", scope=scope(tenant="rival")))
    await store.audit("acme")
    held = [await store.usage(tenant, since=START) for tenant in ("acme", "rival")]
    (lanes,) = [step for step in migrations() if "CREATE TABLE lane_end" in step.sql]
    connection = await asyncpg.connect(dsn)
    async with connection.transaction():
        await connection.execute("SET LOCAL search_path = mnemic, public")
        await connection.execute(NO_LANES + lanes.sql)
    await connection.close()
    assert [await store.usage(tenant, since=START) for tenant in ("acme", "rival")] == held
    await remember(store, memory("more"))
    assert (await store.usage("acme", since=START))[Kind.LONG_TERM].rows == 3
    assert (await store.broken_audit("acme"))[1] is None
    await store.close()


async def test_rows_from_before_there_were_checksums_are_believed_and_given_one(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    dsn = postgres.database(tmp_path)
    store = PostgresStore(dsn)
    await store.open(EMBEDDER.space)
    kept = [memory(said, scope=scope(tenant=tenant)) for said in ("tea", "coffee") for tenant in ("acme", "rival")]
    await remember(store, *kept)
    changed = kept[0].next_version(kept[0].updated_at, content="water", fingerprint="other")
    await store.transact(lambda transaction: transaction.replace(changed))
    postgres.sql(
        "UPDATE mnemic.memory_version SET checksum = NULL",
        "UPDATE mnemic.memory SET vector_check = NULL, words_check = NULL",
    )
    assert await store.get(changed.memory_id, scopes=[changed.scope]) == changed
    assert await store.damaged("acme") == []
    assert await store.tidy() == 0
    assert postgres.sql("SELECT count(checksum) FROM mnemic.memory_version") == [(0,)]
    await store.tidy(whole=True)
    assert postgres.sql("SELECT count(checksum), count(*) FROM mnemic.memory_version") == [(5, 5)]
    assert postgres.sql("SELECT count(vector_check), count(words_check) FROM mnemic.memory") == [(4, 4)]
    assert await store.damaged("acme") == []
    assert await store.get_many([kept[1].memory_id], scopes=[kept[1].scope]) == {kept[1].memory_id: kept[1]}
    postgres.sql("UPDATE mnemic.memory_version SET body = replace(body, 'coffee', 'coffin')")
    assert {row.name for row in await store.damaged("rival")} == {kept[3].memory_id}
    await store.close()


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


async def test_postings_of_before_are_kept_of_large_scopes_alone(postgres: PostgresServer, tmp_path: Path) -> None:
    dsn = postgres.database(tmp_path)
    store = PostgresStore(dsn, index_bytes=0, exact_up_to=3)
    await store.open(EMBEDDER.space)
    large, small, begun = scope("large"), scope("small"), scope("begun")
    for place, number in ((large, 5), (small, 2), (begun, 3)):
        await remember(store, *(memory(f"tea number {one}", scope=place) for one in range(number)))
    await store.match(Where(scopes=(large,)), "tea", limit=1)
    await store.settled()
    every = [scope(name) for name in ("large", "small", "begun")]
    expected = [await store.match(Where(scopes=(one,)), "tea number 1", limit=9) for one in every]
    connection = await asyncpg.connect(dsn)
    async with connection.transaction():
        await connection.execute("SET LOCAL search_path = mnemic, public")
        await connection.execute(ALL_POSTINGS)
        # A move into the indexes that was cut short.
        await connection.execute("UPDATE memory SET large = true WHERE content_length > 2")
        await connection.execute(LARGE_ALONE)
    await connection.close()
    kept = postgres.sql(
        "SELECT s.owner, count(*) FROM mnemic.term_posting JOIN mnemic.scope s USING (scope_id) GROUP BY 1"
    )
    assert [tuple(row) for row in kept] == [("large", 15)]
    found = [await store.match(Where(scopes=(one,)), "tea number 1", limit=9) for one in every]
    assert [[hit.memory_id for hit in one] for one in found] == [[hit.memory_id for hit in one] for one in expected]
    await store.settled()
    again = [await store.match(Where(scopes=(one,)), "tea number 1", limit=9) for one in every]
    assert [[hit.memory_id for hit in one] for one in again] == [[hit.memory_id for hit in one] for one in expected]
    await store.close()
