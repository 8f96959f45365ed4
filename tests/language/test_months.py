"""Months in six languages beside English."""

from __future__ import annotations

from mnemic.language.questions.times import named_date
from mnemic.language.text.time_words import named_month
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_a_month_counts_where_it_stands_like_one() -> None:
    EXAMPLES.assert_right(named_month, "a_month_counts_where_it_stands_like_one")


def test_a_question_may_name_month_and_year_in_any_of_them() -> None:
    named = named_date("¿Dónde vivía en marzo de 2026?")

    assert named is not None
    assert (named.year, named.month, named.day) == (2026, 3, None)
