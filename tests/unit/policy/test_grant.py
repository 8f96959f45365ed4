from __future__ import annotations

from dataclasses import replace

import pytest

from mnemic.errors import InvalidConfig, ScopeDenied
from mnemic.policy.grant import Grant, admit_intent, consent_required, denial, retention_denied
from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.types import Actor, Candidate, Intent

POLICY = Policy.of("language", KeyRule("declared_tier", sensitive=True), levels=frozenset({"user", "workspace"}))
LANGUAGE = Candidate(key="language", content="english")
TIER = Candidate(key="declared_tier", content="enterprise")
ANA = Actor(user="ana", workspace="w1")
FREE = Candidate(content="I like tea.")


def test_a_sensitive_key_is_blocked_until_the_runtime_trusts_it() -> None:
    closed, opened = Grant.from_policy(POLICY), Grant.from_policy(POLICY, trust={"declared_tier"})
    assert [denial(one, closed) for one in (LANGUAGE, TIER)] == [None, "key_denied_execution"]
    assert [denial(one, opened) for one in (LANGUAGE, TIER)] == [None, None]


def test_a_sensitive_key_is_blocked_where_the_list_is_open_too() -> None:
    policy = Policy(keys={"declared_tier": KeyRule("declared_tier", sensitive=True)}, open_keys=True)
    denied = [denial(one, Grant.from_policy(policy)) for one in (LANGUAGE, TIER, FREE)]
    assert denied == [None, "key_denied_execution", None]


def test_a_scope_outside_the_grant_is_blocked_until_it_is_granted() -> None:
    shared = replace(LANGUAGE, level="workspace")
    assert denial(shared, Grant()) == "scope_denied_execution"
    assert denial(shared, Grant(levels=frozenset({"user", "workspace"}))) is None


def test_the_key_is_looked_at_before_the_scope() -> None:
    assert denial(replace(TIER, level="workspace"), Grant.from_policy(POLICY)) == "key_denied_execution"


def test_a_closed_grant_lets_nothing_pass_without_a_key() -> None:
    assert denial(FREE, Grant(keys=frozenset({"language"}))) == "key_denied_execution"
    assert denial(FREE, Grant()) is None
    assert denial(FREE, Grant(keys=frozenset(), keyless=True)) is None


def test_a_key_that_only_looks_like_a_granted_one_is_blocked() -> None:
    forged = replace(LANGUAGE, key="language\u200b")
    assert denial(forged, Grant()) == "key_denied_execution"
    wide = replace(LANGUAGE, key="ｌanguage")
    assert denial(wide, Grant(keys=frozenset({"language"}))) is None


def test_reasons_of_later_rules_are_escaped_and_cut() -> None:
    assert retention_denied("30 d\n") == "retention_denied:30 d\\x0a"
    assert consent_required("k" * 99) == "consent_required:" + "k" * 64


def test_an_intent_without_scopes_gets_those_that_are_granted() -> None:
    grant = Grant(levels=frozenset({"workspace", "user"}))
    assert admit_intent(Intent(query="q"), grant, ANA).levels == ("user", "workspace")
    assert admit_intent(Intent(query="q", levels=("workspace",)), grant, ANA).levels == ("workspace",)


def test_an_intent_without_scopes_leaves_out_the_levels_that_its_actor_has_no_owner_for() -> None:
    grant = Grant(levels=frozenset({"workspace", "user", "session"}))
    assert admit_intent(Intent(query="q"), grant, Actor(user="ana")).levels == ("user",)
    assert admit_intent(Intent(query="q", levels=("workspace",)), grant, Actor(user="ana")).levels == ("workspace",)
    alone = Grant(levels=frozenset({"workspace"}))
    assert admit_intent(Intent(query="q"), alone, Actor(user="ana")).levels == ("workspace",)


def test_an_intent_outside_the_grant_is_denied_and_names_every_scope() -> None:
    with pytest.raises(ScopeDenied) as denied:
        admit_intent(Intent(query="q", levels=("workspace", "user", "agent")), Grant(), ANA)
    assert denied.value.reason == "scope_denied:agent"
    assert denied.value.hint == "not granted: agent, workspace"


@pytest.mark.parametrize("levels", [frozenset(), frozenset({"planet"}), "user", frozenset({1})])
def test_a_grant_names_known_levels(levels: frozenset[str]) -> None:
    with pytest.raises(InvalidConfig) as wrong:
        Grant(levels=levels)
    assert wrong.value.reason == "invalid_config:grant.levels"


@pytest.mark.parametrize("keys", ["language", frozenset({""}), frozenset({"a\u200b"})])
def test_a_grant_names_usable_keys(keys: frozenset[str]) -> None:
    with pytest.raises(InvalidConfig) as wrong:
        Grant(keys=keys)
    assert wrong.value.reason == "invalid_config:grant.keys"
