"""The schema is what its steps make of an empty file, whole after every step, and never older than the file."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import apsw
import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import StoreCorrupt, StoreNewer, StoreOlder
from mnemic.operations.sqlite.inspection import inspect
from mnemic.operations.sqlite.salvage import salvage
from mnemic.stores.sqlite import SqliteStore
from mnemic.stores.sqlite.database_file import (
    APPLICATION_ID,
    BusyHandler,
    Migration,
    connect,
    migrate,
    migrations,
    newest_schema,
    prepare,
)
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.types import Where
from tests.migration.golden_files import ADA, FILES, SAID

TABLES = (
    "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type, name"
)


def schema_of(connection: apsw.Connection) -> str:
    return "".join(f"-- {kind} {name}\n{sql};\n\n" for kind, name, sql in connection.execute(TABLES))


def prepared(path: Path) -> apsw.Connection:
    return prepare(path, durability="durable", busy=BusyHandler())


async def filled(path: Path) -> None:
    store = SqliteStore(path)
    await store.open(EMBEDDER.space)
    await remember(store, memory("tea"))
    await store.close()


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_new_file_has_the_schema_of_the_golden_file(tmp_path: Path) -> None:
    """A step that was released is never edited: a change of the schema is a step more, with its golden file."""
    golden = apsw.Connection(str(unpacked(newest_schema(), tmp_path)))
    connection = prepared(tmp_path / "new.db")
    assert schema_of(connection) == schema_of(golden)
    golden.close()
    connection.close()


def test_a_new_file_says_whose_it_is_and_how_far_it_has_come(tmp_path: Path) -> None:
    connection = prepared(tmp_path / "m.db")
    assert connection.pragma("application_id") == APPLICATION_ID
    assert connection.pragma("user_version") == newest_schema()
    assert connection.pragma("journal_mode") == "wal"
    assert connection.pragma("foreign_key_check") is None
    connection.close()


def later(sql: str = "CREATE TABLE later (number INTEGER)") -> Migration:
    """A step of a later version."""
    return Migration(newest_schema() + 1, "later", sql)


def test_killed_migration_goes_on_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    prepared(path).close()
    connection = connect(path, durability="durable", busy=BusyHandler())
    migrate(connection, [*migrations(), later()])
    assert connection.pragma("user_version") == newest_schema() + 1
    assert "CREATE TABLE later" in schema_of(connection)
    connection.close()


def test_a_step_that_fails_half_way_leaves_the_step_before(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    connection = prepared(path)
    before = schema_of(connection)
    with pytest.raises(apsw.SQLError):
        migrate(connection, [*migrations(), later("CREATE TABLE half (a); INSERT INTO absent VALUES (1);")])
    assert connection.pragma("user_version") == newest_schema()
    assert schema_of(connection) == before
    connection.close()


def test_steps_already_taken_are_not_taken_again(tmp_path: Path) -> None:
    connection = prepared(tmp_path / "m.db")
    before = connection.total_changes()
    migrate(connection, migrations())
    assert connection.total_changes() == before
    connection.close()


async def test_a_newer_file_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    await filled(path)
    connection = apsw.Connection(str(path))
    connection.pragma("user_version", newest_schema() + 1)
    connection.close()
    before = digest(path)
    with pytest.raises(StoreNewer) as refused:
        await SqliteStore(path).open(EMBEDDER.space)
    assert refused.value.reason == "store_newer"
    assert digest(path) == before


async def test_file_older_than_the_first_release_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    await filled(path)
    connection = apsw.Connection(str(path))
    connection.pragma("user_version", migrations()[0].number - 1)
    connection.close()
    before = digest(path)
    with pytest.raises(StoreOlder, match="mnemic import --own") as refused:
        await SqliteStore(path).open(EMBEDDER.space)
    assert refused.value.reason == "store_older"
    with pytest.raises(StoreOlder):
        inspect(path)
    assert digest(path) == before


@pytest.mark.parametrize("mode", ["delete", "wal"])
async def test_the_file_of_another_program_is_refused_and_not_touched(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "theirs.db"
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", mode)
    connection.execute("CREATE TABLE notes (text)")
    connection.close()
    before = digest(path)
    with pytest.raises(StoreCorrupt, match="not_mnemic"):
        await SqliteStore(path).open(EMBEDDER.space)
    assert digest(path) == before


async def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    path.touch()
    store = SqliteStore(path)
    await store.open(EMBEDDER.space)
    await remember(store, memory("tea"))
    assert len(await store.newest(Where(scopes=(scope(),)), limit=5)) == 1
    await store.close()


async def test_an_open_file_that_a_newer_version_migrates_is_written_no_more(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    store = SqliteStore(path)
    await store.open(EMBEDDER.space)
    await remember(store, tea := memory("tea"))
    connection = apsw.Connection(str(path))
    connection.execute(f"BEGIN IMMEDIATE; PRAGMA user_version = {newest_schema() + 1}; COMMIT")
    connection.close()
    with pytest.raises(StoreNewer):
        await remember(store, memory("coffee"))
    with pytest.raises(StoreNewer):
        await store.transact(lambda tx: tx.remove(tea.memory_id, scope=scope()))
    with pytest.raises(StoreNewer):
        await store.acknowledge([1])
    assert await store.newest(Where(scopes=(scope(),)), limit=5) == [tea]
    await store.close()


async def test_without_the_look_at_the_schema_an_old_process_writes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control of what comes before."""
    path = tmp_path / "m.db"
    store = SqliteStore(path)
    await store.open(EMBEDDER.space)
    connection = apsw.Connection(str(path))
    connection.execute(f"BEGIN IMMEDIATE; PRAGMA user_version = {newest_schema() + 1}; COMMIT")
    connection.close()
    monkeypatch.setattr("mnemic.stores.sqlite.database_file.check_schema", lambda _: None)
    await remember(store, memory("coffee"))
    assert len(await store.newest(Where(scopes=(scope(),)), limit=5)) == 1
    await store.close()


