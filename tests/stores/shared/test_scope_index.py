"""The index of one scope, against plain arithmetic."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.stores import columns, scope_index
from mnemic.stores.codec import CUES
from mnemic.stores.scope_index import CARRIED, IndexEntry, ScopeIndex
from mnemic.testing.record_store import EMBEDDER, scope
from mnemic.types import Scored, Vector, Where

WHERE = Where(scopes=(scope(),))


def entry(
    number: int, *, row: int | None = None, content: tuple[int, ...] = (1,), status: str = "active"
) -> IndexEntry:
    return IndexEntry(
        row_id=row or number,
        memory_id=f"id{number:06}",
        kind="long_term",
        status=status,
        key=None,
        category=None,
        happened_at=number * 1_000_000,
        began_at=0,
        ended_at=None,
        expires_at=None,
        vector=EMBEDDER.vector(f"number {number}"),
        content=array("I", content).tobytes(),
        context=b"",
        session=None,
        turn=None,
        speaker=None,
        cues=CUES.pack(1, 0.0, False, False),
    )


def test_a_changed_memory_is_counted_once() -> None:
    index = ScopeIndex(64)
    index.put([entry(1, content=(5, 6)), entry(2, content=(5,))])
    before = index.match(WHERE, [6], limit=9)
    index.put([entry(1, content=(5, 6))])
    assert len(index) == 2
    assert index.match(WHERE, [6], limit=9) == before
    index.put([entry(1, content=(5, 6), status="superseded")])
    assert [scored.memory_id for scored in index.match(WHERE, [5], limit=9)] == ["id000002"]


def test_what_is_not_kept_is_gone() -> None:
    index = ScopeIndex(64)
    index.put([entry(number) for number in range(1, 6)])
    index.keep([2, 4, 99])
    assert [scored.memory_id for scored in index.recent(WHERE, limit=9)] == ["id000004", "id000002"]
    assert len(index.nearest(WHERE, EMBEDDER.vector("number 1"), limit=9)) == 2


def test_a_small_scope_that_changes_often_does_not_grow_its_index() -> None:
    index = ScopeIndex(64)
    index.put([entry(1)])
    for _ in range(CARRIED + 2):
        assert not index.wasteful
        index.put([entry(1)])
    assert index.wasteful


def test_an_empty_index_answers() -> None:
    index = ScopeIndex(64)
    assert index.nearest(WHERE, EMBEDDER.vector("x"), limit=3) == []
    assert index.match(WHERE, [1], limit=3) == []
    assert index.recent(WHERE, limit=3) == []


def test_memory_in_use_grows_with_what_is_held() -> None:
    index = ScopeIndex(64)
    empty = index.nbytes
    index.put([entry(number) for number in range(1, 1001)])
    assert index.nbytes - empty > 1000 * 64 * 4


def test_a_large_index_answers_as_an_exact_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope_index, "EXACT_UP_TO", 300)
    monkeypatch.setattr(columns, "_LEAST", 200)
    index = ScopeIndex(64)
    index.put([entry(number) for number in range(1, 401)])
    small = index.nbytes
    asked = EMBEDDER.vector("number 17")
    assert index.nearest(WHERE, asked, limit=1) == index.find_near(WHERE, asked, limit=1, at_least=0.5)
    assert index.nbytes > small, "the sketch is made when it is needed, and counted"
    index.put([entry(number) for number in range(401, 420)])
    assert index.nearest(WHERE, EMBEDDER.vector("number 415"), limit=1)[0].memory_id == "id000415"
    assert len(index.nearest(WHERE, asked, limit=350)) == 350, "never fewer than there are"


def test_what_is_near_is_the_same_whether_it_was_expected_or_not() -> None:
    index, plain = ScopeIndex(64), ScopeIndex(64)
    entries = [entry(number) for number in range(1, 401)]
    asked = [EMBEDDER.vector(f"number {number}") for number in (3, 17, 399, 555)]
    for one in (index, plain):
        one.put(entries)
    before = index.nbytes
    index.expect(asked, 0.6)
    assert index.nbytes > before
    for one in (index, plain):
        one.put([entry(number) for number in range(401, 700)])
        one.put([entry(701, row=17), entry(3, status="superseded")])
        one.keep([number for number in range(1, 702) if number != 399])
    found = []
    for vector in asked:
        for at_least in (0.6, 0.9):
            for limit in (1, 50):
                found.append(index.find_near(WHERE, vector, limit=limit, at_least=at_least))
                assert found[-1] == plain.find_near(WHERE, vector, limit=limit, at_least=at_least)
                nearest = plain.nearest(WHERE, vector, limit=limit)
                assert found[-1] == [one for one in nearest if one.score >= at_least]
    assert any(found)
    assert index.find_near(WHERE, asked[0], limit=500, at_least=0.0) == [
        one for one in plain.nearest(WHERE, asked[0], limit=500) if one.score >= 0.0
    ], "a lower bound than what was expected is looked for anew"


def test_of_the_vectors_expected_the_latest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "MAX_VECTORS", 2)
    index = ScopeIndex(64)
    index.put([entry(number) for number in range(1, 101)])
    vectors = [EMBEDDER.vector(f"number {number}") for number in range(1, 5)]
    index.expect(vectors, 0.6)
    known = [index._expected.find_near(vector, 0.6, 100) is not None for vector in vectors]
    assert known == [False, False, True, True]


@pytest.mark.parametrize("rows_at_a_time", [7, 4096])
def test_of_many_that_are_near_the_nearest_are_kept_and_the_answers_stay(
    monkeypatch: pytest.MonkeyPatch, rows_at_a_time: int
) -> None:
    monkeypatch.setattr(columns, "_MAX_NEAR", 20)
    monkeypatch.setattr(columns, "_ROWS", rows_at_a_time)
    index, plain = ScopeIndex(64), ScopeIndex(64)
    asked = [EMBEDDER.vector(f"number {number}") for number in (3, 17, 999)]
    for one in (index, plain):
        one.put([entry(number) for number in range(1, 301)])
    index.expect(asked, -1.0)
    for vector in asked:
        known = index._expected.find_near(vector, -1.0, 300)
        assert known is not None
        assert len(known[0]) == 20
    for one in (index, plain):
        one.put([entry(number) for number in range(301, 340)])
        one.put([entry(17, status="superseded"), entry(400, row=18)])
    for vector in asked:
        for limit in (1, 10, 20, 200):
            for at_least in (-1.0, 0.3):
                found = index.find_near(WHERE, vector, limit=limit, at_least=at_least)
                assert found == plain.find_near(WHERE, vector, limit=limit, at_least=at_least)


class Rows:
    """The vectors of rows as a store has them, and how many it was asked for."""

    def __init__(self) -> None:
        self.vectors: dict[int, Vector | None] = {}
        self.asked = 0

    def put(self, entries: Sequence[IndexEntry]) -> None:
        self.vectors |= {one.row_id: one.vector for one in entries}

    def read(self, row_ids: Sequence[int]) -> list[Vector | None]:
        self.asked += len(row_ids)
        return [self.vectors.get(row_id) for row_id in row_ids]


def test_a_large_index_keeps_no_vectors_where_it_can_read_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope_index, "EXACT_UP_TO", 300)
    kept, lean, rows = ScopeIndex(64), ScopeIndex(64, rereads=True), Rows()
    entries = [entry(number) for number in range(1, 2001)]
    rows.put(entries)
    for index in (kept, lean):
        index.put(entries)
    assert kept.nbytes - lean.nbytes > 1900 * 64 * 4
    asked = EMBEDDER.vector("number 17")
    found = lean.nearest(WHERE, asked, limit=5, read=rows.read)
    exact = kept.find_near(WHERE, asked, limit=2000, at_least=-1.0)
    assert found[0] == exact[0]
    assert set(found) < set(exact)
    assert 500 <= rows.asked <= 505, "a fourth is worth multiplying out"
    near = lean.find_near(WHERE, asked, limit=5, at_least=0.99, read=rows.read)
    assert near == exact[:1]
    lean.expect([asked], 0.99)
    assert lean.find_near(WHERE, asked, limit=5, at_least=0.99, read=rows.read) == near
    assert len(lean.nearest(WHERE, asked, limit=1999, read=rows.read)) == 1999, "never fewer than there are"
    lean.keep([number for number in range(1, 2001) if number != 17])
    assert "id000017" not in {one.memory_id for one in lean.nearest(WHERE, asked, limit=2000, read=rows.read)}
    del rows.vectors[18]
    assert len(lean.nearest(WHERE, asked, limit=2000, read=rows.read)) == 1998, "a row that is gone has no vector"


def test_a_large_index_without_any_vector_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope_index, "EXACT_UP_TO", 3)
    lean = ScopeIndex(64, rereads=True)
    lean.put([entry(number)._replace(vector=None) for number in range(1, 10)])
    assert lean.nearest(WHERE, EMBEDDER.vector("x"), limit=3, read=Rows().read) == []
    assert len(lean.recent(WHERE, limit=20)) == 9


def test_an_index_that_has_shrunk_is_exact_and_wants_to_be_built_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope_index, "EXACT_UP_TO", 300)
    lean, rows = ScopeIndex(64, rereads=True), Rows()
    entries = [entry(number) for number in range(1, 400)]
    rows.put(entries)
    lean.put(entries)
    lean.keep(range(1, 301))
    assert not lean.wasteful
    lean.nearest(WHERE, EMBEDDER.vector("number 17"), limit=1, read=rows.read)
    assert rows.asked == 300
    lean.keep(range(1, 225))
    assert lean.wasteful


_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.lists(st.integers(1, 60), min_size=1, max_size=30, unique=True)),
        st.tuples(st.just("end"), st.lists(st.integers(1, 60), min_size=1, max_size=5, unique=True)),
        st.tuples(st.just("keep"), st.lists(st.integers(1, 60), max_size=60, unique=True)),
    ),
    min_size=1,
    max_size=8,
)


@given(steps=_STEPS, limit=st.integers(1, 40), sized=st.integers(0, 30))
def test_a_lean_index_says_what_a_whole_one_says_of_what_it_looks_at(
    steps: list[tuple[str, list[int]]], limit: int, sized: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scope_index, "EXACT_UP_TO", sized)
        patch.setattr(columns, "_LEAST", 6)
        patch.setattr(columns, "_FEWEST", 3)
        patch.setattr(columns, "_TIMES", 2)
        whole, lean, rows = ScopeIndex(64), ScopeIndex(64, rereads=True), Rows()
        stored: dict[int, IndexEntry] = {}
        for turn, (step, numbers) in enumerate(steps):
            if step == "keep":
                stored = {number: stored[number] for number in numbers if number in stored}
                for index in (whole, lean):
                    index.keep(numbers)
                rows.vectors = {number: rows.vectors[number] for number in stored}
                continue
            status = "active" if step == "put" else "superseded"
            changed = [entry(number, content=(number % 7, turn + 1), status=status) for number in numbers]
            stored |= {one.row_id: one for one in changed}
            rows.put(changed)
            for index in (whole, lean):
                index.put(changed)
        asked = EMBEDDER.vector("number 5")
        patch.setattr(scope_index, "EXACT_UP_TO", 10**6)
        exact = {one.memory_id: one.score for one in whole.nearest(WHERE, asked, limit=100)}
        patch.setattr(scope_index, "EXACT_UP_TO", sized)
        found = lean.nearest(WHERE, asked, limit=limit, read=rows.read)
        assert len(found) == min(limit, len(exact)), "never fewer"
        assert all(exact[one.memory_id] == one.score for one in found), "nothing that is gone, and no other score"
        assert found == sorted(found, key=lambda one: (one.score, one.memory_id), reverse=True)
        for words in ([1, 2], [5]):
            assert lean.match(WHERE, words, limit=limit) == whole.match(WHERE, words, limit=limit)
        assert lean.recent(WHERE, limit=limit) == whole.recent(WHERE, limit=limit)
        named = [one.memory_id for one in stored.values()]
        assert lean.signals(["none", *named]) == whole.signals([*named])
        assert len(lean) == len(stored)


def test_times_that_few_memories_have_count_as_they_do_in_a_filter() -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)

    def at(hours: int) -> int:
        return (int(moment.timestamp()) + 3600 * hours) * 1_000_000

    index = ScopeIndex(64)
    plain = [entry(number)._replace(happened_at=at(0), began_at=at(0)) for number in range(1, 5)]
    index.put(plain[:1])
    index.put(
        [plain[1]._replace(expires_at=at(1)), plain[2]._replace(began_at=at(2)), plain[3]._replace(ended_at=at(2))]
    )

    def found(where: Where) -> set[str]:
        recent: list[Scored] = index.recent(where, limit=9)
        return {one.memory_id[-1] for one in recent}

    hour = timedelta(hours=1)
    scopes = WHERE.scopes
    assert found(Where(scopes=scopes, live_at=moment)) == set("1234")
    assert found(Where(scopes=scopes, live_at=moment + hour)) == set("134"), "it expires at its very moment"
    assert found(Where(scopes=scopes, as_of=moment + hour)) == set("124")
    assert found(Where(scopes=scopes, as_of=moment + 2 * hour)) == set("123"), "began, and ended, at their moments"
