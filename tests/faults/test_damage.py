"""Damaged files: a row that is not what was written is skipped and named, all else is served, salvage gets it out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from unittest.mock import ANY

import apsw
import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, MnemicError, StoreCorrupt, StoreUnavailable
from mnemic.operations.sqlite import backup
from mnemic.operations.sqlite.inspection import inspect
from mnemic.operations.sqlite.record_carving import records
from mnemic.operations.sqlite.salvage import salvage
from mnemic.stores.codec import DAMAGED, body_check
from mnemic.stores.sqlite import SqliteStore
from mnemic.stores.sqlite.damage import find_damage
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.record_store.fixtures import START
from mnemic.types import Candidate
from tests.faults.aftermath import examine
from tests.faults.bit_flips import ADA, Flips, make_file
from tests.faults.scale import size

FLIPS = size(60, 5000)
MEMORIES = size(30, 200)


def engine_of(path: Path) -> MemoryEngine:
    return MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder())


def sql(path: Path, statement: str, *values: object) -> list[tuple[object, ...]]:
    connection = apsw.Connection(str(path))
    try:
        return connection.execute(statement, values).fetchall()  # type: ignore[arg-type]
    finally:
        connection.close()


def spoil(path: Path, old: bytes, new: bytes) -> None:
    """Change bytes of a closed file in each place where they are."""
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new))


@pytest.fixture
async def made(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    path = tmp_path / "m.db"
    return path, await make_file(path, 20)


def named(said: dict[str, str], words: str) -> str:
    return next(memory_id for memory_id, text in said.items() if words in text)


async def test_flips_anywhere(tmp_path: Path, say: Callable[[str], None]) -> None:
    said = await make_file(tmp_path / "source.db", MEMORIES)
    report = await Flips(tmp_path / "source.db", said, tmp_path, 1).run(FLIPS)
    say(f"flips: {report}")
    assert report.flips == FLIPS
    assert report.served_without > 0
    assert (report.wrong, report.untyped, report.silent, report.unnamed, report.lost) == (0, 0, 0, 0, 0)


async def test_without_checksums_the_flips_are_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control run: where nobody compares them, a changed letter is believed."""
    path = tmp_path / "m.db"
    said = await make_file(path, 20)
    monkeypatch.setattr("mnemic.stores.encryption.body_check", lambda *_: ANY)
    spoil(path, b'"content":"Parcel 7 ', b'"content":"Parcel 8 ')
    async with engine_of(path) as engine:
        assert (await engine.get(named(said, "Parcel 7 "), actor=ADA)).content.startswith("Parcel 8 ")


@pytest.mark.parametrize("changed", [b'"content":"Parcel 8 ', b'"content":"Parcel \xff ', b'"content:"!Parcel 7 '])
async def test_one_damaged_row(made: tuple[Path, dict[str, str]], tmp_path: Path, changed: bytes) -> None:
    path, said = made
    hurt = named(said, "Parcel 7 ")
    spoil(path, b'"content":"Parcel 7 ', changed)
    async with engine_of(path) as engine:
        listed = [memory.memory_id for memory in await engine.list(actor=ADA, limit=100)]
        assert sorted([*listed, hurt]) == sorted(said)
        found = await engine.search("Parcel 6 goes to town 42 by ship.", actor=ADA)
        assert hurt not in [hit.memory.memory_id for hit in found.hits]
        assert found.hits
        with pytest.raises(StoreCorrupt) as told:
            await engine.get(hurt, actor=ADA)
        assert told.value.reason == "store_corrupt:memory"
        with pytest.raises(StoreCorrupt):
            await engine.update(hurt, "Parcel 7 is here.", actor=ADA)
    assert {one.name for one in inspect(path).damaged_rows} == {hurt}
    with pytest.raises(StoreCorrupt, match=hurt):
        backup.take(path, tmp_path / "monday", START)
    async with engine_of(path) as engine:
        await engine.forget(hurt, actor=ADA)
    assert inspect(path).whole
    backup.take(path, tmp_path / "monday", START)


