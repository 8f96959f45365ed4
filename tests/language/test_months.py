"""Months in six languages beside English."""

from __future__ import annotations

import pytest

from mnemic.language.questions.named_dates import named_date
from mnemic.language.text.months import named_month


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Wo habe ich im März gewohnt?", (3, None)),
        ("Was habe ich am 3. Mai gesagt?", (5, 3)),
        ("Où habitais-je en août ?", (8, None)),
        ("au mois d'octobre", (10, None)),
        ("¿Qué dije el 14 de mayo?", (5, 14)),
        ("dezembro de 2025", (12, None)),
        ("vanaf maart", (3, None)),
        ("Is there any mayo left?", None),
        ("I ate a Mars bar", None),
        ("the mai tai bar", None),
    ],
)
def test_a_month_counts_where_it_stands_like_one(text: str, found: tuple[int, int | None] | None) -> None:
    assert named_month(text) == found


def test_a_question_may_name_month_and_year_in_any_of_them() -> None:
    named = named_date("¿Dónde vivía en marzo de 2026?")

    assert named is not None
    assert (named.year, named.month, named.day) == (2026, 3, None)
