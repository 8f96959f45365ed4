"""A page of rows becomes entries column by column, with the same result as row by row."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

from mnemic.stores.encryption import Sealer
from mnemic.stores.sqlite import SqliteStore, indexes
from mnemic.stores.sqlite.rows import HashedTerms, Rows
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.testing.record_store.fixtures import START
from mnemic.types import Kind, Memory, Origin, Source, Where
from mnemic.write.prepare import round_vectors

ROWS, SIZE = 40, 4 * EMBEDDER.space.dimension


def told(number: int) -> Memory:
    """A memory unlike the others: with and without a vector, packed or not, with a speaker, a key, an end."""
    text = f"Parcel {number} goes to town {number * 7}"
    further: list[dict[str, Any]] = [
        {"vector": round_vectors([EMBEDDER.vector(text)])[0]},
        {"key": f"parcel.{number}", "expires_at": START + timedelta(days=number + 1)},
        {"kind": Kind.EPISODIC, "source": Source(origin=Origin.IMPORT, session="s", speaker="Zoë")},
        {"vector": None},
    ]
    return memory(text, fingerprint=f"f{number}", **further[number % len(further)])


async def rows_of(path: Path, *, alike: bool = False) -> list[tuple[Any, ...]]:
    """The rows of a page as the index reads them."""
    store = SqliteStore(path, durability="fast")
    await store.open(EMBEDDER.space)
    await remember(store, *(told(4 * number if alike else number) for number in range(ROWS)))
    await store.close()
    with apsw.Connection(str(path)) as connection:
        (place,) = connection.execute("SELECT scope_id FROM scope").fetchone() or ()
        (page,) = indexes._pages(connection, place)
    return page


def row_by_row(page: list[tuple[Any, ...]]) -> list[Any]:
    """The entries of a page of a file that is not sealed."""
    rows = Rows(HashedTerms(b"salt"), Sealer())
    with apsw.Connection(":memory:") as connection:
        return [indexes._entry(rows, connection, row, SIZE) for row in page]


@pytest.mark.parametrize("alike", [True, False])
async def test_a_page_by_columns_is_the_page_by_rows(tmp_path: Path, alike: bool) -> None:
    page = await rows_of(tmp_path / "m.db", alike=alike)
    by_columns = indexes._whole(page, SIZE)
    assert by_columns is not None
    assert len(by_columns) == ROWS
    assert by_columns == row_by_row(page)


COLUMNS = {"happened_at": 6, "vector": 10, "content": 11, "speaker": 15, "cues": 16, "vector_check": 17, "words": 18}


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("happened_at", None),
        ("happened_at", 1.5),
        ("happened_at", 1 << 62),
        ("vector", b"\0" * 769),
        ("vector", 7),
        ("content", b"\1\0\0\0"),
        ("content", None),
        ("speaker", "Zoe"),
        ("cues", b""),
        ("vector_check", None),
        ("words", None),
        ("words", 12),
    ],
)
async def test_a_page_with_a_row_that_is_not_whole_is_read_row_by_row(
    tmp_path: Path, column: str, value: object
) -> None:
    page = await rows_of(tmp_path / "m.db", alike=True)
    other = list(page[17])
    other[COLUMNS[column]] = value
    page[17] = tuple(other)
    assert indexes._whole(page, SIZE) is None


async def test_one_damaged_vector_costs_its_page_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    await rows_of(path)
    with apsw.Connection(str(path)) as connection:
        rows = connection.execute("SELECT row_id FROM memory ORDER BY row_id").fetchall()
        connection.execute("UPDATE memory_search SET vector = zeroblob(9) WHERE row_id = ?", rows[16])
    store = SqliteStore(path)
    await store.open(EMBEDDER.space)
    asked = EMBEDDER.vector("Parcel 20 goes to town 140")
    found = await store.read(lambda snapshot: snapshot.nearest(Where(scopes=(scope(),)), asked, limit=ROWS))
    assert len(found) == 3 * ROWS // 4 - 1
    await store.close()
