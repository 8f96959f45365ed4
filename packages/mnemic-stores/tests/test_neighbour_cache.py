"""Neighbours that were read lately are not read again, and never shown as they were before."""

from __future__ import annotations

import pytest

from mnemic_stores import neighbour_cache
from mnemic_stores.neighbour_cache import NeighbourCache
from mnemic_testing.record_store import memory


def test_what_is_at_another_place_by_now_is_not_found() -> None:
    one, other = memory("tea"), memory("milk")
    kept = NeighbourCache()
    kept.keep([one, other], [1, 2])
    assert kept.find([one.memory_id, other.memory_id, "nobody"], [1, 3, 4]) == {one.memory_id: one}
    assert kept.nbytes > 0
    kept.forget([one.memory_id, "nobody"])
    assert kept.find([one.memory_id], [1]) == {}


def test_those_go_first_that_were_not_met_for_the_longest_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbour_cache, "MOST", 2)
    first, second, third = (memory(text) for text in ("tea", "milk", "bread"))
    kept = NeighbourCache()
    kept.keep([first, second], [1, 2])
    kept.find([first.memory_id], [1])
    kept.keep([third], [3])
    ids = [one.memory_id for one in (first, second, third)]
    assert list(kept.find(ids, [1, 2, 3])) == [ids[0], ids[2]]
