"""The rules of redaction: what a policy may ask for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mnemic.errors import BudgetSpent, InvalidAnswer, InvalidConfig, ScopeDenied
from mnemic.policy.budget import Budget, check_answer_length, check_time
from mnemic.policy.grant import Grant, admit_intent, consent_required, denial, retention_denied
from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.policy.proposal_check import MAX_CHARS, MAX_ITEMS, echo_input
from mnemic.policy.redaction_policy import MAX_REGIONS, NAMES, Action, RedactionRules
from mnemic.types import Actor, Candidate, Intent

ACTIONS = "one of redact, tokenise, block, allow"
ENTITIES = "entities are named in capitals: EMAIL, PHONE, ..."
ROLES = "a list of roles, in lower case"
REGIONS = "at most 8 countries by their two letters"
COUNTRIES = ("DE", "AT", "CH", "FR", "IT", "ES", "NL", "BE", "PL")


@pytest.mark.parametrize(
    ("settings", "reason", "hint"),
    [
        ({"actions": {"EMAIL": "hide"}}, "redaction.entities", ACTIONS),
        ({"actions": {"email": "block"}}, "redaction.entities", ENTITIES),
        ({"actions": {"EMAIL": "block", "E": "block"}}, "redaction.entities", ENTITIES),
        ({"actions": {"E" * 21: "block"}}, "redaction.entities", ENTITIES),
        ({"reveal": frozenset({"officer", "Officer"})}, "redaction.reveal", ROLES),
        ({"reveal": frozenset({""})}, "redaction.reveal", ROLES),
        ({"reveal": frozenset({"o" * 65})}, "redaction.reveal", ROLES),
        ({"names": frozenset({"PERSON", "CATS"})}, "redaction.names", "one or more of PERSON, LOCATION"),
        ({"regions": ("DE", "de")}, "redaction.regions", REGIONS),
        ({"regions": ("DEU",)}, "redaction.regions", REGIONS),
        ({"regions": COUNTRIES}, "redaction.regions", REGIONS),
    ],
)
def test_what_cannot_be_meant_is_refused(settings: dict[str, Any], reason: str, hint: str) -> None:
    with pytest.raises(InvalidConfig) as wrong:
        RedactionRules(**settings)
    assert wrong.value.reason == f"invalid_config:{reason}"
    assert wrong.value.hint == hint


def test_every_action_is_known_by_its_word() -> None:
    rules = RedactionRules(actions={"EMAIL": "redact", "IBAN": "tokenise", "SSN": "block", "PHONE": "allow"})
    assert dict(rules.actions) == {
        "EMAIL": Action.REDACT,
        "IBAN": Action.TOKENISE,
        "SSN": Action.BLOCK,
        "PHONE": Action.ALLOW,
    }
    with pytest.raises(TypeError):
        rules.actions["EMAIL"] = "allow"  # type: ignore[index]


def test_only_what_is_tokenised_needs_a_key() -> None:
    assert RedactionRules(actions={"EMAIL": "tokenise"}).tokenises
    assert not RedactionRules(actions={"EMAIL": "redact", "SSN": "block"}).tokenises
    assert not RedactionRules().tokenises


def test_the_longest_that_is_allowed_is_allowed() -> None:
    rules = RedactionRules(
        actions={"E" * 20: "block", "ID": "block"},
        reveal=frozenset({"o" * 64, "a.b:c-d_9"}),
        names=frozenset(NAMES),
        regions=COUNTRIES[:MAX_REGIONS],
    )
    assert (len(rules.actions), len(rules.reveal), rules.names) == (2, 2, {"PERSON", "LOCATION"})
    assert rules.regions == COUNTRIES[:8]


async def loud(text: str) -> str:
    return text.upper()


async def test_texts_and_names_are_redacted_and_cut() -> None:
    told = await echo_input({"name": "x" * 1000, "list": list(range(100))}, loud)
    assert told == {"NAME": "X" * MAX_CHARS, "LIST": list(range(MAX_ITEMS))}


async def test_every_text_is_redacted_however_deep_it_is() -> None:
    raw = {"a": ["b", ["c", {"d": "e"}], ("f",)], "g": {"h": {"i": "j", "k": ["l"]}}}
    assert await echo_input(raw, loud) == {
        "A": ["B", ["C", "<dict>"], ["F"]],
        "G": {"H": {"I": "J", "K": "<list>"}},
    }
    assert await echo_input({2: {"n" * 300: None}}, loud) == {"2": {"N" * MAX_CHARS: None}}


async def test_a_long_list_and_a_long_object_are_cut() -> None:
    assert await echo_input({str(number): number for number in range(30)}, loud) == {str(one): one for one in range(20)}
    assert await echo_input([["a"] * 30], loud) == [["A"] * 20]
    assert await echo_input("é" * 241, loud) == "É" * 240


async def test_what_json_cannot_say_is_named_by_its_type() -> None:
    raw = [float("nan"), None, True, 1.5, object(), [[["deep"]]]]
    assert await echo_input(raw, loud) == ["<float>", None, True, 1.5, "<object>", [["<list>"]]]


def test_the_defaults_are_the_published_ones() -> None:
    budget = Budget()
    assert (budget.max_capture_items, budget.max_retrieve_top_k, budget.max_query_chars) == (6, 6, 240)
    assert (budget.max_answer_chars, budget.max_value_chars, budget.max_seconds) == (700, 120, 25)


@pytest.mark.parametrize(
    "limit", ["max_capture_items", "max_retrieve_top_k", "max_query_chars", "max_answer_chars", "max_value_chars"]
)
@pytest.mark.parametrize("value", [True, 0, -1, 1.0, "6", None, float("nan"), 10**9])
def test_a_limit_is_a_whole_number_in_its_range(limit: str, value: Any) -> None:
    with pytest.raises(InvalidConfig) as wrong:
        Budget(**{limit: value})
    assert wrong.value.reason == f"invalid_config:{limit}"


@pytest.mark.parametrize(
    ("limit", "most"),
    [
        ("max_capture_items", 1_000),
        ("max_retrieve_top_k", 100),
        ("max_query_chars", 8_192),
        ("max_answer_chars", 100_000),
        ("max_value_chars", 8_192),
    ],
)
def test_the_most_is_allowed_and_the_refusal_names_it(limit: str, most: int) -> None:
    assert [getattr(Budget(**{limit: value}), limit) for value in (1, most)] == [1, most]
    with pytest.raises(InvalidConfig) as wrong:
        Budget(**{limit: most + 1})
    assert wrong.value.hint == f"a whole number from 1 to {most}"


def test_a_run_may_take_part_of_a_second_and_a_day() -> None:
    assert [Budget(max_seconds=seconds).max_seconds for seconds in (0.001, 0.5, 1, 86_400)] == [0.001, 0.5, 1, 86_400]
    with pytest.raises(InvalidConfig) as wrong:
        Budget(max_seconds=86_400.001)
    assert wrong.value.hint == "seconds, more than 0 and at most 86400"


@pytest.mark.parametrize("value", [True, 0, -1, "25", None, float("nan"), float("inf"), 10**9])
def test_seconds_are_a_finite_number(value: Any) -> None:
    with pytest.raises(InvalidConfig) as wrong:
        Budget(max_seconds=value)
    assert wrong.value.reason == "invalid_config:max_seconds"


def test_a_run_stops_when_its_time_is_used_up() -> None:
    now = 100.0
    deadline = Budget(max_seconds=2.5).deadline(lambda: now)
    check_time(deadline)
    now = 102.5
    with pytest.raises(BudgetSpent) as stopped:
        check_time(deadline)
    assert stopped.value.reason == "max_seconds"


def test_an_answer_keeps_to_its_length() -> None:
    check_answer_length("a" * 700, Budget())
    with pytest.raises(InvalidAnswer) as wrong:
        check_answer_length("a" * 701, Budget())
    assert wrong.value.reason == "invalid_answer:too_long"


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
