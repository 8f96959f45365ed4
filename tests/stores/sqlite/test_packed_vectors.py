"""Vectors take half the room in a file, and come out of it as they went in."""

from __future__ import annotations

from array import array
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.engine import MemoryEngine
from mnemic.stores.codec import packed_vector, unpacked_vector
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.types import Actor, Vector
from mnemic.types.values import VECTOR_STEPS
from mnemic.write.prepare import round_vectors

ANA = Actor(user="ana")
VALUES = st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=40)


@given(VALUES)
def test_what_is_rounded_takes_half_the_room_and_comes_back(values: list[float]) -> None:
    (vector,) = round_vectors([array("f", values).tobytes()])
    packed = packed_vector(vector)
    assert packed is not None
    assert len(packed) == 2 * len(values) + 1
    assert unpacked_vector(packed) == vector
    assert all(abs(one - other) <= 1 / VECTOR_STEPS for one, other in zip(array("f", vector), values, strict=True))


@given(VALUES)
def test_any_other_vector_comes_back_to_the_byte(values: list[float]) -> None:
    vector = array("f", values).tobytes()
    assert unpacked_vector(packed_vector(vector)) == vector


@pytest.mark.parametrize("values", [[1.0, 0.0], [-0.0, -1.0], [0.1, 0.2]])
def test_what_steps_do_not_say_exactly_stays_as_it_is(values: list[float]) -> None:
    vector = array("f", values).tobytes()
    assert packed_vector(vector) == vector


UNIT = array("f", [value / (385 * 384 * 769 / 6) ** 0.5 for value in range(1, 385)]).tobytes()


class Unrounded(WordEmbedder):
    """Its vectors are those of a model: of any value."""

    def vector(self, text: str) -> Vector:
        """Return the same vector for every text."""
        return UNIT


async def test_a_written_vector_is_packed_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    embedder = Unrounded()
    async with MemoryEngine(store=SqliteStore(path), embedder=embedder) as engine:
        receipt = await engine.add("The heron is on the roof", actor=ANA)
        kept = await engine.get(str(receipt.memory_id), actor=ANA)
        assert kept is not None
        assert [kept.vector] == round_vectors([UNIT])
        found = await engine.search("heron", actor=ANA)
        assert [hit.memory.memory_id for hit in found.hits] == [receipt.memory_id]
    with apsw.Connection(str(path)) as connection:
        lengths = connection.execute("SELECT length(vector) FROM memory_search").fetchall()
    assert lengths == [(2 * embedder.space.dimension + 1,)]


async def test_rows_of_before_and_packed_ones_are_searched_alike(tmp_path: Path) -> None:
    """Vectors of before lie in the file as float32; beyond 128 rows both go through the index."""
    path = tmp_path / "m.db"
    store = SqliteStore(path)
    await store.open(EMBEDDER.space)
    texts = [f"Parcel {number} goes to town {number * 7}" for number in range(150)]
    for text in texts:
        await remember(store, memory(text))
    packed = [
        memory(text, vector=round_vectors([EMBEDDER.vector(text)])[0]) for text in ("The heron sings", "The owl hoots")
    ]
    await remember(store, *packed)
    assert packed[0].vector is not None
    found = await store.transact(lambda tx: tx.nearest(scope(), packed[0].vector or b"", limit=1, at_least=0.5))
    assert [one.memory_id for one, _ in found] == [packed[0].memory_id]
    assert (await store.get_many([packed[1].memory_id], scopes=[scope()]))[packed[1].memory_id] == packed[1]
    await store.close()
