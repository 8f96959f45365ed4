"""The bounded cache of the entries used last."""

from __future__ import annotations

from mnemic.stores.postgres.rows import LruMapping


def test_what_was_used_longest_ago_goes_first() -> None:
    held: LruMapping[str, int] = LruMapping(2)
    assert held.put("a", 1) == 1
    held.put("b", 2)
    assert held.get("a") == 1
    held.put("c", 3)
    assert (held.get("a"), held.get("b"), held.get("c")) == (1, None, 3)


def test_a_new_value_takes_the_place_of_the_old_one() -> None:
    held: LruMapping[str, int] = LruMapping(1)
    held.put("a", 1)
    held.put("a", 2)
    assert held.get("a") == 2
