"""Neighbours that were read lately are not read again, and never shown as they were before."""

from __future__ import annotations

import pytest

from mnemic.stores import scope_index
from mnemic.stores.scope_index import NeighbourCache
from mnemic.testing.record_store import memory


def test_what_is_at_another_place_by_now_is_not_found() -> None:
    one, other = memory("tea"), memory("milk")
    kept = NeighbourCache()
    kept.keep([one, other], [1, 2])
    assert kept.memories_at([1, 3, 2]) == [one, None, other]
    assert kept.nbytes > 0
    kept.forget([1, 7])
    assert kept.memories_at([1, 2]) == [None, other]


def test_those_go_first_that_were_not_met_for_the_longest_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope_index, "MAX_CACHED_NEIGHBOURS", 2)
    first, second, third = (memory(text) for text in ("tea", "milk", "bread"))
    kept = NeighbourCache()
    kept.keep([first, second], [1, 2])
    kept.memories_at([1])
    kept.keep([third], [3])
    assert kept.memories_at([1, 2, 3]) == [first, None, third]
