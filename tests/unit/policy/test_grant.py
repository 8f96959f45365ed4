from __future__ import annotations

from dataclasses import replace

import pytest

from mnemic.errors import BudgetSpent, InvalidConfig, ScopeDenied
from mnemic.policy.budget import Budget
from mnemic.policy.grant import Grant, admit, admit_intent, consent_required, retention_denied
from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.types import Actor, Blocked, Candidate, Intent

POLICY = Policy.of("language", KeyRule("declared_tier", sensitive=True), levels=frozenset({"user", "workspace"}))
LANGUAGE = Candidate(key="language", content="english")
TIER = Candidate(key="declared_tier", content="enterprise")
ANA = Actor(user="ana", workspace="w1")
FREE = Candidate(content="I like tea.")


def test_a_sensitive_key_is_blocked_until_the_runtime_trusts_it() -> None:
    closed = admit([LANGUAGE, TIER], Grant.of(POLICY), Budget())
    assert closed.allowed == (LANGUAGE,)
    assert closed.blocked == (Blocked(key="declared_tier", reason="key_denied_execution"),)
    opened = admit([LANGUAGE, TIER], Grant.of(POLICY, trust={"declared_tier"}), Budget())
    assert (opened.allowed, opened.blocked) == ((LANGUAGE, TIER), ())


def test_a_sensitive_key_is_blocked_where_the_list_is_open_too() -> None:
    policy = Policy(keys={"declared_tier": KeyRule("declared_tier", sensitive=True)}, open_keys=True)
    admission = admit([LANGUAGE, TIER, FREE], Grant.of(policy), Budget())
    assert admission.allowed == (LANGUAGE, FREE)
    assert [entry.reason for entry in admission.blocked] == ["key_denied_execution"]


def test_a_scope_outside_the_grant_is_blocked_until_it_is_granted() -> None:
    shared = replace(LANGUAGE, level="workspace")
    assert admit([shared], Grant(), Budget()).blocked == (
        Blocked(key="language", reason="scope_denied_execution", level="workspace"),
    )
    assert admit([shared], Grant(levels=frozenset({"user", "workspace"})), Budget()).allowed == (shared,)


def test_the_key_is_looked_at_before_the_scope() -> None:
    both = replace(TIER, level="workspace")
    assert admit([both], Grant.of(POLICY), Budget()).blocked[0].reason == "key_denied_execution"


def test_a_closed_grant_lets_nothing_pass_without_a_key() -> None:
    assert admit([FREE], Grant(keys=frozenset({"language"})), Budget()).blocked == (
        Blocked(key=None, reason="key_denied_execution"),
    )
    assert admit([FREE], Grant(), Budget()).allowed == (FREE,)
    assert admit([FREE], Grant(keys=frozenset(), keyless=True), Budget()).allowed == (FREE,)


def test_a_key_that_only_looks_like_a_granted_one_is_blocked() -> None:
    forged = replace(LANGUAGE, key="language\u200b")
    assert admit([forged], Grant(), Budget()).blocked[0].reason == "key_denied_execution"
    wide = replace(LANGUAGE, key="ｌanguage")
    assert admit([wide], Grant(keys=frozenset({"language"})), Budget()).allowed == (wide,)


def test_too_many_candidates_stop_the_run() -> None:
    with pytest.raises(BudgetSpent) as stopped:
        admit([LANGUAGE] * 7, Grant(), Budget())
    assert stopped.value.reason == "max_capture_items"


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
