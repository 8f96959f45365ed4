from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import ModelEmpty, ModelInvalidJson, ModelInvalidSchema, RunStopped
from mnemic.policy.budget import Budget
from mnemic.policy.intent_check import MAX_PARTS, check_intent
from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.policy.proposal_check import (
    check_answer,
    check_candidate,
    check_candidates,
    drop_duplicates,
    parse_json,
)
from mnemic.types import Candidate, Kind

POLICY = Policy.of(
    KeyRule("language", allowed_values=frozenset({"english", "español"})),
    "response_style",
    KeyRule("declared_tier", sensitive=True),
    levels=frozenset({"user", "workspace"}),
)
SKIP = replace(POLICY, on_violation="skip")
BUDGET = Budget()
GOOD = {"key": "language", "value": "english"}


def payload(**changes: Any) -> dict[str, Any]:
    return {"items": [{**GOOD, **changes}]}


def reason_of(raw: object, policy: Policy = POLICY, budget: Budget = BUDGET) -> str:
    with pytest.raises(RunStopped) as stopped:
        check_candidates(raw, policy, budget)
    return stopped.value.reason


class TestCandidates:
    def test_a_complete_item_becomes_a_candidate(self) -> None:
        item = {"key": " language ", "value": " English ", "scope": "workspace", "ttl_days": 30, "confidence": 0.9}
        (candidate,) = check_candidates({"items": [item]}, POLICY, BUDGET).candidates
        assert (candidate.key, candidate.content, candidate.level) == ("language", "english", "workspace")
        assert (candidate.ttl, candidate.confidence, candidate.clamped) == (timedelta(days=30), 0.9, ())

    def test_what_is_left_out_takes_the_defaults(self) -> None:
        (candidate,) = check_candidates(payload(), POLICY, BUDGET).candidates
        assert (candidate.level, candidate.ttl, candidate.confidence) == ("user", None, 0.8)

    def test_a_ttl_of_null_is_no_wish(self) -> None:
        (candidate,) = check_candidates(payload(ttl_days=None), POLICY, BUDGET).candidates
        assert (candidate.ttl, candidate.clamped) == (None, ())

    def test_no_items_is_an_answer(self) -> None:
        assert check_candidates({"items": []}, POLICY, BUDGET).candidates == ()

    @pytest.mark.parametrize(
        ("raw", "reason"),
        [
            (None, "invalid_memory_candidates:not_object"),
            ([GOOD], "invalid_memory_candidates:not_object"),
            ("{}", "invalid_memory_candidates:not_object"),
            ({}, "invalid_memory_candidates:items"),
            ({"items": None}, "invalid_memory_candidates:items"),
            ({"items": GOOD}, "invalid_memory_candidates:items"),
            ({"items": "x"}, "invalid_memory_candidates:items"),
            ({"items": ["x"]}, "invalid_memory_candidates:item"),
            ({"items": [None]}, "invalid_memory_candidates:item"),
            ({"items": [{"key": "language"}]}, "invalid_memory_candidates:missing_keys"),
            ({"items": [{"value": "english"}]}, "invalid_memory_candidates:missing_keys"),
            ({"items": [GOOD] * 7}, "invalid_memory_candidates:too_many_items"),
            (payload(key=None), "invalid_memory_candidates:key"),
            (payload(key=3), "invalid_memory_candidates:key"),
            (payload(key="  "), "invalid_memory_candidates:key"),
            (payload(key="language\u200b"), "invalid_memory_candidates:key"),
            (payload(key="l\u202eanguage"), "invalid_memory_candidates:key"),
            (payload(key="language\ud800"), "invalid_memory_candidates:key"),
            (payload(key="language\U000e0041"), "invalid_memory_candidates:key"),
            (payload(key="language\nforged: log line"), "invalid_memory_candidates:key"),
            (payload(key="lаnguage"), "invalid_memory_candidates:key"),  # the second letter is Cyrillic
            (payload(key="k" * 200), "invalid_memory_candidates:key"),
            (payload(key="Language"), "memory_key_not_allowed_policy:Language"),
            (payload(key="secret"), "memory_key_not_allowed_policy:secret"),
            (payload(key="k" * 100), "memory_key_not_allowed_policy:" + "k" * 64),
            (payload(value=None), "invalid_memory_candidates:value"),
            (payload(value=5), "invalid_memory_candidates:value"),
            (payload(value=["english"]), "invalid_memory_candidates:value"),
            (payload(value=" \n "), "invalid_memory_candidates:value"),
            (payload(value="klingon"), "invalid_memory_candidates:value"),
            (payload(value="eng\0lish"), "invalid_memory_candidates:value"),
            (payload(value="english\x1b[2J"), "invalid_memory_candidates:value"),
            (payload(value="eng\u2060lish"), "invalid_memory_candidates:value"),
            (payload(value="english\udfff"), "invalid_memory_candidates:value"),
            (payload(value="v" * 121), "invalid_memory_candidates:value_too_long"),
            (payload(value="v" * 1_000_000), "invalid_memory_candidates:value_too_long"),
            (payload(scope=None), "invalid_memory_candidates:scope"),
            (payload(scope=""), "invalid_memory_candidates:scope"),
            (payload(scope=["user"]), "invalid_memory_candidates:scope"),
            (payload(scope="us\u200ber"), "invalid_memory_candidates:scope"),
            (payload(scope="agent"), "memory_scope_not_allowed_policy:agent"),
            (payload(scope="tenant"), "memory_scope_not_allowed_policy:tenant"),
            (payload(ttl_days="30"), "invalid_memory_candidates:ttl_days"),
            (payload(ttl_days=True), "invalid_memory_candidates:ttl_days"),
            (payload(ttl_days=float("nan")), "invalid_memory_candidates:ttl_days"),
            (payload(ttl_days=float("inf")), "invalid_memory_candidates:ttl_days"),
            (payload(confidence=None), "invalid_memory_candidates:confidence"),
            (payload(confidence="high"), "invalid_memory_candidates:confidence"),
            (payload(confidence=False), "invalid_memory_candidates:confidence"),
            (payload(confidence=float("nan")), "invalid_memory_candidates:confidence"),
            (payload(confidence=float("-inf")), "invalid_memory_candidates:confidence"),
            (payload(quote=7), "invalid_memory_candidates:quote"),
        ],
    )
    def test_each_breach_has_its_reason(self, raw: object, reason: str) -> None:
        assert reason_of(raw) == reason

    def test_the_list_is_measured_before_its_items_are_looked_at(self) -> None:
        class Unread(dict[str, Any]):
            def __contains__(self, name: object) -> bool:
                raise AssertionError("an item was looked at")

        assert reason_of({"items": [Unread()] * 300_000}) == "invalid_memory_candidates:too_many_items"

    @pytest.mark.parametrize(
        ("days", "kept"),
        [(0, 1), (-5, 1), (0.04, 1), (366, 365), (36_500, 365), (10**400, 365), (-(10**400), 1), (1e300, 365)],
    )
    def test_a_ttl_is_clamped_and_says_so(self, days: float, kept: int) -> None:
        (candidate,) = check_candidates(payload(ttl_days=days), POLICY, BUDGET).candidates
        assert candidate.ttl == timedelta(days=kept)
        assert candidate.clamped == ("ttl_days",)

    def test_half_days_are_kept(self) -> None:
        (candidate,) = check_candidates(payload(ttl_days=1.5), POLICY, BUDGET).candidates
        assert (candidate.ttl, candidate.clamped) == (timedelta(hours=36), ())

    @pytest.mark.parametrize(("confidence", "kept"), [(-0.1, 0.0), (1.5, 1.0), (10**400, 1.0), (-(10**400), 0.0)])
    def test_a_confidence_is_clamped_and_says_so(self, confidence: float, kept: float) -> None:
        (candidate,) = check_candidates(payload(confidence=confidence), POLICY, BUDGET).candidates
        assert candidate.confidence == kept
        assert candidate.clamped == ("confidence",)

    def test_keys_scopes_and_values_are_compared_in_their_normal_form(self) -> None:
        item = {"key": "\uff4canguage", "value": "ESPAN\u0303OL", "scope": " user "}
        (candidate,) = check_candidates({"items": [item]}, POLICY, BUDGET).candidates
        assert (candidate.key, candidate.content, candidate.level) == ("language", "español", "user")

    def test_a_value_is_measured_after_normalising(self) -> None:
        (candidate,) = check_candidates(
            {"items": [{"key": "response_style", "value": "n\u0303" * 120}]}, POLICY, BUDGET
        ).candidates
        assert candidate.content == "ñ" * 120

    def test_writing_that_needs_joiners_keeps_them(self) -> None:
        persian, family = "می\u200cخواهم", "👨\u200d👩\u200d👧"
        items = [{"key": "response_style", "value": text} for text in (persian, family)]
        kept = check_candidates({"items": items}, POLICY, BUDGET).candidates
        assert [candidate.content for candidate in kept] == [persian, family]

    def test_the_same_value_twice_is_one_candidate(self) -> None:
        checked = check_candidates(
            {"items": [{"key": "response_style", "value": value} for value in ("Brief", " brief ", "long")]},
            POLICY,
            BUDGET,
        )
        assert [candidate.content for candidate in checked.candidates] == ["Brief", "long"]
        assert [(entry.reason, entry.key) for entry in checked.skipped] == [("duplicate", "response_style")]

    def test_the_same_value_in_two_scopes_is_two_candidates(self) -> None:
        raw = {"items": [{**GOOD, "scope": "user"}, {**GOOD, "scope": "workspace"}]}
        assert len(check_candidates(raw, POLICY, BUDGET).candidates) == 2


