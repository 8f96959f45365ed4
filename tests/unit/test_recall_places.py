"""Places of statements among the messages of a long chat, and small talk, in what a model call is shown."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from mnemic.engine.recall import choose
from mnemic.extract.messages import MESSAGE_CATEGORY
from mnemic.policy.key_rules import Policy
from mnemic.retrieve.policy_candidates import PINNED
from mnemic.types import (
    Actor,
    Hit,
    Intent,
    Kind,
    Memory,
    Origin,
    Rank,
    RecallRequest,
    SearchResult,
    Source,
    Trust,
    Where,
)

ANA = Actor(user="ana")
NOW = datetime(2026, 5, 3, tzinfo=UTC)


def hit(memory_id: str, relevance: float, category: str | None = MESSAGE_CATEGORY) -> Hit:
    memory = Memory(
        memory_id=memory_id, version=1, content=memory_id, category=category, kind=Kind.LONG_TERM,
        scope=ANA.scope("user"), confidence=0.8, created_at=NOW, updated_at=NOW,
        source=Source(origin=Origin.USER_STATED), trust=Trust.HIGH,
    )  # fmt: skip
    return Hit(memory=memory, score=0.3, ranks={"keyword": Rank(1, 2.0)}, relevance=relevance)


def shown(request: str, hits: list[Hit]) -> list[str]:
    result = SearchResult(hits=tuple(hits), errors={}, where=Where(scopes=(ANA.scope("user"),)), query=request)
    asked = RecallRequest(intent=Intent(query=request, top_k=2))
    return [one.memory.memory_id for one in choose(result, asked, Policy(), ANA).hits]


def test_a_statement_is_shown_that_messages_passed_and_no_message_beyond_the_places() -> None:
    chat = [hit("far", 0.01), hit("near", 0.2), hit("third", 0.4)]
    assert shown("What is my dog called?", [*chat, hit("statement", 0.9, None)]) == ["near", "statement"]
    assert shown("What is my dog called?", [*chat, hit("weak", 0.05, None)]) == ["near"]
    statements = [hit(name, 0.9, None) for name in ("one", "two", "three")]
    assert shown("What is my dog called?", statements) == ["one", "two"]


@pytest.mark.parametrize("request_", ["Good morning!", "Thanks, that was helpful."])
def test_small_talk_is_shown_nothing(request_: str) -> None:
    assert shown(request_, [hit("near", 0.9)]) == []


def test_of_what_is_pinned_that_comes_first_on_which_the_request_depends() -> None:
    def pinned(content: str) -> Hit:
        one = hit(content, 0.1, "instruction")
        return replace(one, score=0.01, reason=PINNED)

    hits = [pinned("Always name the river"), pinned("Always give the price of a dinner")]
    assert shown("Suggest a dinner for two.", hits) == ["Always give the price of a dinner", "Always name the river"]


def test_a_message_is_left_out_beside_facts_that_say_most_of_it() -> None:
    def with_quote(content: str, quote: str | None, category: str | None) -> Hit:
        one = hit(content, 0.9, category)
        source = Source(origin=Origin.USER_STATED, session="s", quote=quote)
        return replace(one, memory=replace(one.memory, source=source))

    short = with_quote("My dog is called Pickle, you know", None, MESSAGE_CATEGORY)
    long = with_quote("My dog is called Pickle. " + "She came from the shelter in spring. " * 3, None, MESSAGE_CATEGORY)
    fact = with_quote("The dog is called Pickle", "My dog is called Pickle", "fact")
    assert shown("What is my dog called?", [fact, short]) == [fact.memory.memory_id]
    assert shown("What is my dog called?", [fact, long]) == [fact.memory.memory_id, long.memory.memory_id]


def on(hit_: Hit, day: int) -> Hit:
    return replace(hit_, memory=replace(hit_.memory, occurred_at=datetime(2026, 4, day, tzinfo=UTC)))


@pytest.mark.parametrize(
    ("request_", "order"),
    [
        ("In which order did I visit Rome and Oslo?", ["early", "late"]),
        ("Which of the two trips came first?", ["early", "late"]),
        ("How did my running develop over the months?", ["early", "late"]),
        ("Where did I order the pizza?", ["late", "early"]),
        ("What did I do last week?", ["late", "early"]),
    ],
)
def test_what_a_question_for_an_order_is_shown_comes_in_time(request_: str, order: list[str]) -> None:
    assert shown(request_, [on(hit("late", 0.9), 20), on(hit("early", 0.4), 2), on(hit("third", 0.4), 1)]) == order


@pytest.mark.parametrize(
    ("said", "always"),
    [
        ("Milo called it Sir Prickles.", False),
        ("I write Python with uv and pytest, never with poetry.", False),
        ("Check with me before you send anything.", True),
        ("Don't book anything without asking me first.", True),
        ("Buche nie etwas, ohne mich zu fragen.", True),
    ],
)
def test_only_what_is_an_order_is_shown_for_every_question(said: str, always: bool) -> None:
    one = hit(said, 0.001, "instruction")
    read = replace(
        one, memory=replace(one.memory, source=replace(one.memory.source, quote=said)), reason=PINNED, ranks={}
    )
    assert shown("Who wrote Middlemarch?", [read]) == ([said] if always else [])
    assert shown("Who wrote Middlemarch?", [replace(one, reason=PINNED, ranks={})]) == [said]
