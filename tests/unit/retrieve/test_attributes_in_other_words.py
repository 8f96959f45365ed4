"""A question for an attribute finds the statement that says it in other words, and a high relevance of it."""

from __future__ import annotations

import pytest

from mnemic.engine import MemoryEngine
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.types import Actor

ANA = Actor(user="ana")
TOLD = {
    "dog": "My dog's name is Rex.",
    "job": "I work as a nurse.",
    "brother": "My brother is a plumber.",
    "from": "I'm originally from Ghent.",
    "husband": "I'm married to Paul.",
    "age": "I am 34 years old.",
    "car": "My car is a Volvo.",
}
OTHERS = (
    "The boiler was serviced in May.",
    "I play badminton on Mondays.",
    "The library closes at eight.",
    "We painted the fence green.",
    "My aunt bakes rye bread.",
    "The train to the coast was late.",
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("what is my dog called?", "dog"),
        ("what do I call my dog?", "dog"),
        ("what do I do for a living?", "job"),
        ("what's my profession?", "job"),
        ("what does my brother do for a living?", "brother"),
        ("where am I from?", "from"),
        ("where do I come from?", "from"),
        ("what is my husband called?", "husband"),
        ("how old am I?", "age"),
        ("what do I drive?", "car"),
    ],
)
async def test_an_attribute_is_found_in_the_words_of_its_statement(question: str, answer: str) -> None:
    async with MemoryEngine(store=InProcessStore(), embedder=MiniLmEmbedder()) as engine:
        for text in (*TOLD.values(), *OTHERS):
            await engine.add(text, actor=ANA)
        found = await engine.search(question, actor=ANA, top_k=3)
    first, second, *_ = found.hits
    assert first.memory.content == TOLD[answer]
    assert not found.abstains
    assert (first.relevance or 0.0) > (second.relevance or 0.0)


async def test_a_list_by_meant_words_is_named_in_the_ranks_and_in_the_reason() -> None:
    async with MemoryEngine(store=InProcessStore(), embedder=MiniLmEmbedder()) as engine:
        for text in (*TOLD.values(), *OTHERS):
            await engine.add(text, actor=ANA)
        found = await engine.search("what is my husband called?", actor=ANA, top_k=1)
    assert "answers" in found.hits[0].ranks
    assert "says what is asked for in other words" in found.hits[0].why
