"""One reader of times for telling and asking, in seven languages: days, weeks, a fortnight, half a year, a weekday."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from mnemic.language.text.time_expressions import period_of
from mnemic.policy.statement_dates import times_in
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)
WEDNESDAY = datetime(2026, 5, 6, 12, tzinfo=UTC)


def told_times(text: str) -> Any:
    """Since when it is true, until when, and when it happened."""
    return times_in(text, WEDNESDAY)


def asked_days(text: str) -> tuple[date, date] | None:
    found = period_of(text, WEDNESDAY.date())
    return None if found is None else (found.begin, found.end)


@pytest.mark.parametrize(
    "section",
    [
        "a_day_is_that_of_what_is_told",
        "a_change_at_a_longer_time_dates_what_holds_since",
        "what_changes_nothing_is_not_dated_by_a_longer_time",
    ],
)
def test_what_is_told_has_the_times_of_its_words(section: str) -> None:
    EXAMPLES.assert_right(told_times, section, floor=1.0)


def test_a_question_means_the_same_days() -> None:
    EXAMPLES.assert_right(asked_days, "a_question_means_the_same_days", floor=1.0)
