from __future__ import annotations

import pytest

from mnemic.engine import MemoryEngine
from mnemic.language.questions.attributes import asked_keys
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.types import Actor
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


ANA = Actor(user="ana")


def test_a_question_asks_for_a_key() -> None:
    EXAMPLES.assert_right(lambda text, key: asked_keys(text) == {key}, "a_question_asks_for_a_key")


@pytest.mark.parametrize("text", ["Where does Ben live?", "What do I do about the mould?", "Who am I meeting today?"])
def test_other_questions_ask_for_none(text: str) -> None:
    assert asked_keys(text) == frozenset()


async def test_what_is_known_under_the_key_is_no_reason_to_abstain() -> None:
    async with MemoryEngine(store=InProcessStore(), embedder=MiniLmEmbedder()) as engine:
        for text in ("I like tea.", "My dog is Rex.", "I prefer trains.", "I play chess on Sundays."):
            await engine.add(text, actor=ANA)
        unknown = await engine.search("Where do I live?", actor=ANA)
        assert unknown.abstains
        await engine.add("Oslo", key="home_city", actor=ANA)
        known = await engine.search("Where do I live?", actor=ANA)
        assert known.hits[0].memory.key == "home_city"
        assert not known.abstains
