"""Changes of something known that a message implies: they take its place, however the messages come in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mnemic.engine import MemoryEngine
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.types import Actor, Message
from mnemic_stores.in_memory_store import InProcessStore

ACTOR = Actor(user="ada")
FIRST = datetime(2026, 3, 2, 9, tzinfo=UTC)


def said(text: str, days: int, role: str = "user") -> Message:
    return Message(role=role, content=text, sent_at=FIRST + timedelta(days=days), session=f"day {days}")


KNOWN = said("Please remember that our cruise leaves from Genoa.", 0)
IMPLIED = said("Sorry, I mixed that up: it's Savona, not Genoa.", 1)


@pytest.fixture
def engine() -> MemoryEngine:
    return MemoryEngine(store=InProcessStore(), embedder=MiniLmEmbedder())


async def live(engine: MemoryEngine) -> list[str]:
    return [memory.content for memory in await engine.list(actor=ACTOR)]


async def test_beside_what_it_changes_it_takes_its_place(engine: MemoryEngine) -> None:
    async with engine:
        await engine.capture(KNOWN, actor=ACTOR)
        await engine.capture(IMPLIED, actor=ACTOR)
        told = await live(engine)
    assert len(told) == 1
    assert "Savona" in told[0]


async def test_messages_captured_together_change_what_those_before_them_told(engine: MemoryEngine) -> None:
    async with engine:
        reports = await engine.capture_many([KNOWN, said("Noted.", 0, "assistant"), IMPLIED], actor=ACTOR)
        told = await live(engine)
    assert [report is None for report in reports] == [False, True, False]
    assert len(told) == 1
    assert "Savona" in told[0]


async def test_comfort_corrects_nothing_that_was_told_before_it(engine: MemoryEngine) -> None:
    async with engine:
        await engine.capture(said("Please remember that our puppy Bruno came from Leeds.", 0), actor=ACTOR)
        await engine.capture(said("Sorry to hear that, Henrik. Is there anything new on your side?", 0), actor=ACTOR)
        told = await live(engine)
    assert len(told) == 1
    assert "Bruno" in told[0]


async def test_what_only_keeps_company_is_no_change_either(engine: MemoryEngine) -> None:
    async with engine:
        await engine.capture(said("Please remember that I love watching classics.", 0), actor=ACTOR)
        await engine.capture(
            said("I'll give you a shout whenever I have run out of classics to watch!", 1), actor=ACTOR
        )
        told = await live(engine)
    assert told == ["I love watching classics."]


HOBBIES = ("chess", "rowing", "pottery", "sailing", "knitting", "birdwatching", "climbing", "fencing", "gardening")
PLACES = ("spring", "Norway", "company")
LONG_CHAT = [f"I love {hobby}, especially in {place}." for hobby in HOBBIES for place in PLACES]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "My favourite place has to be Lucca, Tuscany!",
            "I actually have not been. I will take note of it so that I can visit them the next time I am in Lucca!",
        ),
        ("My favourite dessert is lava cake.", "Let the cake rest once it is out of the oven."),
        ("I love lava cake, this cake is incredible.", "Let the cake rest once it is out of the oven."),
    ],
)
async def test_in_a_long_chat_a_passing_remark_changes_nothing(engine: MemoryEngine, before: str, after: str) -> None:
    async with engine:
        for text in LONG_CHAT:
            await engine.add(text, actor=ACTOR)
        await engine.capture(said(before, 0), actor=ACTOR)
        known = set(await live(engine))
        assert len(known) > len(LONG_CHAT)
        await engine.capture(said(after, 1), actor=ACTOR)
        assert known <= set(await live(engine))


async def test_in_a_long_chat_a_change_takes_the_place_of_what_it_changes(engine: MemoryEngine) -> None:
    async with engine:
        for text in LONG_CHAT:
            await engine.add(text, actor=ACTOR)
        await engine.capture(KNOWN, actor=ACTOR)
        await engine.capture(IMPLIED, actor=ACTOR)
        told = [text for text in await live(engine) if text not in LONG_CHAT]
    assert len(told) == 1
    assert "Savona" in told[0]


async def test_talk_of_the_world_ends_nothing_of_its_speakers(engine: MemoryEngine) -> None:
    async with engine:
        await engine.capture(said("I prefer the comedy genre while watching movies.", 0), actor=ACTOR)
        await engine.capture(
            said("Since its start in 1991 that comedy channel cancelled over 90 shows!", 1), actor=ACTOR
        )
        told = await live(engine)
    assert told == ["I prefer the comedy genre while watching movies."]


async def test_a_short_remark_still_ends_what_it_names(engine: MemoryEngine) -> None:
    async with engine:
        await engine.capture(said("The barbecue is on 12 July.", 0), actor=ACTOR)
        await engine.capture(said("The barbecue is off, sadly.", 1), actor=ACTOR)
        told = await live(engine)
    assert "The barbecue is on 12 July." not in told
