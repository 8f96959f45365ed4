"""An index that is taken over from its image answers as the one it was made of, and goes on as that one does."""

from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.stores import scope_index
from mnemic.stores.codec import CUES
from mnemic.stores.scope_index import IndexEntry, ScopeIndex, UnusableImage, read_image, write_image
from mnemic.testing.record_store import EMBEDDER, scope
from mnemic.types import Where

EVERYTHING = Where(scopes=(scope(),))
MARK = {"mark": "1", "dimension": EMBEDDER.space.dimension}


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope_index, "EXACT_UP_TO", 20)


def entry(number: int, *, version: int = 0) -> IndexEntry:
    return IndexEntry(
        row_id=number,
        memory_id=f"{number:032x}" if number % 7 else f"odd {number}",
        kind="long_term" if number % 2 else "preference",
        status="superseded" if version % 2 else "active",
        key=f"key-{number % 5}" if number % 3 else None,
        category=None if number % 4 else "work",
        happened_at=number * 10**9,
        began_at=number * 10**9 - (number % 3),
        ended_at=number * 10**9 + 5 if number % 6 == 0 else None,
        expires_at=None,
        vector=EMBEDDER.vector(f"number {number}") if number % 11 else None,
        content=b"".join(term.to_bytes(4, "little") for term in (number % 9 + 1, number, number % 300 + 70_000)),
        context=(number % 4).to_bytes(4, "little"),
        session=f"session {number % 3}",
        turn=number if number % 2 else None,
        speaker=f"speaker {number % 200}",
        cues=CUES.pack(3, 0.5, number % 2 == 0, False),
    )


def filled(count: int) -> ScopeIndex:
    index = ScopeIndex(EMBEDDER.space.dimension, rereads=True)
    for first in range(1, count + 1, 10):
        index.put([entry(number) for number in range(first, min(first + 10, count + 1))])
    index.put([entry(number, version=1) for number in range(2, count, 5)])
    index.seen = count
    return index


def image(index: ScopeIndex) -> bytearray:
    file = BytesIO()
    write_image(index, file, MARK)
    return bytearray(file.getvalue())


def taken_over(data: bytearray) -> ScopeIndex:
    index = ScopeIndex(EMBEDDER.space.dimension, rereads=True)
    read_image(data, index, MARK)
    return index


def answers(index: ScopeIndex) -> list[object]:
    def again(rows: object) -> list[bytes | None]:
        return [entry(row).vector for row in rows]  # type: ignore[attr-defined]

    wheres = [
        EVERYTHING,
        Where(scopes=(scope(),), kinds=frozenset({"preference"})),
        Where(scopes=(scope(),), keys=frozenset({"key-1"})),
    ]
    told: list[object] = [len(index), index.seen, index.speakers()]
    for where in wheres:
        told += [index.nearest(where, EMBEDDER.vector(f"number {number}"), limit=9, read=again) for number in (3, 40)]
        told += [index.match(where, [term, 70_003], limit=9) for term in (1, 4, 33)]
        told.append(index.recent(where, limit=9))
    return told


def test_it_answers_as_the_index_it_was_made_of_and_goes_on_as_that_does() -> None:
    index = filled(120)
    copy = taken_over(image(index))
    assert answers(copy) == answers(index)
    for one in (index, copy):
        one.put([entry(number, version=2) for number in range(100, 160)])
        one.keep(range(5, 150))
    assert answers(copy) == answers(index)
    assert answers(taken_over(image(copy))) == answers(index)


def test_one_that_keeps_its_vectors_has_them_in_its_image(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope_index, "EXACT_UP_TO", 500)
    index = filled(60)
    assert answers(taken_over(image(index))) == answers(index)


def test_another_mark_is_refused() -> None:
    data = image(filled(30))
    with pytest.raises(UnusableImage):
        read_image(data, ScopeIndex(EMBEDDER.space.dimension, rereads=True), MARK | {"mark": "2"})


WHOLE = []


@settings(max_examples=200)
@given(st.data())
def test_a_changed_or_missing_byte_is_refused_or_means_nothing(data: st.DataObject) -> None:
    if not WHOLE:
        WHOLE.append(image(filled(40)))
    spoilt = bytearray(WHOLE[0])
    at = data.draw(st.integers(0, len(spoilt) - 1))
    if data.draw(st.booleans()):
        spoilt[at] ^= data.draw(st.integers(1, 255))
    else:
        del spoilt[at:]
    try:
        index = taken_over(spoilt)
    except UnusableImage:
        return
    assert answers(index) == answers(filled(40))  # the byte was between two columns
