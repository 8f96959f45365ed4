"""Recorded questions are found where somebody looks for them, and answer nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic import AsyncMemoryManager, Message

FILLING = ("I like rye bread.", "The boiler was serviced in May.", "My flat has no lift.", "I collect brass compasses.")


@pytest.fixture
async def asked_before(tmp_path: Path) -> AsyncMemoryManager:
    async with AsyncMemoryManager(store=str(tmp_path / "mnemic.db")) as manager:
        for text in FILLING:
            await manager.add(text)
        for session in ("s1", "s2"):
            await manager.record([Message(role="user", content="What is my dog called?", session=session)])
        yield manager


async def test_an_earlier_question_does_not_answer_itself(asked_before: AsyncMemoryManager) -> None:
    found = await asked_before.search("What is my dog called?")
    questions = [hit for hit in found.hits if hit.memory.content.endswith("?")]
    assert found.abstains
    assert all(hit.relevance == 0 for hit in questions)
    assert all("only asks" in hit.why and hit.ranks["question"].score < 0 for hit in questions)
    assert not (await asked_before.context("What is my dog called?")).hits


async def test_the_answer_comes_before_an_earlier_question(asked_before: AsyncMemoryManager) -> None:
    await asked_before.add("My dog is called Rex.")
    found = await asked_before.search("What is my dog called?")
    assert found.hits[0].memory.content == "My dog is called Rex."
    assert [hit.memory.content for hit in (await asked_before.context("What is my dog called?")).hits] == [
        "My dog is called Rex."
    ]


async def test_who_asks_for_questions_finds_them(asked_before: AsyncMemoryManager) -> None:
    found = await asked_before.search("What did I ask about my dog?")
    assert found.hits[0].memory.content == "What is my dog called?"
    assert not found.abstains


async def test_a_question_between_people_stays(tmp_path: Path) -> None:
    async with AsyncMemoryManager(store=str(tmp_path / "mnemic.db")) as manager:
        said = Message(role="user", speaker="Ben", content="How old is your dog Rex?", session="s1")
        await manager.record([said])
        found = await manager.search("How old is the dog?")
    assert "question" not in found.hits[0].ranks


@pytest.mark.parametrize(
    "question", ["What is my sister's name?", "Who is Emma?", "How is my sister called?", "Do I have a sister?"]
)
async def test_who_somebody_is_answers_questions_for_it(tmp_path: Path, question: str) -> None:
    async with AsyncMemoryManager(store=str(tmp_path / "mnemic.db")) as manager:
        for text in (*FILLING, "My sister Emma."):
            await manager.add(text)
        first, *_ = (await manager.search(question)).hits
    assert first.memory.content == "My sister Emma."
