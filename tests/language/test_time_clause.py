"""Clauses of a query that tell a time by an event."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.language.questions.time_clause import LONGEST, READ, Clause, Side, clause_of


@pytest.mark.parametrize(
    ("query", "event", "side"),
    [
        ("What did I like before the move?", "the move", "before"),
        ("Where did I live before we moved to Porto?", "we moved to Porto", "before"),
        ("Before I moved to Porto where did I live?", "I moved to Porto", "before"),
        ("Since I started the new job, what has changed?", "I started the new job", "after"),
        ("what did we eat after the trip to Lisbon?", "the trip to Lisbon", "after"),
        ("Where was I following my surgery?", "my surgery", "after"),
        ("What did she say when I called the bank?", "I called the bank", "during"),
        ("What did we see during our honeymoon?", "our honeymoon", "during"),
        ("Who wrote to me until the wedding but not later?", "the wedding", "before"),
        ("Was aß ich vor dem Umzug?", "dem Umzug", "before"),
        ("Wo wohnte ich, bevor ich umgezogen bin?", "ich umgezogen bin", "before"),
        ("Was ist passiert, seit ich den neuen Job habe?", "ich den neuen Job habe", "after"),
        ("Où habitais-je avant le déménagement ?", "le déménagement", "before"),
        ("¿Dónde vivía antes de la mudanza?", "de la mudanza", "before"),
        ("Dove vivevo prima del trasloco?", "del trasloco", "before"),
        ("Onde eu morava depois da mudança?", "da mudança", "after"),
        ("Waar woonde ik voor de verhuizing?", "de verhuizing", "before"),
        ("搬家之前我住在哪里?", "搬家", "before"),
        ("引っ越しの前に何を食べましたか", "引っ越し", "before"),
        ("이사 전에 어디에 살았어?", "이사", "before"),
    ],
)
def test_a_clause_is_its_event_and_the_side_of_it(query: str, event: str, side: str) -> None:
    assert clause_of(query) == Clause(text=event, side=Side(side))


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


@pytest.mark.parametrize(
    "query",
    [
        "",
        "Where does Nora live?",
        "What is due before tomorrow?",
        "What do I do after 5 pm?",
        "Wake me before 17:30",
        "What is planned before the weekend?",
        "until Friday",
        "What happened before March?",
        "What did I do the week before August 3, 2023?",
        "what happened the day before yesterday",
        "What have I read since 2020?",
        "Who gave it to me when we met on Aug 15th?",
        "during the night",
        "a good wine for after dinner",
        "What did I do after two weeks ago?",
        "before I forget, where do I live?",
        "Before you answer, check my notes",
        "What did I mention before we started discussing cards?",
        "the order in which I told of it throughout our conversations",
        "After all, who cares?",
        "Who looks after the dog?",
        "Who was I named after my grandfather or my uncle?",
        "Do you know when I moved to Porto?",
        "When did I move to Porto?",
        "What do I do when it rains?",
        "What do I usually eat after the match?",
        "How long was it between when I called and when she came?",
        "How many days after the wedding did we fly?",
        "Tips for following dreams",
        "vor zwei Wochen",
        "Wann fährt der Zug nach Lissabon?",
        "三天之前我吃了什么",
        "before",
    ],
)
def test_what_tells_no_event_is_no_clause(query: str) -> None:
    assert clause_of(query, date(2024, 6, 15)) is None


@given(st.text(max_size=400))
def test_any_text_is_read(query: str) -> None:
    clause = clause_of(f"before {query}")
    assert clause is None or (clause.text and len(clause.text) <= LONGEST)


def test_a_long_text_is_read_at_its_beginning() -> None:
    assert clause_of("Which flat was it before the move? " + "so " * READ) == Clause(text="the move", side=Side.BEFORE)
    assert clause_of("so " * READ + "before the move") is None
