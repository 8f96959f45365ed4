"""Values of memories are made once, and never more of them are kept than may be."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mnemic.stores import scope_index
from mnemic.stores.scope_index import MemoryCache


def test_values_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def make(names: Sequence[str]) -> dict[str, str]:
        made.extend(names)
        return {name: name.upper() for name in names if name != "none"}

    cache = MemoryCache(make)
    assert list(cache.values_of(["c", "none", "a"]).items()) == [("c", "C"), ("a", "A")]
    assert cache.values_of(["a", "b"]) == {"a": "A", "b": "B"}
    assert cache.values_of([]) == {}
    assert made == ["c", "none", "a", "b"]
    assert cache.nbytes > 0
    cache.forget(["b", "unknown"])
    assert cache.values_of(["b"]) == {"b": "B"}
    assert made == ["c", "none", "a", "b", "b"]
    monkeypatch.setattr(scope_index, "MAX_CACHED_VALUES", 3)
    assert cache.values_of(["d", "a"]) == {"d": "D", "a": "A"}
    assert made[5:] == ["d", "a"], "what no longer fits is made again"
