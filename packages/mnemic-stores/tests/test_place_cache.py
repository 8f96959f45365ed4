"""Values of places are made once, and never more of them are kept than may be."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mnemic_stores import place_cache
from mnemic_stores.place_cache import PlaceCache


def test_values_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []

    def make(places: Sequence[int], names: Sequence[str]) -> list[str]:
        made.extend(places)
        return [f"{name} at {place}" for place, name in zip(places, names, strict=True)]

    cache = PlaceCache(make)
    assert cache.of([3, 1], ["c", "a"]) == ["c at 3", "a at 1"]
    assert cache.of([1, 2], ["a", "b"]) == ["a at 1", "b at 2"]
    assert cache.of([], []) == []
    assert made == [3, 1, 2]
    assert cache.nbytes > 0
    monkeypatch.setattr(place_cache, "MOST", 3)
    assert cache.of([4, 1], ["d", "a"]) == ["d at 4", "a at 1"]
    assert made == [3, 1, 2, 4, 1], "what no longer fits is made again"
