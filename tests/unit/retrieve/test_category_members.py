"""Questions for a set find the instances, which never say of what kind they are."""

from __future__ import annotations

from pathlib import Path

from mnemic.engine import MemoryEngine
from mnemic.retrieve.category_members import instances_of
from mnemic.retrieve.relevance import A_MEMBER
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


ANA = Actor(user="ana")


def test_the_kind_that_a_question_asks_for_has_instances() -> None:
    EXAMPLES.assert_right(
        lambda query, instance: instance in instances_of(query).split(),
        "the_kind_that_a_question_asks_for_has_instances",
    )


def test_other_questions_ask_for_no_kind() -> None:
    EXAMPLES.assert_right(instances_of, "other_questions_ask_for_no_kind")


async def test_which_sports_finds_the_sports(tmp_path: Path) -> None:
    sports = ("On Sundays I play tennis.", "I joined a rowing crew in May.", "I have a ticket for the swimming hall.")
    told = [*sports, *(f"Chapter {number} was long." for number in range(40))]
    async with MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder()) as engine:
        for text in told:
            await engine.add(text, actor=ANA)
        found = await engine.search("Which sports do I do?", actor=ANA, top_k=3)
    assert set(sports) <= {hit.memory.content for hit in found.hits}
    first = next(hit for hit in found.hits if "tennis" in hit.memory.content)
    assert "instances" in first.ranks
    assert "names an instance of what is asked for" in first.why


async def test_a_search_does_not_abstain_beside_an_instance_of_what_is_asked_for(tmp_path: Path) -> None:
    told = ["The puppy sleeps on the rug.", *(f"Chapter {number} was long." for number in range(40))]
    async with MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder()) as engine:
        for text in told:
            await engine.add(text, actor=ANA)
        found = await engine.search("How many pets do I have?", actor=ANA, top_k=50)
        of_none = await engine.search("How many violins do I have?", actor=ANA, top_k=50)
    best = max(hit.relevance or 0.0 for hit in found.hits)
    assert found.relevance is not None
    assert found.relevance >= max(best, A_MEMBER)
    assert not found.abstains
    assert of_none.abstains