class TestWithoutAKey:
    def test_null_is_a_statement_without_one_where_the_policy_allows_it(self) -> None:
        text = "I moved to Madrid, where it is " + "very " * 50 + "hot."
        (candidate,) = check_candidates(payload(key=None, value=text), Policy(), BUDGET).candidates
        assert (candidate.key, candidate.content) == (None, text), "free text, longer than a value may be"
        (keyed,) = check_candidates(payload(key="city", value=" Madrid "), Policy(), BUDGET).candidates
        assert (keyed.key, keyed.content) == ("city", "Madrid")
        assert (
            reason_of(payload(key="city", value=text), Policy(on_violation="stop"))
            == "invalid_memory_candidates:value_too_long"
        )

    def test_a_closed_policy_may_allow_both(self) -> None:
        policy = replace(POLICY, keyless=True)
        kept = check_candidates({"items": [GOOD, {"key": None, "value": "I like tea."}]}, policy, BUDGET).candidates
        assert [(candidate.key, candidate.content) for candidate in kept] == [
            ("language", "english"),
            (None, "I like tea."),
        ]

    @pytest.mark.parametrize(("category", "kept"), [("preference", "preference"), ("gossip", None), (["event"], None)])
    def test_a_category_is_one_of_six_or_none(self, category: object, kept: str | None) -> None:
        (candidate,) = check_candidates(payload(category=category), POLICY, BUDGET).candidates
        assert candidate.category == kept

    @pytest.mark.parametrize(
        ("quote", "kept"),
        [(None, None), (" I speak English. ", "I speak English."), (" ", None), ("q" * 8192, "q" * 8192)],
    )
    def test_a_quote_is_kept_without_its_margins(self, quote: str | None, kept: str | None) -> None:
        (candidate,) = check_candidates(payload(quote=quote), POLICY, BUDGET).candidates
        assert candidate.source.quote == kept

    @pytest.mark.parametrize("quote", ["q" * 8193, "half \ud800", "\udfff", b"bytes"])
    def test_what_no_store_can_hold_is_no_quote(self, quote: object) -> None:
        assert reason_of(payload(quote=quote)) == "invalid_memory_candidates:quote"


