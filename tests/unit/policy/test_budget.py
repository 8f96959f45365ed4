from __future__ import annotations

from typing import Any

import pytest

from mnemic.errors import BudgetSpent, InvalidAnswer, InvalidConfig
from mnemic.policy.budget import Budget, check_answer_length, check_time


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
