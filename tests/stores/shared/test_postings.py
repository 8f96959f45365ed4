"""Where terms stand, against counting."""

from __future__ import annotations

import random
from array import array
from collections import Counter

import pytest

from mnemic.stores import scope_index as module
from mnemic.stores.scope_index import Postings


@pytest.mark.parametrize("span", [1 << 16, 1000, 701])
def test_postings_agree_with_counting_however_they_were_added(span: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SPAN", span)
    monkeypatch.setattr(module, "_TAIL", 100)
    rng = random.Random(5)
    postings, fields = Postings(), list[list[int]]()
    for step in (1, 700, 1, 1, 900, 3):
        added = [[rng.randint(0, 9) * 429_496_729 for _ in range(rng.randint(0, 12))] for _ in range(step)]
        postings.extend([array("I", field).tobytes() for field in added])
        fields += added
        postings.catch_up()
        for term in {number for field in added for number in field} - {0}:
            places, counts = postings.places_with_term(term)
            expected = {place: Counter(field)[term] for place, field in enumerate(fields) if term in field}
            assert dict(zip(places.tolist(), counts.tolist(), strict=True)) == expected
    assert postings.lengths.all.tolist() == [sum(number != 0 for number in field) for field in fields]
    assert postings.places_with_term(7)[0].tolist() == []


def test_a_term_takes_a_few_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SPAN", 5000)
    rng = random.Random(5)
    postings = Postings()
    fields = [array("I", rng.sample(range(1, 500), 20)).tobytes() for _ in range(20_000)]
    for first in range(0, len(fields), 700):
        postings.extend(fields[first : first + 700])
    postings.catch_up()
    assert postings.nbytes < 20_000 * (20 * 3 + 10)


def test_what_waits_is_taken_in_when_it_would_fill_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SPAN", 50)
    postings = Postings()
    for number in range(120):
        postings.extend([array("I", [number + 1, 1]).tobytes()])
    assert len(postings.lengths.all) == 100
    assert postings.catch_up()
    assert not postings.catch_up()
    assert postings.places_with_term(1)[0].tolist() == list(range(120))
    assert postings.places_with_term(1)[1].tolist() == [2.0] + [1.0] * 119
