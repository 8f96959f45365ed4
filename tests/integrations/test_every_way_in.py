"""Whichever way a conversation comes in, memory answers the same questions the same way: what matters is kept, what was
said is found, what was true is told of its time, and what is to be forgotten is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemic import Settings, build_engine
from mnemic.engine import MemoryEngine
from mnemic.types import Hit, Kind
from tests.integrations.ways_in import ANA, WAYS, Way

TOLD = (
    ("I live in Valencia.", datetime(2026, 1, 10, 9, tzinfo=UTC)),
    ("I'm allergic to peanuts.", datetime(2026, 1, 10, 10, tzinfo=UTC)),
    ("Remember I can't take stairs, I use a wheelchair.", datetime(2026, 1, 11, 9, tzinfo=UTC)),
    ("Remember that the spare key is under the blue pot.", datetime(2026, 1, 12, 9, tzinfo=UTC)),
    ("My passport expires in May 2031.", datetime(2026, 2, 2, 9, tzinfo=UTC)),
    ("The plumber rang twice this morning about the boiler.", datetime(2026, 2, 20, 9, tzinfo=UTC)),
    ("I moved to Madrid in April 2026.", datetime(2026, 4, 20, 9, tzinfo=UTC)),
)
REQUEST = "Please forget what I told you about my passport."
ASKED = datetime(2026, 6, 1, 9, tzinfo=UTC)
CLOSED = "Valencia"


async def hits(engine: MemoryEngine, question: str) -> Sequence[Hit]:
    return (await engine.search(question, actor=ANA)).hits


async def answers(engine: MemoryEngine, question: str) -> list[str]:
    return [hit.memory.content for hit in await hits(engine, question)]


async def contents(engine: MemoryEngine) -> list[str]:
    return [one.content for one in await engine.list(actor=ANA, limit=100)]


async def check_answers(engine: MemoryEngine, way: Way) -> None:
    """The questions that every way is asked."""
    assert "peanuts" in (await answers(engine, "Am I allergic to anything?"))[0], "a safety fact is kept"
    assert "wheelchair" in (await answers(engine, "Can I take the stairs?"))[0], "a safety fact is kept"
    assert "blue pot" in (await answers(engine, "Where is the spare key?"))[0], "what is to be remembered is kept"
    if way.records:
        assert "plumber" in (await answers(engine, "Who rang about the boiler?"))[0], "what was said is found"
    assert "passport" in (await answers(engine, "When does my passport expire?"))[0]
    then = await answers(engine, "Where did I live in March 2026?")
    assert any(CLOSED in one for one in then[: 1 if way.understands else 2]), then
    now = await hits(engine, "Where do I live?")
    assert "Madrid" in now[0].memory.content, now
    held = [one for one in now if CLOSED in one.memory.content]
    assert all(one.outdated_by is not None and one.memory.kind is Kind.EPISODIC for one in held), held


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
async def test_every_way_in_is_asked_the_same(way: Way, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    async with way.opened(store) as say:
        for text, at in TOLD:
            assert not await say(text, at), text
        requests = await say(REQUEST, ASKED) if way.hears else ()
    async with build_engine(Settings(store=str(store))) as engine:
        await check_answers(engine, way)
        if not way.hears:
            return
        assert REQUEST not in await contents(engine), "a request is carried out, not kept"
        (request,) = requests
        assert request.kind == "forget"
        named = [(await engine.get(one, actor=ANA)).content for one in request.memory_ids]
        assert named
        assert all("passport" in one for one in named), named
        await engine.carry_out(request, actor=ANA)
        assert not [one for one in await contents(engine) if "passport" in one]
        await check_rest(engine)


async def check_rest(engine: MemoryEngine) -> None:
    """Nothing else was forgotten."""
    assert "wheelchair" in (await answers(engine, "Can I take the stairs?"))[0]
    assert "Madrid" in (await answers(engine, "Where do I live?"))[0]


LABELLED = "Support agent: I live in Lisbon and I am vegan.\nEve: I am vegan, too."


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
async def test_what_others_say_in_a_users_message_is_no_fact_of_the_users(way: Way, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    async with way.opened(store) as say:
        await say(LABELLED, TOLD[0][1])
        await say("Update: I live in Bergen now.", TOLD[1][1])
    async with build_engine(Settings(store=str(store))) as engine:
        kept = await engine.list(actor=ANA, limit=100)
        assert {one.content for one in kept if one.key == "home_city"} <= {"Bergen"}
        assert not [one for one in kept if one.key == "diet"]
        assert "Bergen" in (await answers(engine, "Where do I live?"))[0]
        facts = [one.content for one in kept if one.kind is not Kind.EPISODIC]
        assert not way.hears or not [one for one in facts if "Lisbon" in one or "vegan" in one], facts
        if "record" in way.name:  # an adapter records no message that only shows others' words
            assert [one for one in kept if "Lisbon" in one.content], "what was said is kept"