class TestSkipping:
    def test_good_candidates_survive_bad_ones(self) -> None:
        items = [GOOD, {"key": "secret", "value": "x"}, "x", {"key": "response_style", "value": 1}]
        checked = check_candidates({"items": items}, SKIP, BUDGET)
        assert [candidate.key for candidate in checked.candidates] == ["language"]
        assert [(entry.key, entry.reason) for entry in checked.skipped] == [
            ("secret", "memory_key_not_allowed_policy:secret"),
            (None, "invalid_memory_candidates:item"),
            ("response_style", "invalid_memory_candidates:value"),
        ]

    def test_what_is_over_the_limit_is_one_entry(self) -> None:
        items = [{"key": "response_style", "value": f"style {number}"} for number in range(50)]
        checked = check_candidates({"items": items}, SKIP, BUDGET)
        assert len(checked.candidates) == 6
        assert [entry.reason for entry in checked.skipped] == ["invalid_memory_candidates:too_many_items"]

    @pytest.mark.parametrize("raw", [None, [], {}, {"items": 1}])
    def test_a_payload_without_a_list_stops_all_the_same(self, raw: object) -> None:
        with pytest.raises(RunStopped):
            check_candidates(raw, SKIP, BUDGET)


class TestOneCandidate:
    def test_free_content_may_be_long_and_is_cleaned(self) -> None:
        text = "I moved to Madrid.\r\n\u200bIt is " + "very " * 1_000 + "hot."
        checked = check_candidate(Candidate(content=text), Policy(), BUDGET)
        assert checked.content == text.replace("\r\n\u200b", "\n")

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"content": "x" * 8193}, "invalid_memory_candidates:value_too_long"),
            ({"content": " \u200b "}, "invalid_memory_candidates:value"),
            ({"content": "a\0b"}, "invalid_memory_candidates:value"),
            ({"content": "a\ud800b"}, "invalid_memory_candidates:value"),
            ({"content": b"bytes"}, "invalid_memory_candidates:value"),
            ({"key": "name", "content": "x" * 121}, "invalid_memory_candidates:value_too_long"),
            ({"key": ""}, "invalid_memory_candidates:key"),
            ({"level": "planet"}, "memory_scope_not_allowed_policy:planet"),
            ({"level": None}, "invalid_memory_candidates:scope"),
            ({"ttl": 30}, "invalid_memory_candidates:ttl_days"),
            ({"confidence": float("nan")}, "invalid_memory_candidates:confidence"),
            ({"kind": "nothing"}, "invalid_memory_candidates:kind"),
            ({"kind": Kind.WORKING}, "invalid_memory_candidates:kind"),
            ({"category": "a\nb"}, "invalid_memory_candidates:category"),
            ({"category": "c" * 65}, "invalid_memory_candidates:category"),
        ],
    )
    def test_each_breach_has_its_reason(self, changes: dict[str, Any], reason: str) -> None:
        with pytest.raises(RunStopped) as stopped:
            check_candidate(replace(Candidate(content="I like tea."), **changes), Policy(), BUDGET)
        assert stopped.value.reason == reason

    @pytest.mark.parametrize(
        ("changes", "hint"),
        [
            ({"content": None}, "the content is not text; `remember` takes messages"),
            ({"content": " \u200b "}, "the content is empty"),
            ({"content": "a\0b"}, "invalid_input:content:nul"),
            ({"content": "x" * 8193}, "at most 8192 characters"),
            ({"content": "x" * 40_000}, "at most 8192 characters"),
            ({"key": "name", "content": None}, "the value is not text"),
            ({"key": "name", "content": " "}, "the value is empty, or has characters that cannot be seen"),
            ({"key": "name", "content": "a\u2060b"}, "the value is empty, or has characters that cannot be seen"),
            ({"key": "name", "content": "x" * 121}, "at most 120 characters under a key"),
            ({"key": "name", "content": "x" * 500}, "at most 120 characters under a key"),
        ],
    )
    def test_a_refused_content_says_what_is_allowed(self, changes: dict[str, Any], hint: str) -> None:
        with pytest.raises(RunStopped) as stopped:
            check_candidate(replace(Candidate(content="I like tea."), **changes), Policy(), BUDGET)
        assert stopped.value.hint == hint

    def test_the_longest_that_is_allowed_is_allowed(self) -> None:
        free = check_candidate(Candidate(content="x" * 8192), Policy(), BUDGET)
        keyed = check_candidate(Candidate(key="name", content=" " + "x" * 120), Policy(), BUDGET)
        named = check_candidate(Candidate(content="x", category="c" * 64), Policy(), BUDGET)
        assert (len(free.content), len(keyed.content), len(named.category or "")) == (8192, 120, 64)

    def test_a_value_outside_the_list_says_so(self) -> None:
        with pytest.raises(RunStopped) as stopped:
            check_candidate(Candidate(key="language", content="klingon"), POLICY, BUDGET)
        assert stopped.value.hint == "not one of the values that the policy allows for this key"

    def test_a_closed_list_of_keys_needs_a_key(self) -> None:
        with pytest.raises(RunStopped) as stopped:
            check_candidate(Candidate(content="I like tea."), POLICY, BUDGET)
        assert stopped.value.reason == "invalid_memory_candidates:missing_keys"
        assert stopped.value.hint == "this policy lists its keys: name one, or set keyless = true in it"
        allowed = check_candidate(Candidate(content="I like tea."), replace(POLICY, keyless=True), BUDGET)
        assert allowed.content == "I like tea."

    def test_clamps_add_up(self) -> None:
        candidate = Candidate(content="x", ttl=timedelta(days=40_000), confidence=3, clamped=("ttl_days",))
        checked = check_candidate(candidate, Policy(), BUDGET)
        assert (checked.ttl, checked.confidence) == (timedelta(days=36_500), 1.0)
        assert checked.clamped == ("ttl_days", "confidence")

    def test_checking_twice_changes_nothing(self) -> None:
        once = check_candidate(Candidate(key="language", content=" ENGLISH", confidence=9), POLICY, BUDGET)
        assert check_candidate(once, POLICY, BUDGET) == once

    def test_memories_of_two_kinds_are_no_duplicates(self) -> None:
        pair = [Candidate(content="Met Ana."), Candidate(content="met ana.", kind=Kind.EPISODIC)]
        assert drop_duplicates(pair) == (tuple(pair), ())


