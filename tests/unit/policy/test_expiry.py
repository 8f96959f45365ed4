"""When a memory ends: the earliest of the wish, the rule of its key and the limit of its kind."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import InvalidInput
from mnemic.policy.expiry_rule import FOREVER, LONGEST_TTL, Lifetime, bounded_expiry, end_of, lifetime, ttl_of
from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.types import Candidate, Kind, Level, Memory, Scope, Source

DAY = timedelta(days=1)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
CODE = Policy(keys={"code": KeyRule("code", ttl_days=3)}, open_keys=True, default_ttl_days=180)
SHORT = Policy(longest={Kind.LONG_TERM: 30 * DAY})


def candidate(**fields: Any) -> Candidate:
    return Candidate(**{"content": "x", **fields})


def memory(**fields: Any) -> Memory:
    scope = Scope(tenant="t", level=Level.USER, owner="ana")
    told = {"memory_id": "m", "kind": Kind.LONG_TERM, "content": "x", "created_at": NOW, "updated_at": NOW}
    return Memory(scope=scope, **{**told, **fields})


@pytest.mark.parametrize(
    ("fields", "policy", "kept"),
    [
        ({}, Policy(), None),
        ({"key": "seat"}, Policy(), None),
        ({"kind": Kind.EPISODIC}, Policy(), 90 * DAY),
        ({"kind": Kind.EPISODIC, "source": Source(speaker="user")}, Policy(), None),
        ({"kind": Kind.EPISODIC, "ttl": 400 * DAY}, Policy(), 400 * DAY),
        ({"kind": Kind.EPISODIC, "ttl": FOREVER}, Policy(), None),
        ({"ttl": 5 * DAY}, Policy(), 5 * DAY),
        ({}, Policy(default_ttl_days=180), 180 * DAY),
        ({"kind": Kind.EPISODIC}, Policy(default_ttl_days=180), 180 * DAY),
        ({"ttl": 400 * DAY}, Policy(default_ttl_days=180), 400 * DAY),
        ({"ttl": FOREVER}, Policy(default_ttl_days=180), None),
        ({"key": "code"}, CODE, 3 * DAY),
        ({"key": "code", "ttl": 180 * DAY}, CODE, 3 * DAY),
        ({"key": "code", "ttl": FOREVER}, CODE, 3 * DAY),
        ({"key": "code", "ttl": 2 * DAY}, CODE, 2 * DAY),
        ({"key": "seat"}, CODE, 180 * DAY),
        ({}, SHORT, 30 * DAY),
        ({"ttl": 31 * DAY}, SHORT, 30 * DAY),
        ({"ttl": FOREVER}, SHORT, 30 * DAY),
        ({"ttl": 29 * DAY}, SHORT, 29 * DAY),
        ({"kind": Kind.ENTITY}, SHORT, None),
    ],
)
def test_the_shortest_counts(fields: dict[str, Any], policy: Policy, kept: timedelta | None) -> None:
    told = candidate(**fields)

    assert lifetime(told, policy).ttl == kept
    assert end_of(told, policy, now=NOW) == (None if kept is None else NOW + kept)
    assert lifetime(told, policy).shortened == (told.ttl is not None and kept is not None and kept < told.ttl)


def test_a_confirmation_does_not_lengthen_the_limit() -> None:
    assert end_of(candidate(), SHORT, now=NOW + 20 * DAY, stated_at=NOW) == NOW + 30 * DAY
    assert end_of(candidate(ttl=DAY), SHORT, now=NOW + 20 * DAY, stated_at=NOW) == NOW + 21 * DAY


@pytest.mark.parametrize(
    ("fields", "policy", "ends"),
    [
        ({}, Policy(default_ttl_days=9), None),
        ({"expires_at": NOW + 5 * DAY}, Policy(default_ttl_days=9), NOW + 5 * DAY),
        ({}, SHORT, NOW + 30 * DAY),
        ({"expires_at": NOW + 300 * DAY}, SHORT, NOW + 30 * DAY),
        ({"key": "code"}, CODE, NOW + 13 * DAY),
        ({"key": "code", "expires_at": NOW + 11 * DAY}, CODE, NOW + 11 * DAY),
    ],
)
def test_what_is_corrected_ends_as_before_within_the_policy(
    fields: dict[str, Any], policy: Policy, ends: datetime | None
) -> None:
    assert bounded_expiry(memory(**fields), policy, now=NOW + 10 * DAY) == ends


def test_an_end_beyond_the_calendar_is_none() -> None:
    late = datetime(9990, 1, 1, tzinfo=UTC)
    assert end_of(candidate(ttl=LONGEST_TTL), Policy(), now=late) is None
    assert lifetime(candidate(ttl=LONGEST_TTL), Policy()) == Lifetime(ttl=LONGEST_TTL)


def test_of_two_policies_the_shorter_time_counts() -> None:
    assert SHORT.with_longest({}) is SHORT
    assert SHORT.with_longest({Kind.LONG_TERM: 40 * DAY, Kind.ENTITY: DAY}).longest == {
        Kind.LONG_TERM: 30 * DAY,
        Kind.ENTITY: DAY,
    }
    assert SHORT.with_longest({Kind.LONG_TERM: DAY}).longest == {Kind.LONG_TERM: DAY}


WISHES = st.none() | st.just(FOREVER) | st.timedeltas(DAY, LONGEST_TTL)
DAYS = st.none() | st.integers(1, 36_500)


@given(WISHES, DAYS, DAYS, DAYS, st.timedeltas(timedelta(), 900 * DAY))
def test_nothing_lives_longer_than_any_of_them(
    wish: timedelta | None, rule: int | None, default: int | None, longest: int | None, later: timedelta
) -> None:
    limits = {} if longest is None else {Kind.LONG_TERM: longest * DAY}
    policy = Policy(keys={"k": KeyRule("k", ttl_days=rule)}, default_ttl_days=default, longest=limits)
    told = candidate(key="k", ttl=wish)
    first = end_of(told, policy, now=NOW)
    again = end_of(told, policy, now=NOW + later, stated_at=NOW)
    kept = bounded_expiry(memory(key="k", expires_at=first), policy, now=NOW + later)

    for bound in (rule, longest):
        assert bound is None or (first is not None and first <= NOW + bound * DAY)
    assert longest is None or (again is not None and again <= NOW + longest * DAY)
    assert wish is None or wish is FOREVER or (first is not None and first <= NOW + wish)
    assert kept == first or (rule is not None and kept is not None and first is not None and kept <= first)


@pytest.mark.parametrize(
    ("text", "ttl"),
    [
        ("30d", 30 * DAY),
        (" 12 H ", timedelta(hours=12)),
        ("90m", timedelta(minutes=90)),
        ("2w", 14 * DAY),
        ("10y", 3650 * DAY),
        ("1.5d", timedelta(hours=36)),
        ("P30D", 30 * DAY),
        ("never", FOREVER),
        ("NEVER", FOREVER),
        (DAY, DAY),
        (None, None),
    ],
)
def test_a_wish_has_one_spelling_everywhere(text: Any, ttl: timedelta | None) -> None:
    assert ttl_of(text) == ttl


@pytest.mark.parametrize("text", ["", "30", "d", "-3d", "30 days", "1e3d", "P", "999999999y", "forever", 30, 3.0, True])
def test_what_is_no_time_is_refused(text: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        ttl_of(text)

    assert refused.value.reason == "invalid_input:ttl"
    assert refused.value.hint == "a duration such as 12h, 30d, 2w, 10y or P30D, at most 36,500 days, or never"