SCHEMAS = [step.number for step in migrations()]


def unpacked(schema: int, folder: Path) -> Path:
    path = folder / "m.db"
    path.write_bytes(gzip.decompress((FILES / f"schema-{schema}.db.gz").read_bytes()))
    return path


def test_each_schema_has_its_file() -> None:
    """Whoever adds a step adds the file that `python -m tests.migration.golden_files` writes with it."""
    assert sorted(path.name for path in FILES.iterdir()) == sorted(f"schema-{schema}.db.gz" for schema in SCHEMAS)


@pytest.mark.parametrize("schema", SCHEMAS)
async def test_a_file_of_before_says_what_it_said(schema: int, tmp_path: Path) -> None:
    path = unpacked(schema, tmp_path)
    assert inspect(path).schema == schema
    async with MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder(inspect(path).space.dimension)) as engine:  # type: ignore[union-attr]
        listed = {memory.content: memory for memory in await engine.list(actor=ADA, limit=100)}
        assert listed.keys() == SAID
        changed = listed["Parcel 0 was lost at sea."]
        assert [one.version for one in await engine.history(changed.memory_id, actor=ADA)] == [1, 2]
        found = await engine.search("Where does parcel 3 go?", actor=ADA)
        assert found.hits[0].memory.content == "Parcel 3 goes to town 21."
        again = await engine.add("Parcel 3 goes to town 21.", actor=ADA, idempotency_key="k3")
        assert again.memory_id == listed["Parcel 3 goes to town 21."].memory_id
        assert (await engine.verify_audit(actor=ADA)).broken_at is None
        assert (await engine.add("Parcel 9 goes to town 63.", actor=ADA)).memory_id
        await engine.maintain(actor=ADA)
    after = inspect(path)
    assert (after.schema, after.whole) == (newest_schema(), True)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_damaged_file_of_before_can_be_salvaged(schema: int, tmp_path: Path) -> None:
    path = unpacked(schema, tmp_path)
    data = path.read_bytes()
    path.write_bytes(bytes(4096) + data[4096:])
    told = salvage(path, tmp_path / "saved.db")
    assert told.counts["memory"] == 7
    assert told.damaged == []