class TestAnswer:
    def test_keys_are_trimmed_and_named_once(self) -> None:
        answer = check_answer({"answer": " Done. ", "used_memory_keys": ["seat", " seat", "", "diet"]})
        assert (answer.answer, answer.used_memory_keys) == ("Done.", ("seat", "diet"))

    @pytest.mark.parametrize(
        "raw",
        [
            {},
            {"answer": 5, "used_memory_keys": []},
            {"answer": "Done."},
            {"answer": "Done.", "used_memory_keys": None},
            {"answer": "Done.", "used_memory_keys": "seat"},
            {"answer": "Done.", "used_memory_keys": [1]},
            {"answer": "a\ud800", "used_memory_keys": []},
        ],
    )
    def test_another_shape_is_refused(self, raw: object) -> None:
        with pytest.raises(ModelInvalidSchema) as failed:
            check_answer(raw)
        assert failed.value.reason == "llm_invalid_schema"

    @pytest.mark.parametrize("raw", [None, [], [{"answer": "Done.", "used_memory_keys": []}], "Done."])
    def test_an_answer_that_is_no_object_is_refused(self, raw: object) -> None:
        with pytest.raises(ModelInvalidJson) as failed:
            check_answer(raw)
        assert failed.value.reason == "llm_invalid_json"

    @pytest.mark.parametrize("text", ["", " \n", "\u200b"])
    def test_a_blank_answer_is_none(self, text: str) -> None:
        with pytest.raises(ModelEmpty) as failed:
            check_answer({"answer": text, "used_memory_keys": []})
        assert failed.value.reason == "llm_empty"


