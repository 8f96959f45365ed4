"""The relevance of hits explains their order, and `run` abstains where a search does."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.engine import MemoryEngine
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.retrieve.diversity import Entry
from mnemic.retrieve.policy_candidates import PREFERENCE_BIAS, RELEVANCE
from mnemic.retrieve.result_assembly import POOLED, explain_order
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.types import Actor, Intent, Message, RecallRequest

ANA = Actor(user="ana")
TOLD = (
    "My dog is called Rex.",
    "I come from Ghent, but I live in Turku now.",
    "I work as a nurse at the hospital.",
    "My sister Ana lives in Lisbon.",
    "I play badminton on Mondays.",
    "I went rowing last summer.",
    "My car is a red Skoda.",
)
QUESTIONS = (
    "what is my dog called?",
    "what do I do for a living?",
    "where am I from?",
    "which sports do I do?",
    "what is the capital of Peru?",
    "Fix this Python bug: IndexError",
    "what is my wife's name?",
    "how tall am I?",
    "when was I born?",
)


def entries(names: str) -> list[Entry]:
    """Return entries with falling scores."""
    return [(name, 1 - place / 100, RELEVANCE) for place, name in enumerate(names)]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=90))
def test_relevances_fall_along_an_order_that_stays(given_ones: list[float]) -> None:
    order = [(f"{place:03}", 0.5, RELEVANCE) for place in range(len(given_ones))]
    relevances = {name: share for (name, _, _), share in zip(order, given_ones, strict=True)}
    found, fitted = explain_order(order, relevances, relevances)
    assert [name for name, _, _ in found] == [name for name, _, _ in order]
    shares = [fitted[name] for name, _, _ in found]
    assert shares == sorted(shares, reverse=True)
    if len(shares) <= POOLED:  # the mean stays: nothing becomes more relevant on the whole
        assert sum(shares) == pytest.approx(sum(given_ones), abs=0.01)


def test_a_relevance_does_not_depend_on_the_number_of_hits() -> None:
    order = [(f"{place:03}", 1 - place / 200, RELEVANCE) for place in range(120)]
    relevances = {name: (place * 37 % 101) / 101 for place, (name, _, _) in enumerate(order)}
    _, many = explain_order(order, relevances, relevances)
    _, fewer = explain_order(order[:POOLED], relevances, relevances)
    assert {name: many[name] for name, _, _ in order[:POOLED]} == {name: fewer[name] for name, _, _ in order[:POOLED]}


def test_messages_and_statements_are_merged_by_relevance() -> None:
    relevances = {"a": 0.2, "b": 0.9, "c": 0.5, "d": 0.1}
    found, fitted = explain_order(entries("abcd"), relevances, {"a", "c"})
    assert [name for name, _, _ in found] == ["b", "a", "c", "d"]  # a and c, messages, keep their order
    assert [score for _, score, _ in found] == [score for _, score, _ in entries("abcd")]
    assert fitted == {"a": 0.35, "b": 0.9, "c": 0.35, "d": 0.1}


def test_what_policy_prefers_keeps_its_place_and_what_is_not_judged_comes_last() -> None:
    given_ones = [*entries("abc"), ("p", 0.6, PREFERENCE_BIAS), ("d", 0.5, RELEVANCE)]
    found, fitted = explain_order(given_ones, {"b": 0.5, "p": 0.1, "d": 0.7}, ())
    assert [name for name, _, _ in found] == ["b", "d", "a", "p", "c"]
    assert fitted == {"b": 0.6, "d": 0.6, "p": 0.1}
    assert explain_order(given_ones, {}, ()) == (given_ones, {})


@pytest.mark.parametrize("question", QUESTIONS)
async def test_no_hit_of_a_search_is_more_relevant_than_one_before_it(tmp_path: Path, question: str) -> None:
    async with MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=MiniLmEmbedder()) as engine:
        await engine.record([Message(role="user", content=text, session="one") for text in TOLD[::2]], actor=ANA)
        for text in TOLD:
            await engine.add(text, actor=ANA)
        result = await engine.search(question, actor=ANA, top_k=10)
    shown = [hit.relevance or 0.0 for hit in result.hits]
    assert len(shown) > 5
    assert shown == sorted(shown, reverse=True)
    assert [hit.score for hit in result.hits] == sorted((hit.score for hit in result.hits), reverse=True)


@pytest.mark.parametrize("question", QUESTIONS)
async def test_a_model_is_shown_nothing_where_a_search_abstains_and_something_elsewhere(question: str) -> None:
    async with MemoryEngine(store=InProcessStore(), embedder=MiniLmEmbedder()) as engine:
        for text in TOLD:
            await engine.add(text, actor=ANA)
        result = await engine.search(question, actor=ANA)
        recalled = await engine.recall(RecallRequest(intent=Intent(query=question)), actor=ANA)
    assert result.abstains == (not recalled.hits)
