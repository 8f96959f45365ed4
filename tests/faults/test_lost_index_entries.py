"""A row whose entry in an index is gone: `doctor` names it, and salvage makes the entry again."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from mnemic.operations.sqlite.inspection import inspect
from mnemic.operations.sqlite.salvage import salvage
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.types import Kind, Memory, Where
from mnemic.types.facets import value_facet

LAST = "(SELECT max(row_id) FROM memory)"


async def filled(path: Path) -> Memory:
    """The last of three memories, one with data of two fields."""
    store = SqliteStore(path)
    await store.open(EMBEDDER.space)
    seat = memory("a seat", kind=Kind.STRUCTURED, data={"row": 1, "letter": "A"})
    await remember(store, memory("tea"), memory("coffee"), seat)
    await store.close()
    return seat


async def found(path: Path) -> tuple[list[Memory], list[Memory]]:
    """What is listed, and what is found by a field."""
    store = SqliteStore(path)
    await store.open(EMBEDDER.space)
    where = Where(scopes=(scope(),))
    listed = await store.newest(where, limit=9)
    by_field = await store.newest(where, limit=9, facets=[frozenset({value_facet("row", 1)})])
    await store.close()
    return list(listed), list(by_field)


def lose_entry(path: Path, index: str) -> None:
    """Take the last row out and put it back while the index is not known."""
    connection = apsw.Connection(str(path))
    connection.execute(f"CREATE TEMP TABLE kept AS SELECT * FROM memory WHERE row_id = {LAST}")
    connection.execute("DELETE FROM memory WHERE row_id IN (SELECT row_id FROM kept)")
    row = connection.execute("SELECT * FROM sqlite_schema WHERE name = ?", (index,)).fetchone()
    assert row
    connection.pragma("writable_schema", True)
    connection.execute("DELETE FROM sqlite_schema WHERE name = ?", (index,))
    connection.pragma("writable_schema", "RESET")
    connection.execute("INSERT INTO memory SELECT * FROM kept")
    connection.pragma("writable_schema", True)
    connection.execute("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", row)
    connection.pragma("writable_schema", "RESET")
    connection.close()


@pytest.mark.parametrize("index", ["memory_by_age", "memory_by_id", "memory_by_change"])
async def test_a_row_that_an_index_does_not_name_is_noticed_and_found_again(tmp_path: Path, index: str) -> None:
    path = tmp_path / "m.db"
    seat = await filled(path)
    assert inspect(path).whole
    lose_entry(path, index)
    assert any(f"missing from index {index}" in line for line in inspect(path).damage)
    salvage(path, tmp_path / "saved.db")
    assert inspect(tmp_path / "saved.db").whole
    listed, by_field = await found(tmp_path / "saved.db")
    assert (len(listed), by_field) == (3, [seat])


@pytest.mark.parametrize("lost", ["", " LIMIT 1"], ids=["all", "one"])
async def test_a_field_by_which_nothing_is_found_is_noticed_and_found_again(tmp_path: Path, lost: str) -> None:
    path = tmp_path / "m.db"
    seat = await filled(path)
    connection = apsw.Connection(str(path))
    connection.execute(f"DELETE FROM facet WHERE (scope_id, facet) IN (SELECT scope_id, facet FROM facet{lost})")
    connection.close()
    (damage,) = inspect(path).damaged_rows
    assert (damage.table, damage.name) == ("facet", seat.memory_id)
    salvage(path, tmp_path / "saved.db")
    assert inspect(tmp_path / "saved.db").whole
    assert (await found(tmp_path / "saved.db"))[1] == [seat]


async def test_a_memory_from_before_there_were_facets_has_one_for_all(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    await filled(path)
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TEMP TABLE before AS SELECT DISTINCT scope_id, 0, memory_id, row_id FROM facet")
    connection.execute("DELETE FROM facet")
    connection.execute("INSERT INTO facet SELECT * FROM before")
    connection.close()
    assert inspect(path).whole