async def test_a_damaged_version_is_said_to_be_one(made: tuple[Path, dict[str, str]]) -> None:
    path, said = made
    spoil(path, b'"content":"Parcel 0 goes', b'"content":"Parcel 0 gaes')
    async with engine_of(path) as engine:
        told = [one.content for one in await engine.history(named(said, "Parcel 0 "), actor=ADA)]
        assert told == [DAMAGED, "Parcel 0 was lost at sea."]
        spoiled = await engine.erase("ada", actor=ADA)
        assert spoiled.complete


async def test_a_row_that_is_anothers_is_not_given_for_a_memory(made: tuple[Path, dict[str, str]]) -> None:
    path, said = made
    one, other = named(said, "Parcel 7 "), named(said, "Parcel 8 ")
    swapped = "SELECT body, checksum FROM memory WHERE memory_id = ?"
    ((body, checksum),) = sql(path, swapped, other)
    sql(path, "UPDATE memory SET body = ?, checksum = ? WHERE memory_id = ?", body, checksum, one)
    async with engine_of(path) as engine:
        for ask in (engine.get, engine.history):
            with pytest.raises(StoreCorrupt, match="store_corrupt:memory"):
                await ask(one, actor=ADA)
        assert (await engine.get(other, actor=ADA)).content == said[other]


async def test_an_index_that_gives_another_row_decides_nothing(tmp_path: Path) -> None:
    """By a damaged index of fingerprints or keys, a write would refresh or replace a memory that it does not mean."""
    path = tmp_path / "m.db"
    async with engine_of(path) as engine:
        first = await engine.add("The cat is called Miso.", actor=ADA)
        second = await engine.add("The dog is called Rex.", actor=ADA)
        diet = await engine.add("vegan", key="diet", actor=ADA)
        seat = await engine.add("aisle", key="seat", actor=ADA)
    for one, other in ((first, second), (diet, seat)):
        for column in ("fingerprint", "key"):
            names = (one.memory_id, other.memory_id)
            ((mine, theirs),) = sql(
                path,
                f"SELECT a.{column}, b.{column} FROM memory a, memory b WHERE a.memory_id = ? AND b.memory_id = ?",
                *names,
            )
            for value, memory_id in (("", names[0]), (mine, names[1]), (theirs, names[0])):
                sql(path, f"UPDATE memory SET {column} = ? WHERE memory_id = ?", value, memory_id)
    async with engine_of(path) as engine:
        with pytest.raises(StoreCorrupt, match="store_corrupt:memory"):
            await engine.add("The cat is called Miso.", actor=ADA)
        with pytest.raises(StoreCorrupt, match="store_corrupt:memory"):
            await engine.add("omnivore", key="diet", actor=ADA)
        assert {one.version for one in await engine.list(actor=ADA)} == {1}


async def test_pages_of_a_list_go_on_beyond_damaged_rows(made: tuple[Path, dict[str, str]]) -> None:
    path, said = made
    for number in range(8, 19):
        spoil(path, f'"content":"Parcel {number} '.encode(), f'"content":"Parcel {number}!'.encode())
    async with engine_of(path) as engine:
        seen, before = [], None
        while page := await engine.list(actor=ADA, limit=2, before=before):
            seen += [memory.content for memory in page]
            before = page[-1].memory_id
    assert len(seen) == len(said) - 11


async def test_pages_of_a_list_end_wherever_an_identifier_is_damaged(made: tuple[Path, dict[str, str]]) -> None:
    """In an index that is not in order any more, a page would lead back to the one before."""
    path, said = made
    whole, hurt = path.read_bytes(), named(said, "Parcel 12 ").encode()
    places = [place for place in range(len(whole)) if whole.startswith(hurt, place)]
    assert len(places) > 3
    for letter in (b"z", b"!"):
        for place in places:
            path.write_bytes(whole[:place] + letter + whole[place + 1 :])
            seen: list[str] = []
            async with engine_of(path) as engine:
                before = None
                while len(seen) <= len(said) and (page := await engine.list(actor=ADA, limit=3, before=before)):
                    seen += [memory.memory_id for memory in page]
                    before = page[-1].memory_id
            assert len(seen) == len(set(seen)), place
            assert len(said) - 1 <= len(seen) <= len(said), place


