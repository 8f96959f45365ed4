"""How long a memory lives: sliding or fixed, by key and by kind."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic.errors import InvalidConfig
from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.policy.policy_file import load_policy
from mnemic.types import Kind, Outcome

DAY = timedelta(days=1)


async def expiries(desk: Any, contents: list[str], **fields: Any) -> list[timedelta | None]:
    """The time left to the one active memory, told again each day, counted from the first day."""
    start, left = desk.clock.now(), []
    for content in contents:
        await desk.add(content, **fields)
        (memory,) = await desk.active()
        left.append(None if memory.expires_at is None else memory.expires_at - start)
        desk.clock.advance(DAY)
    return left


async def test_sliding_is_renewed_and_fixed_is_not(desk: Any) -> None:
    desk.policy = Policy(default_ttl_days=180)
    assert await expiries(desk, ["aisle"] * 3, key="seat") == [180 * DAY, 181 * DAY, 182 * DAY]


async def test_facts_are_kept_where_nobody_says_otherwise(desk: Any) -> None:
    assert await expiries(desk, ["aisle"] * 2, key="seat") == [None, None]


async def test_a_key_beats_the_default_and_the_wish_and_says_so(desk: Any) -> None:
    desk.policy = Policy(default_ttl_days=180, keys={"code": KeyRule("code", ttl_days=3, expiry="fixed")})
    assert await expiries(desk, ["4471"] * 2, key="code") == [3 * DAY, 3 * DAY]
    wished = await desk.add("4472", key="code", ttl=180 * DAY)
    assert wished.clamped == ("ttl_days",)
    assert (await desk.get(wished.memory_id)).expires_at == desk.clock.now() + 3 * DAY


async def test_a_limit_is_not_lengthened_by_saying_it_again(desk: Any) -> None:
    desk.policy = Policy(longest={Kind.LONG_TERM: 3 * DAY})
    assert await expiries(desk, ["aisle"] * 3, key="seat") == [3 * DAY] * 3
    desk.clock.advance(DAY)
    assert await expiries(desk, ["aisle"], key="seat") == [3 * DAY]


async def test_saying_it_again_shortens_nothing(desk: Any) -> None:
    assert await expiries(desk, ["aisle"], key="seat", ttl=30 * DAY) == [30 * DAY]
    assert await expiries(desk, ["aisle"], key="seat", ttl=2 * DAY) == [29 * DAY]


async def test_a_merge_is_not_kept_beyond_the_limit_of_what_it_holds(blind: Any) -> None:
    blind.policy = Policy(longest={Kind.LONG_TERM: 30 * DAY})
    await blind.add("Prefers dark mode")
    valid_moment = blind.clock.now()
    blind.clock.advance(20 * DAY)
    merged = await blind.add("Prefers the dark mode")
    assert merged.outcome is Outcome.MERGED
    assert (await blind.get(merged.memory_id)).expires_at == valid_moment + 30 * DAY


async def test_a_limit_that_comes_later_binds_what_is_merged(blind: Any) -> None:
    await blind.add("Prefers dark mode")
    valid_moment = blind.clock.now()
    blind.clock.advance(20 * DAY)
    blind.policy = Policy(longest={Kind.LONG_TERM: 30 * DAY})
    merged = await blind.add("Prefers the dark mode")
    assert merged.outcome is Outcome.MERGED
    assert (await blind.get(merged.memory_id)).expires_at == valid_moment + 30 * DAY


async def test_a_key_has_its_own_time(desk: Any) -> None:
    desk.policy = Policy.of(KeyRule("seat", ttl_days=30, expiry="fixed"))
    assert await expiries(desk, ["aisle"] * 3, key="seat") == [30 * DAY] * 3


async def test_what_the_candidate_names_comes_first(desk: Any) -> None:
    desk.policy = Policy.of(KeyRule("seat", ttl_days=30))
    assert await expiries(desk, ["aisle"], key="seat", ttl=2 * DAY) == [2 * DAY]


async def test_another_value_begins_anew(desk: Any) -> None:
    desk.policy = Policy.of(KeyRule("seat", ttl_days=30, expiry="fixed"))
    assert await expiries(desk, ["aisle", "window"], key="seat") == [30 * DAY, 31 * DAY]


async def test_a_kind_can_be_fixed_also_through_a_merge(blind: Any) -> None:
    blind.policy = Policy(fixed_kinds=frozenset({Kind.LONG_TERM}), default_ttl_days=180)
    said = ["Prefers dark mode", "Prefers dark mode", "Prefers the dark mode"]
    assert await expiries(blind, said) == [180 * DAY] * 3
    blind.policy = Policy(default_ttl_days=180)
    merged = await blind.add("Prefers a dark mode")
    assert merged.outcome is Outcome.MERGED
    assert (await blind.get(merged.memory_id)).expires_at == blind.clock.now() + 180 * DAY


def test_a_file_says_it(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(
        'fixed_kinds = ["episodic"]\nopen_keys = true\n[keys.door_code]\nttl_days = 30\nexpiry = "fixed"\n',
        encoding="utf-8",
    )
    policy = load_policy(file)
    assert (policy.rule("door_code").ttl_days, policy.slides("door_code", Kind.LONG_TERM)) == (30, False)
    assert policy.slides("seat", Kind.EPISODIC)
    assert not policy.slides(None, Kind.EPISODIC)
    assert policy.slides(None, Kind.LONG_TERM)


@pytest.mark.parametrize("settings", [{"ttl_days": 0}, {"ttl_days": True}, {"ttl_days": 40_000}, {"expiry": "never"}])
def test_a_rule_that_cannot_be(settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidConfig):
        KeyRule("seat", **settings)
