from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnemic.errors import RunStopped
from mnemic.policy.budget import Budget
from mnemic.policy.intent_check import check_intent
from mnemic.policy.key_rules import Policy
from mnemic.types import Kind

POLICY = Policy.of("language", "response_style", levels=frozenset({"user", "workspace"}))
BUDGET = Budget()
ASKED = {"kind": "retrieve_memory", "query": "trips"}
NIGHT = datetime(2026, 3, 5, tzinfo=UTC)
"""The midnight that ends 4 March."""


def test_a_complete_intent() -> None:
    raw = {"kind": "retrieve_memory", "query": " incident update ", "top_k": 6, "scopes": ["user", " user "]}
    intent = check_intent(raw, POLICY, BUDGET)
    assert (intent.query, intent.top_k, intent.levels) == ("incident update", 6, ("user",))


@pytest.mark.parametrize("extra", [{}, {"scopes": None}])
def test_no_scopes_leaves_them_to_the_runtime(extra: dict[str, Any]) -> None:
    intent = check_intent({"kind": "retrieve_memory", "query": "q", **extra}, POLICY, BUDGET)
    assert (intent.levels, intent.top_k) == (None, 4)


def test_the_default_top_k_keeps_to_a_small_budget() -> None:
    assert check_intent({"kind": "retrieve_memory", "query": "q"}, POLICY, Budget(max_retrieve_top_k=2)).top_k == 2


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (None, "not_object"),
        ([], "not_object"),
        ({"query": "q"}, "kind"),
        ({"kind": "search", "query": "q"}, "kind"),
        ({"kind": "retrieve_memory"}, "query"),
        ({"kind": "retrieve_memory", "query": 5}, "query"),
        ({"kind": "retrieve_memory", "query": " \u200b"}, "query"),
        ({"kind": "retrieve_memory", "query": "a\ud800"}, "query"),
        ({"kind": "retrieve_memory", "query": "q", "top_k": 0}, "top_k"),
        ({"kind": "retrieve_memory", "query": "q", "top_k": 7}, "top_k"),
        ({"kind": "retrieve_memory", "query": "q", "top_k": True}, "top_k"),
        ({"kind": "retrieve_memory", "query": "q", "top_k": 4.0}, "top_k"),
        ({"kind": "retrieve_memory", "query": "q", "top_k": None}, "top_k"),
        ({"kind": "retrieve_memory", "query": "q", "top_k": 10**400}, "top_k"),
        ({"kind": "retrieve_memory", "query": "q", "scopes": []}, "scopes"),
        ({"kind": "retrieve_memory", "query": "q", "scopes": "user"}, "scopes"),
        ({"kind": "retrieve_memory", "query": "q", "scopes": ["user"] * 10_000}, "scopes"),
        ({"kind": "retrieve_memory", "query": "q", "scopes": [3]}, "scope_item"),
        ({"kind": "retrieve_memory", "query": "q", "scopes": [" "]}, "scope_item"),
        ({"kind": "retrieve_memory", "query": "q", "scopes": ["user", "agent"]}, "scope_not_allowed:agent"),
        ({"kind": "retrieve_memory", "query": "q" * 241}, "query_too_long"),
        ({"kind": "retrieve_memory", "query": "q" * 10**6}, "query_too_long"),
        ({"kind": "retrieve_memory", "query": "q", "parts": "one"}, "parts"),
        ({"kind": "retrieve_memory", "query": "q", "parts": ["a", "b", "c", "d"]}, "parts"),
        ({"kind": "retrieve_memory", "query": "q", "parts": ["a", " "]}, "parts"),
        ({"kind": "retrieve_memory", "query": "q", "parts": ["a" * 241]}, "query_too_long"),
        ({"kind": "retrieve_memory", "query": "q", "parts": ["a" * 10**6]}, "query_too_long"),
        ({"kind": "retrieve_memory", "query": "q", "kinds": []}, "kinds"),
        ({"kind": "retrieve_memory", "query": "q", "kinds": ["dreams"]}, "kinds"),
        ({"kind": "retrieve_memory", "query": "q", "kinds": [["episodic"]]}, "kinds"),
        ({"kind": "retrieve_memory", "query": "q", "happened_from": "last week"}, "happened_from"),
        ({"kind": "retrieve_memory", "query": "q", "happened_from": 5}, "happened_from"),
        ({"kind": "retrieve_memory", "query": "q", "happened_to": "9999-12-31"}, "happened_to"),
        ({"kind": "retrieve_memory", "query": "q", "as_of": "2026-02-30"}, "as_of"),
        ({"kind": "retrieve_memory", "query": "q", "as_of": "2026-03-04T" + "0" * 10**6}, "as_of"),
        ({**ASKED, "happened_from": "2026-03-05", "happened_to": "2026-03-04"}, "happened_to"),
    ],
)
def test_each_breach_has_its_reason(raw: object, reason: str) -> None:
    with pytest.raises(RunStopped) as stopped:
        check_intent(raw, POLICY, BUDGET)
    assert stopped.value.reason == f"invalid_retrieval_intent:{reason}"


def test_parts_kinds_and_times_are_asked_for() -> None:
    intent = check_intent(
        {
            **ASKED,
            "parts": [" trip to Oslo ", "hotel", "hotel"],
            "kinds": ["episodic", "structured", "episodic"],
            "happened_from": "2026-03-01",
            "happened_to": "2026-03-04",
            "as_of": "2026-03-04T12:00:00+02:00",
        },
        POLICY,
        BUDGET,
    )
    assert intent.parts == ("trip to Oslo", "hotel")
    assert intent.kinds == (Kind.EPISODIC, Kind.STRUCTURED)
    assert (intent.happened_from, intent.happened_to) == (datetime(2026, 3, 1, tzinfo=UTC), NIGHT)
    assert intent.as_of == datetime(2026, 3, 4, 10, tzinfo=UTC)


def test_a_day_is_the_whole_day() -> None:
    intent = check_intent(
        {**ASKED, "happened_from": "2026-03-04", "happened_to": "2026-03-04", "as_of": "2026-03-04"}, POLICY, BUDGET
    )
    assert intent.happened_from is not None
    assert intent.happened_to is not None
    assert intent.happened_to - intent.happened_from == timedelta(days=1)
    assert intent.as_of == NIGHT - timedelta(microseconds=1)


def test_a_time_without_an_offset_is_utc() -> None:
    assert check_intent({**ASKED, "as_of": "2026-03-04T12:00"}, POLICY, BUDGET).as_of == datetime(
        2026, 3, 4, 12, tzinfo=UTC
    )


def test_null_asks_for_nothing() -> None:
    names = ("scopes", "parts", "kinds", "happened_from", "happened_to", "as_of")
    assert check_intent({**ASKED, **dict.fromkeys(names)}, POLICY, BUDGET) == check_intent(ASKED, POLICY, BUDGET)