async def test_a_program_is_told_that_a_memory_could_not_be_read(made: tuple[Path, dict[str, str]]) -> None:
    path, _ = made
    spoil(path, b'"content":"Parcel 7 ', b'"content":"Parcel 8 ')
    async with engine_of(path) as engine:
        block = await engine.context("Where does parcel 7 go?", actor=ADA)
        assert (block.degraded, block.reason) == (True, "source:memory")
        assert "Parcel" in block.text
        assert await engine.count(actor=ADA) == len(await engine.list(actor=ADA, limit=99))
        hurt = next(one.name for one in await engine.store.find_damage(ADA.tenant))
        await engine.forget(hurt, actor=ADA)
        assert not (await engine.context("Where does parcel 7 go?", actor=ADA)).degraded


async def test_the_same_statement_again_is_refused_and_says_why(made: tuple[Path, dict[str, str]]) -> None:
    path, _ = made
    spoil(path, b'"content":"Parcel 7 ', b'"content":"Parcel 8 ')
    async with engine_of(path) as engine:
        with pytest.raises(StoreCorrupt):
            await engine.add("Parcel 7 goes to town 49 by ship.", actor=ADA)
        assert (await engine.add("A new parcel is here.", actor=ADA)).memory_id


async def test_a_damaged_memory_is_erased_with_the_others(made: tuple[Path, dict[str, str]]) -> None:
    path, _ = made
    spoil(path, b'"content":"Parcel 7 ', b'"content":"Parcel 8 ')
    async with engine_of(path) as engine:
        assert (await engine.erase("ada", actor=ADA)).complete
    assert b"Parcel 8 " not in path.read_bytes()


