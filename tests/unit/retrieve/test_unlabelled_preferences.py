"""Statements that a program adds without a category are shown where a choice depends on them, and nowhere else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mnemic import Actor, Settings, build_engine
from mnemic.engine import MemoryEngine

ANA = Actor(user="ana")
TOLD = (
    "I'm a vegetarian.",
    "I use a wheelchair.",
    "I work as a nurse in Ghent.",
    "I drive a 2014 Volvo estate.",
    "The boiler was serviced in May.",
    "My dentist is Dr. Wolf.",
    "My sister Mia lives in Lisbon.",
    "My thesis is due on 14 June.",
)


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[MemoryEngine]:
    async with build_engine(Settings(store=str(tmp_path / "s.db"))) as one:
        for said in TOLD:
            await one.add(said, actor=ANA)
        yield one


async def shown(engine: MemoryEngine, request: str) -> set[str]:
    return {hit.memory.content for hit in (await engine.context(request, actor=ANA)).hits}


@pytest.mark.parametrize(
    "request_for_food", ["Recommend a restaurant.", "Book a table for dinner.", "Suggest a recipe for tonight."]
)
async def test_a_diet_added_without_a_category_is_shown_for_food(engine: MemoryEngine, request_for_food: str) -> None:
    found = await shown(engine, request_for_food)
    assert "I'm a vegetarian." in found
    assert len(found) <= 3


@pytest.mark.parametrize(
    "request_for_else", ["Fix this Python bug: IndexError", "Thanks, that was helpful.", "Who wrote The Tempest?"]
)
async def test_it_is_not_shown_for_what_does_not_depend_on_it(engine: MemoryEngine, request_for_else: str) -> None:
    assert await shown(engine, request_for_else) == set()


async def test_what_states_a_plain_fact_is_no_preference(engine: MemoryEngine) -> None:
    assert "The boiler was serviced in May." not in await shown(engine, "Recommend a restaurant for tonight.")


async def test_it_is_shown_among_sixty_other_statements(engine: MemoryEngine) -> None:
    kim = Actor(user="kim")
    for place in range(60):
        await engine.add(f"The meeting about dinner table number {place} was on floor {place}.", actor=kim)
    await engine.add("I'm a vegetarian.", actor=kim)
    found = await engine.context("Book a table for dinner.", actor=kim)
    assert "I'm a vegetarian." in {hit.memory.content for hit in found.hits}
