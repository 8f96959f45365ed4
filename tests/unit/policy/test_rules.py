from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from mnemic.errors import InvalidConfig
from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.types import Kind


def test_an_open_policy_allows_every_key_under_the_default_rule() -> None:
    policy = Policy()
    assert policy.allows("anything")
    assert policy.rule("anything") == KeyRule("anything")
    assert policy.allows_keyless
    assert not policy.closed


def test_a_closed_policy_allows_its_keys_only() -> None:
    policy = Policy.of("language", KeyRule("allergies", on_change="accumulate", pinned=True))
    assert policy.allows("language")
    assert not policy.allows("Language")
    assert policy.rule("allergies").on_change == "accumulate"
    assert not policy.allows_keyless


def test_an_empty_list_allows_nothing() -> None:
    assert not Policy(keys={}).allows("language")


def test_an_open_policy_may_still_have_rules() -> None:
    policy = Policy.of(KeyRule("tier", sensitive=True), open_keys=True)
    assert policy.allows("language")
    assert policy.sensitive_keys == {"tier"}


def test_values_are_compared_without_case_and_kept_in_the_policys_spelling() -> None:
    rule = KeyRule("city", allowed_values=frozenset({"Zürich", "New York"}))
    assert rule.spelling("ZU\u0308RICH") == "Zürich"
    assert rule.spelling("new  york") == "New York"
    assert rule.spelling("York") is None
    assert KeyRule("city").spelling("York") == "York"


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"levels": frozenset({"planet"})}, "invalid_config:levels"),
        ({"levels": frozenset()}, "invalid_config:levels"),
        ({"levels": "user"}, "invalid_config:levels"),
        ({"levels": frozenset({"user", 1})}, "invalid_config:levels"),
        ({"kinds": frozenset({"nothing"})}, "invalid_config:kinds"),
        ({"fixed_kinds": frozenset({"nothing", Kind.ENTITY})}, "invalid_config:fixed_kinds"),
        ({"preference_bias": -0.1}, "invalid_config:preference_bias"),
        ({"preference_bias": "0.1"}, "invalid_config:preference_bias"),
        ({"default_ttl_days": 36_501}, "invalid_config:default_ttl_days"),
        ({"pinned_kinds": frozenset({"nothing"})}, "invalid_config:pinned_kinds"),
        ({"on_violation": "ignore"}, "invalid_config:on_violation"),
        ({"on_model_failure": "ignore"}, "invalid_config:on_model_failure"),
        ({"on_refuted": "ignore"}, "invalid_config:on_refuted"),
        ({"preference_bias": 1.5}, "invalid_config:preference_bias"),
        ({"preference_bias": True}, "invalid_config:preference_bias"),
        ({"preference_bias": float("nan")}, "invalid_config:preference_bias"),
        ({"default_ttl_days": 0}, "invalid_config:default_ttl_days"),
        ({"default_ttl_days": True}, "invalid_config:default_ttl_days"),
        ({"keys": {"a": KeyRule("b")}}, "invalid_config:keys"),
        ({"keys": {"a": "b"}}, "invalid_config:keys"),
        ({"keys": {"": KeyRule("b")}}, "invalid_config:key"),
    ],
)
def test_a_policy_that_cannot_be_meant_is_refused(settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidConfig) as wrong:
        Policy(**settings)
    assert wrong.value.reason == reason
    assert wrong.value.hint


@pytest.mark.parametrize(
    ("settings", "hint"),
    [
        ({"keys": {"a": "b"}}, "each key maps to its own KeyRule"),
        ({"levels": frozenset({"planet"})}, "one or more of user, workspace, agent, session"),
        ({"pinned_kinds": frozenset({"nothing"})}, "one or more of " + ", ".join(Kind)),
        ({"longest": {"nothing": timedelta(days=1)}}, "one or more of " + ", ".join(Kind)),
        ({"on_violation": "ignore"}, "one of stop, skip"),
        ({"on_model_failure": "ignore"}, "one of stop, rules"),
        ({"on_refuted": "ignore"}, "one of report, stop"),
        ({"preference_bias": 2}, "a number from 0 to 1"),
        ({"default_ttl_days": 0}, "a whole number from 1 to 36500"),
        ({"sensitive_words": "divorce"}, "words or phrases of at most 100 characters each"),
    ],
)
def test_a_refused_policy_says_what_is_allowed(settings: dict[str, Any], hint: str) -> None:
    with pytest.raises(InvalidConfig) as wrong:
        Policy(**settings)
    assert wrong.value.hint == hint


