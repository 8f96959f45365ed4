"""The index of one scope, against plain arithmetic."""

from __future__ import annotations

import random
from array import array
from collections import Counter

import numpy as np
import pytest

from mnemic.stores import expected, scope_index, sketch
from mnemic.stores.codec import CUES
from mnemic.stores.growing import Growing
from mnemic.stores.scope_index import Entry, Postings, ScopeIndex
from mnemic.testing.record_store import EMBEDDER, scope
from mnemic.text.bm25 import Bm25
from mnemic.types import Where

WHERE = Where(scopes=(scope(),))


def entry(number: int, *, row: int | None = None, content: tuple[int, ...] = (1,), status: str = "active") -> Entry:
    return Entry(
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


def test_arrays_grow_by_any_steps() -> None:
    growing, expected = Growing(np.int64), list[int]()
    for size in (0, 1, 15, 1, 100, 3):
        growing.extend(list(range(size)))
        expected += range(size)
        assert growing.all.tolist() == expected


def test_postings_agree_with_counting_however_they_were_added() -> None:
    rng = random.Random(5)
    postings, fields = Postings(), list[list[int]]()
    for step in (1, 700, 1, 1, 900, 3):
        added = [[rng.randint(0, 9) * 429_496_729 for _ in range(rng.randint(0, 12))] for _ in range(step)]
        postings.extend([array("I", field).tobytes() for field in added])
        fields += added
        postings.catch_up()
        for term in {number for field in added for number in field} - {0}:
            places, counts = postings.of(term)
            expected = {place: Counter(field)[term] for place, field in enumerate(fields) if term in field}
            assert dict(zip(places.tolist(), counts.tolist(), strict=True)) == expected
    assert postings.lengths.all.tolist() == [sum(number != 0 for number in field) for field in fields]
    assert postings.of(7)[0].tolist() == []


def test_a_changed_memory_is_counted_once() -> None:
    index = ScopeIndex(64, Bm25())
    index.put([entry(1, content=(5, 6)), entry(2, content=(5,))])
    before = index.match(WHERE, [6], limit=9)
    index.put([entry(1, content=(5, 6))])
    assert len(index) == 2
    assert index.match(WHERE, [6], limit=9) == before
    index.put([entry(1, content=(5, 6), status="superseded")])
    assert [scored.memory_id for scored in index.match(WHERE, [5], limit=9)] == ["id000002"]


def test_what_is_not_kept_is_gone() -> None:
    index = ScopeIndex(64, Bm25())
    index.put([entry(number) for number in range(1, 6)])
    index.keep([2, 4, 99])
    assert [scored.memory_id for scored in index.recent(WHERE, limit=9)] == ["id000004", "id000002"]
    assert len(index.nearest(WHERE, EMBEDDER.vector("number 1"), limit=9)) == 2


def test_an_index_of_mostly_gone_places_says_so() -> None:
    index = ScopeIndex(64, Bm25())
    index.put([entry(1)])
    for _ in range(1002):
        assert not index.wasteful
        index.put([entry(1)])
    assert index.wasteful


def test_an_empty_index_answers() -> None:
    index = ScopeIndex(64, Bm25())
    assert index.nearest(WHERE, EMBEDDER.vector("x"), limit=3) == []
    assert index.match(WHERE, [1], limit=3) == []
    assert index.recent(WHERE, limit=3) == []


def test_memory_in_use_grows_with_what_is_held() -> None:
    index = ScopeIndex(64, Bm25())
    empty = index.nbytes
    index.put([entry(number) for number in range(1, 1001)])
    assert index.nbytes - empty > 1000 * 64 * 4


def test_a_large_index_answers_as_an_exact_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope_index, "EXACT_UP_TO", 300)
    monkeypatch.setattr(sketch, "_LEAST", 200)
    index = ScopeIndex(64, Bm25())
    index.put([entry(number) for number in range(1, 401)])
    small = index.nbytes
    asked = EMBEDDER.vector("number 17")
    assert index.nearest(WHERE, asked, limit=1) == index.near(WHERE, asked, limit=1, at_least=0.5)
    assert index.nbytes > small, "the sketch is made when it is needed, and counted"
    index.put([entry(number) for number in range(401, 420)])
    assert index.nearest(WHERE, EMBEDDER.vector("number 415"), limit=1)[0].memory_id == "id000415"
    assert len(index.nearest(WHERE, asked, limit=350)) == 350, "never fewer than there are"


def test_what_is_near_is_the_same_whether_it_was_expected_or_not() -> None:
    index, plain = ScopeIndex(64, Bm25()), ScopeIndex(64, Bm25())
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
                found.append(index.near(WHERE, vector, limit=limit, at_least=at_least))
                assert found[-1] == plain.near(WHERE, vector, limit=limit, at_least=at_least)
                nearest = plain.nearest(WHERE, vector, limit=limit)
                assert found[-1] == [one for one in nearest if one.score >= at_least]
    assert any(found)
    assert index.near(WHERE, asked[0], limit=500, at_least=0.0) == [
        one for one in plain.nearest(WHERE, asked[0], limit=500) if one.score >= 0.0
    ], "a lower bound than what was expected is looked for anew"


def test_of_the_vectors_expected_the_latest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expected, "MOST", 2)
    index = ScopeIndex(64, Bm25())
    index.put([entry(number) for number in range(1, 101)])
    vectors = [EMBEDDER.vector(f"number {number}") for number in range(1, 5)]
    index.expect(vectors, 0.6)
    known = [index._expected.near(vector, 0.6, 100) is not None for vector in vectors]
    assert known == [False, False, True, True]
    index.expect([EMBEDDER.vector("number 1")] * 2, -1.0)
    assert index._expected.near(vectors[0], -1.0, 100) is None, "all are near enough: nothing is gained"
