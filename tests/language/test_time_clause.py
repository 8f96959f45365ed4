"""Clauses of a query that tell a time by an event."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.language.questions.times import LONGEST, READ, Clause, Side, clause_of
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_a_clause_is_its_event_and_the_side_of_it() -> None:
    EXAMPLES.assert_right(
        lambda query, event, side: clause_of(query) == Clause(text=event, side=Side(side)),
        "a_clause_is_its_event_and_the_side_of_it",
    )


@pytest.mark.parametrize(
    ("query", "days"),
    [
        ("the week before the move", 7.0),
        ("What happened two days after the wedding?", 2.0),
        ("What was said the night before the exam?", 1.0),
        ("Who called a couple of weeks before the move?", 14.0),
    ],
)
def test_a_span_next_to_an_event_bounds_it(query: str, days: float) -> None:
    clause = clause_of(query)
    assert clause is not None
    assert clause.days == days


def test_what_tells_no_event_is_no_clause() -> None:
    EXAMPLES.assert_right(lambda query: clause_of(query, date(2024, 6, 15)), "what_tells_no_event_is_no_clause")


@given(st.text(max_size=400))
def test_any_text_is_read(query: str) -> None:
    clause = clause_of(f"before {query}")
    assert clause is None or (clause.text and len(clause.text) <= LONGEST)


def test_a_long_text_is_read_at_its_beginning() -> None:
    assert clause_of("Which flat was it before the move? " + "so " * READ) == Clause(text="the move", side=Side.BEFORE)
    assert clause_of("so " * READ + "before the move") is None