@pytest.mark.parametrize(
    ("rule", "hint"),
    [
        ({"on_change": "merge"}, "one of supersede, accumulate, review"),
        ({"expiry": "never"}, "one of sliding, fixed"),
        ({"ttl_days": 0}, "a whole number from 1 to 36500"),
        ({"allowed_values": frozenset({" "})}, "at least one value, no two of them alike, none blank"),
    ],
)
def test_a_refused_rule_says_what_is_allowed(rule: dict[str, Any], hint: str) -> None:
    with pytest.raises(InvalidConfig) as wrong:
        KeyRule("a", **rule)
    assert wrong.value.hint == hint


@pytest.mark.parametrize(
    "words", ["divorce", {"divorce", 1}, {"d" * 101}, {"divorce", "!?"}, {""}, {"divorce", "DIVORCE"}, [None]]
)
def test_words_that_cannot_be_looked_for_are_refused(words: Any) -> None:
    with pytest.raises(InvalidConfig) as wrong:
        Policy(sensitive_words=words)
    assert wrong.value.reason == "invalid_config:sensitive_words"


def test_sensitive_words_are_whole_words_in_any_case() -> None:
    policy = Policy(sensitive_words=frozenset({"Divorce", "law suit", "d" * 100}))
    assert policy.sensitive_words == {"divorce", "law suit", "d" * 100}
    assert policy.names_sensitive(["I like tea.", "My DIVORCE is through."])
    assert policy.names_sensitive(["The law-suit goes on."])
    assert policy.names_sensitive(["d" * 100])
    assert not policy.names_sensitive(["We are divorced.", "In-law: suits well.", ""])
    assert not Policy().names_sensitive(["My divorce is through."])


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ({"key": "a\u200b"}, "invalid_config:key"),
        ({"key": "a", "on_change": "merge"}, "invalid_config:on_change:a"),
        ({"key": "a", "expiry": "never"}, "invalid_config:expiry:a"),
        ({"key": "a", "ttl_days": 0}, "invalid_config:ttl_days:a"),
        ({"key": "a", "ttl_days": 36_501}, "invalid_config:ttl_days:a"),
        ({"key": "a", "ttl_days": True}, "invalid_config:ttl_days:a"),
        ({"key": "a", "ttl_days": 1.0}, "invalid_config:ttl_days:a"),
        ({"key": "a", "allowed_values": frozenset()}, "invalid_config:allowed_values:a"),
        ({"key": "a", "allowed_values": frozenset({"x", "X"})}, "invalid_config:allowed_values:a"),
        ({"key": "a", "allowed_values": frozenset({" "})}, "invalid_config:allowed_values:a"),
    ],
)
def test_a_rule_that_cannot_be_meant_is_refused(rule: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidConfig) as wrong:
        KeyRule(**rule)
    assert wrong.value.reason == reason
    assert wrong.value.hint


def test_the_kinds_are_the_durable_ones() -> None:
    assert Kind.LONG_TERM in Policy().kinds
    assert Kind.WORKING not in Policy().kinds


def test_the_least_and_the_most_are_allowed() -> None:
    for bias in (0, 0.0, 1, 1.0):
        assert Policy(preference_bias=bias).preference_bias == bias
    assert [Policy(default_ttl_days=days).default_ttl_days for days in (1, 36_500)] == [1, 36_500]
    assert [KeyRule("a", ttl_days=days).ttl_days for days in (1, 36_500)] == [1, 36_500]


def test_keys_are_kept_in_their_normal_form() -> None:
    policy = Policy.of(KeyRule(" ｓeat ", preference=True), "diet")
    assert set(policy.keys or ()) == {"seat", "diet"}
    assert Policy(keys={" ｓeat ": KeyRule("seat")}).rule("seat") == KeyRule("seat")
    assert Policy(levels=frozenset({"user"})).levels == {"user"}
    assert Policy.of("a", levels=frozenset({"agent"})).levels == {"agent"}


def test_a_policy_without_a_key_says_nothing_of_it() -> None:
    keyed = Policy.of(KeyRule("tier", expiry="fixed"), fixed_kinds=frozenset({Kind.EPISODIC}), keyless=True)
    assert (keyed.closed, keyed.allows_keyless, Policy(keyless=False).allows_keyless) == (True, True, False)
    assert [keyed.slides(key, Kind.EPISODIC) for key in ("tier", "seat", None)] == [False, True, False]
    assert keyed.slides(None, Kind.LONG_TERM)
    assert Policy.of("a", open_keys=True).allows_keyless
    assert keyed.sensitive_keys == frozenset()
