"""Questions for what happened at a time: the answer has no word of the question and does not resemble it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemic import Actor, Settings, build_engine
from mnemic.engine import MemoryEngine
from mnemic.language.questions.times import asked_about
from mnemic.types import Candidate, Message
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


KIM, CHAT = Actor(user="kim"), Actor(user="chat")
NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
TOLD = (
    (400, "Ana started a new job at the harbour."),
    (90, "I sold my motorbike."),
    (40, "Ana painted the kitchen green."),
    (36, "I visited my aunt in Bruges."),
    (35, "My brother Tom ran a marathon."),
    (34, "I'm a vegetarian."),
    (5, "Ana bought a kayak."),
)
SAID = (
    (100, "Ana", "The new job at the harbour started."),
    (40, "Ana", "We painted the kitchen green today."),
    (40, "Tom", "Nice colour."),
    (33, "Ana", "I finally climbed Mont Ventoux, it was so steep!"),
    (33, "Tom", "Congrats! I only watched films."),
    (5, "Ana", "I bought a kayak!"),
)


async def told(engine: MemoryEngine) -> None:
    for days, said in TOLD:
        await engine.add(Candidate(content=said, occurred_at=NOW - timedelta(days=days)), actor=KIM)
    messages = [
        Message(role="user", content=said, speaker=who, sent_at=NOW - timedelta(days=days), session=str(days))
        for days, who, said in SAID
    ]
    await engine.record(messages, actor=CHAT)


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("What did Ana do last month?", {"Ana painted the kitchen green."}),
        ("What did Ana do in October?", {"Ana painted the kitchen green."}),
        ("What did I do last month?", {"I visited my aunt in Bruges."}),
        ("What did Tom do last month?", {"My brother Tom ran a marathon."}),
        ("What did my brother do last month?", {"My brother Tom ran a marathon."}),
        ("What has Ana been up to lately?", {"Ana bought a kayak."}),
        ("What did Ana do last year?", {"Ana started a new job at the harbour."}),
        ("What happened in August?", {"I sold my motorbike."}),
        ("Was hat Ana letzten Monat gemacht?", {"Ana painted the kitchen green."}),
        ("Qu'a fait Ana le mois dernier ?", {"Ana painted the kitchen green."}),
        ("¿Qué hizo Ana el mes pasado?", {"Ana painted the kitchen green."}),
        ("Cosa ha fatto Ana il mese scorso?", {"Ana painted the kitchen green."}),
        ("Wat heeft Ana vorige maand gedaan?", {"Ana painted the kitchen green."}),
        (
            "What happened last month?",
            {"Ana painted the kitchen green.", "I visited my aunt in Bruges.", "My brother Tom ran a marathon."},
        ),
    ],
)
async def test_what_was_told_of_the_time_comes_first(tmp_path: Path, asked: str, first: set[str]) -> None:
    async with build_engine(Settings(store=str(tmp_path / "s.db"))) as engine:
        await told(engine)
        found = await engine.search(asked, actor=KIM, asked_at=NOW)
        assert {hit.memory.content for hit in found.hits[: len(first)]} == first
        assert not found.abstains
        assert all("period" in hit.ranks for hit in found.hits[: len(first)])
        assert "what happened at the time" in found.hits[0].why


async def test_the_messages_of_the_person_are_shown(tmp_path: Path) -> None:
    async with build_engine(Settings(store=str(tmp_path / "s.db"))) as engine:
        await told(engine)
        block = await engine.context("What did Ana do last month?", actor=CHAT, asked_at=NOW)
        assert {hit.memory.content for hit in block.hits} == {SAID[1][2], SAID[3][2]}
        assert (await engine.search("What did Bob do last month?", actor=CHAT, asked_at=NOW)).abstains
        assert (await engine.search("What did Bob do last month?", actor=KIM, asked_at=NOW)).abstains


def test_whom_it_is_about() -> None:
    EXAMPLES.assert_right(asked_about, "whom_it_is_about")