class TestJson:
    def test_strict_json_is_read(self) -> None:
        assert parse_json(' {"items": [1, 2.5, "a]{", null, true]} ') == {"items": [1, 2.5, "a]{", None, True]}

    @pytest.mark.parametrize("text", ["```json\n{}\n``` Anything else?", "Here it is:\n```JSON\n{}\n```"])
    def test_words_around_the_one_fence_are_ignored(self, text: str) -> None:
        assert parse_json(text) == {}

    @pytest.mark.parametrize(
        "text",
        [
            "{",
            '{"a": 1e999}',
            '{"a": 1, "a": 2}',
            '{"a": {"b": 1, "b": 1}}',
            '{"a": "\\ud800"}',
            '{"\\udfff": 1}',
            '"' + "x" * 65_536 + '"',
            "[" * 33 + "]" * 33,
            "[" * 100_000,
            '{"a":' * 20_000,
            "1" * 5_000,
            '"unterminated' + "\\" * 60_000,
            None,
            b"{}",
        ],
    )
    def test_anything_else_is_refused(self, text: object) -> None:
        with pytest.raises(ModelInvalidJson) as failed:
            parse_json(text)
        assert failed.value.reason == "llm_invalid_json"

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("Here it is:\n{\"a\": 1}", {"a": 1}),
            ("{\"a\": 1}\n\nThe user {says} so.", {"a": 1}),
            ("First {\"a\": 0}, no: {\"a\": 1}.", {"a": 1}),
            ("<think>{\"a\": 0}</think>\n{\"a\": 1}", {"a": 1}),
            ("<think>```x```</think>\n```json\n{\"a\": 1}\n```", {"a": 1}),
            ("```python\n{'a': 1, 'b': None}\n```", {"a": 1, "b": None}),
            ("```json\n{\"a\": 0}\n``` or\n```json\n{\"a\": 1}\n```", {"a": 1}),
            ("\ufeff{\"a\": 1}", {"a": 1}),
            ("{\"a\": [1, 2,],}", {"a": [1, 2]}),
            ("{\"a\": None}", {"a": None}),
            ("{\"a\": NaN}", {"a": None}),
            ("[{\"a\": 1}]", [{"a": 1}]),
            ("{\"items\": [{\"a\": 1}, {\"a\": \"cut {", {"items": [{"a": 1}]}),
            ("{\"items\": [{\"a\": {\"b\": 1}}, {\"a", {"items": [{"a": {"b": 1}}]}),
            ("Sure! {\"a\": \"a } brace and a \\\" mark\"}", {"a": "a } brace and a \" mark"}),
        ],
    )  # fmt: skip
    def test_the_value_is_found_whatever_stands_around_it(self, text: str, value: object) -> None:
        assert parse_json(text) == value

    @pytest.mark.parametrize("text", ["{" * 60_000, "[{" * 30_000, "{}" * 30_000, "'" * 60_000, "{'a':" * 9_000])
    def test_a_long_text_of_marks_is_read_or_refused(self, text: str) -> None:
        found: object = {}
        with suppress(ModelInvalidJson):
            found = parse_json(text)
        assert found == {}

    def test_brackets_inside_text_are_no_depth(self) -> None:
        assert parse_json('["' + "[" * 1_000 + '\\"[["]') == ["[" * 1_000 + '"[[']
        assert parse_json("[" * 32 + "]" * 32)

    @pytest.mark.parametrize("text", ["", " \n\t"])
    def test_no_text_at_all_is_its_own_failure(self, text: str) -> None:
        with pytest.raises(ModelEmpty) as failed:
            parse_json(text)
        assert failed.value.reason == "llm_empty"

    def test_the_error_holds_none_of_the_text(self) -> None:
        with pytest.raises(ModelInvalidJson) as failed:
            parse_json('{"secret-canary": ')
        assert "canary" not in str(failed.value)
        assert failed.value.__cause__ is None


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(10**400) | st.floats() | st.text(st.characters()) | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=8,
)
items = st.fixed_dictionaries(
    {},
    optional={
        "key": anything | st.sampled_from(["language", "response_style", "x\ny"]),
        "value": anything | st.sampled_from(["english", "brief"]),
        "scope": anything | st.sampled_from(["user", "workspace", "agent"]),
        "ttl_days": anything,
        "confidence": anything,
        "quote": anything,
    },
)
payloads = anything | st.fixed_dictionaries({"items": anything | st.lists(items | anything, max_size=8)})
intents = anything | st.fixed_dictionaries(
    {"kind": st.sampled_from(["retrieve_memory", "x"])},
    optional={"query": anything, "top_k": anything, "scopes": anything, "parts": anything, "kinds": anything}
    | {name: anything | st.datetimes().map(str) for name in ("happened_from", "happened_to", "as_of")},
)
policies = st.sampled_from([POLICY, SKIP, Policy(), Policy(on_violation="skip")])