async def test_a_damaged_key_gives_way_to_what_is_said_next(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    async with engine_of(path) as engine:
        await engine.add("vegan", key="diet", actor=ADA)
    spoil(path, b'"content":"vegan"', b'"content":"vigan"')
    async with engine_of(path) as engine:
        await engine.add("omnivore", key="diet", actor=ADA)
        assert [memory.content for memory in await engine.list(actor=ADA)] == ["omnivore"]
    assert sql(path, "SELECT count(*) FROM memory WHERE status = 'active'") == [(1,)]
    assert DAMAGED not in str(sql(path, "SELECT body FROM memory WHERE status = 'active'"))


async def test_a_damaged_vector_costs_nothing_else(made: tuple[Path, dict[str, str]]) -> None:
    path, said = made
    sql(path, "UPDATE memory_search SET vector = zeroblob(length(vector)) WHERE row_id % 2")
    async with engine_of(path) as engine:
        found = await engine.search("Parcel 7 goes to town 49 by ship.", actor=ADA)
        assert found.hits[0].memory.content == "Parcel 7 goes to town 49 by ship."
        assert len(await engine.list(actor=ADA, limit=100)) == len(said)
    assert {one.table for one in inspect(path).damaged_rows} == {"memory_search"}


@pytest.mark.parametrize(
    ("table", "statement"),
    [
        ("memory", "UPDATE memory SET status = 'superseded' WHERE row_id = (SELECT max(row_id) FROM memory)"),
        ("memory", "UPDATE memory SET body = '[]' WHERE row_id = (SELECT max(row_id) FROM memory)"),
        ("memory_search", "UPDATE memory_search SET content = x'00' WHERE row_id = (SELECT max(row_id) FROM memory)"),
        ("memory_search", "DELETE FROM memory_search WHERE row_id = (SELECT max(row_id) FROM memory)"),
        ("memory_version", "UPDATE memory_version SET body = replace(body, 'ship', 'shop')"),
        ("tenant", "UPDATE tenant SET secret = zeroblob(32)"),
        ("mark", "INSERT INTO mark VALUES ('acme', 'n', 'v', 1)"),
        ("request", "INSERT INTO request VALUES ('acme', 'k', 'd', '{}', 1, 1)"),
    ],
)
async def test_each_table_is_looked_at(made: tuple[Path, dict[str, str]], table: str, statement: str) -> None:
    path, _ = made
    assert inspect(path).whole
    sql(path, statement)
    assert {one.table for one in inspect(path).damaged_rows} == {table}


async def test_damaged_marks_requests_and_secrets_are_not_believed(made: tuple[Path, dict[str, str]]) -> None:
    path, _ = made
    sql(path, "INSERT INTO mark VALUES ('acme', 'n', 'v', 1)")
    sql(path, "INSERT INTO request VALUES ('acme', 'k', 'd', '{}', 1, 1)")
    sql(path, "UPDATE tenant SET secret = zeroblob(32)")
    store = SqliteStore(path)
    await store.open(None)
    for call in (
        store.marks("acme", "n"),
        store.transact(lambda tx: tx.find_mark("acme", "n")),
        store.transact(lambda tx: tx.find_request("acme", "k")),
        store.secret("acme"),
    ):
        with pytest.raises(StoreCorrupt):
            await call
    await store.close()


async def test_a_page_of_nonsense_is_said_to_be_damage(made: tuple[Path, dict[str, str]]) -> None:
    path, _ = made
    store = SqliteStore(path)
    await store.open(None)

    async def confused(_: object) -> None:
        raise TypeError("a number where a text should be")

    with pytest.raises(TypeError):
        await store.read(confused)
    with pytest.raises(TypeError):
        await store.transact(confused)
    sql(path, "PRAGMA writable_schema = 1; UPDATE sqlite_schema SET rootpage = 99999 WHERE name = 'outbox'")
    await store.close()
    store = SqliteStore(path)
    try:
        await store.open(None)
        with pytest.raises(StoreCorrupt):
            await store.read(confused)
    except MnemicError as error:
        assert isinstance(error, StoreCorrupt)  # noqa: PT017 - which of the two notices is SQLite's affair
    await store.close()


@pytest.mark.parametrize("page", [1, 2, 5])
async def test_salvage_needs_no_page_but_those_of_the_rows(
    made: tuple[Path, dict[str, str]], tmp_path: Path, page: int
) -> None:
    path, said = made
    data = bytearray(path.read_bytes())
    data[(page - 1) * 4096 : page * 4096] = bytes(4096)
    path.write_bytes(data)
    told = salvage(path, tmp_path / "saved.db")
    found = examine(tmp_path / "saved.db", outbox_emptied=True)
    assert found.damage == ()
    assert {memory_id: one.content for memory_id, one in found.memories.items()} == said
    assert told.counts["memory"] == len(said)
    async with engine_of(tmp_path / "saved.db") as engine:
        found_again = await engine.search("Where does parcel 7 go?", actor=ADA)
        assert found_again.hits[0].memory.content == "Parcel 7 goes to town 49 by ship."


async def test_salvage_of_a_whole_file_loses_nothing(made: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    path, said = made
    told = salvage(path, tmp_path / "saved.db")
    assert (told.damaged, told.without_vector, told.broken_audit) == ([], 0, 0)
    assert inspect(tmp_path / "saved.db").whole
    for table in ("memory", "memory_version", "audit", "tenant", "request", "mark", "facet", "graph_node", "usage"):
        whole = f"SELECT * FROM {table} ORDER BY 1, 2, 3"
        whole = whole if table != "tenant" else "SELECT * FROM tenant"
        assert sql(tmp_path / "saved.db", whole) == sql(path, whole), table
    assert told.as_dict()["counts"]["memory"] == len(said)


async def test_salvage_reads_a_log_that_was_never_played_in(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    engine = engine_of(path)
    await engine.open()
    await engine.add("The cat is called Miso.", actor=ADA)
    copy = tmp_path / "copy.db"
    for name in ("m.db", "m.db-wal"):
        (tmp_path / name.replace("m.db", "copy.db")).write_bytes((tmp_path / name).read_bytes())
    await engine.close()
    assert (tmp_path / "copy.db-wal").stat().st_size
    assert salvage(copy, tmp_path / "saved.db").counts["memory"] == 1


async def test_salvage_names_what_it_leaves_out(made: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    path, said = made
    spoil(path, b'"content":"Parcel 7 ', b'"content":"Parcel 8 ')
    spoil(path, b'"content":"Parcel 0 goes', b'"content":"Parcel 0 comes'[:-1])
    told = salvage(path, tmp_path / "saved.db")
    assert told.damaged == [named(said, "Parcel 7 "), f"{named(said, 'Parcel 0 ')} version 1"]
    assert told.counts["memory"] == len(said) - 1


async def test_salvage_finds_a_scope_by_its_index(made: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    path, said = made
    data = path.read_bytes()
    first = data.find(b"acmeuserada")
    path.write_bytes(data[:first] + b"acmeuserads" + data[first + 11 :])
    assert salvage(path, tmp_path / "saved.db").counts["memory"] == len(said)


@pytest.mark.parametrize("number", [b"\x01", b"\x7f"])
async def test_salvage_gives_a_row_with_a_damaged_number_another(
    made: tuple[Path, dict[str, str]], tmp_path: Path, number: bytes
) -> None:
    """The number of another row, or one that the scope has not come to yet, which the next memory would want."""
    path, said = made
    data = bytearray(path.read_bytes())
    wanted = re.compile(rb"\x90\x80\x80\x80(.).{20,26}acme" + named(said, "Parcel 12 ").encode(), re.DOTALL)
    (place,) = (found.start(1) for found in wanted.finditer(data))
    data[place : place + 1] = number
    path.write_bytes(data)
    told = salvage(path, tmp_path / "saved.db")
    assert (told.counts["memory"], told.damaged) == (len(said), [])
    assert told.without_vector == (2 if number == b"\x01" else 1)
    assert inspect(tmp_path / "saved.db").whole
    async with engine_of(tmp_path / "saved.db") as engine:
        await engine.add_many([Candidate(content=f"A letter came on day {day}.") for day in range(120)], actor=ADA)
        assert await engine.count(actor=ADA) == len(said) + 120
        assert (await engine.get(named(said, "Parcel 12 "), actor=ADA)).content.startswith("Parcel 12 ")


async def test_salvage_takes_one_of_two_rows_that_say_the_same(
    made: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    """A row that was removed may still be found in its page."""
    path, said = made
    ((body,),) = sql(path, "SELECT body FROM memory WHERE memory_id = ?", named(said, "Parcel 7 "))
    other = str(body).replace(named(said, "Parcel 7 "), named(said, "Parcel 8 "))
    statement = "UPDATE memory SET body = ?, checksum = ? WHERE memory_id = ?"
    sql(path, statement, other, body_check("acme", "user", "ada", other), named(said, "Parcel 8 "))
    told = salvage(path, tmp_path / "saved.db")
    assert told.counts["memory"] == len(said) - 1


async def test_what_salvage_cannot_use_is_said(made: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    path, _ = made
    with pytest.raises(InvalidInput, match="salvage:exists"):
        salvage(path, path)
    with pytest.raises(InvalidInput, match="salvage:unwritable"):
        salvage(path, tmp_path / "none" / "saved.db")
    with pytest.raises(StoreUnavailable, match="missing"):
        salvage(tmp_path / "none.db", tmp_path / "saved.db")
    (tmp_path / "nonsense").write_bytes(json.dumps(list(range(5000))).encode())
    with pytest.raises(StoreUnavailable, match="empty"):
        salvage(tmp_path / "nonsense", tmp_path / "saved.db")
    assert list(records(tmp_path / "nonsense")) == []


async def test_examined_names_a_row_that_cannot_be_read(made: tuple[Path, dict[str, str]]) -> None:
    path, _ = made
    connection = apsw.Connection(str(path))
    connection.execute(
        "UPDATE memory SET memory_id = CAST(x'ff' AS TEXT) WHERE row_id = (SELECT min(row_id) FROM memory)"
    )
    ((row_id,),) = connection.execute("SELECT min(row_id) FROM memory").fetchall()
    names = {(one.table, one.name) for one in find_damage(connection)}
    connection.close()
    assert ("memory", f"row {row_id}") in names


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE memory SET happened_at = 9223372036854775807 WHERE row_id = (SELECT min(row_id) FROM memory)",
        "UPDATE memory SET body = 'x', memory_id = 'zz' WHERE row_id = (SELECT min(row_id) FROM memory)",
    ],
)
async def test_columns_of_nonsense_end_neither_a_search_nor_never(
    made: tuple[Path, dict[str, str]], statement: str
) -> None:
    path, said = made
    sql(path, statement)
    async with engine_of(path) as engine:
        found = await engine.search("Parcel 7 goes to town 49 by ship.", actor=ADA)
        assert found.hits[0].memory.content == "Parcel 7 goes to town 49 by ship."
        assert len(await engine.list(actor=ADA, limit=len(said))) >= len(said) - 1
        assert len(await engine.list(actor=ADA, limit=1)) == 1
    assert inspect(path).damaged_rows