def assert_clean(reason: str, code: str) -> None:
    detail = reason.removeprefix(code).removeprefix(":")
    assert len(detail) <= 64
    assert detail.isprintable()
    detail.encode("utf-8")


@given(raw=payloads, policy=policies)
def test_candidates_of_any_shape_are_checked_or_stop_the_run(raw: object, policy: Policy) -> None:
    try:
        checked = check_candidates(raw, policy, BUDGET)
    except RunStopped as stopped:
        assert_clean(stopped.reason, stopped.code)
        return
    assert len(checked.candidates) <= BUDGET.max_capture_items
    for candidate in checked.candidates:
        assert check_candidate(candidate, policy, BUDGET).content == candidate.content
        candidate.content.encode("utf-8")
    for entry in checked.skipped:
        assert entry.reason.isprintable()


@given(raw=intents, policy=policies)
def test_intents_of_any_shape_are_checked_or_stop_the_run(raw: object, policy: Policy) -> None:
    try:
        intent = check_intent(raw, policy, BUDGET)
    except RunStopped as stopped:
        assert_clean(stopped.reason, stopped.code)
        return
    assert isinstance(raw, Mapping)
    assert 1 <= intent.top_k <= BUDGET.max_retrieve_top_k
    assert len(intent.parts) <= MAX_PARTS
    for query in (intent.query, *intent.parts):
        assert 1 <= len(query) <= BUDGET.max_query_chars
    for moment in (intent.happened_from, intent.happened_to, intent.as_of):
        assert moment is None or moment.utcoffset() == timedelta(0)


@given(raw=anything)
def test_answers_of_any_shape_are_checked_or_fail_typed(raw: object) -> None:
    with pytest.raises((ModelInvalidJson, ModelInvalidSchema, ModelEmpty)):
        check_answer(raw)


@given(text=st.text(st.characters()) | st.text('[]{}",:\\0123456789.eE+-ntfu ', max_size=60))
def test_any_text_is_json_or_fails_typed(text: str) -> None:
    with suppress(ModelInvalidJson, ModelEmpty):
        json.dumps(parse_json(text), allow_nan=False).encode("utf-8")
