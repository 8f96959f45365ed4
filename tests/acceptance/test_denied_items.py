"""Denials: of one item of a list, which leaves the others, and of something else, which leaves all that was said."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from mnemic.engine import MemoryEngine
from mnemic.types import Actor, Message, Status
from mnemic_eval.replay import chosen_embedder, throwaway_engine

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.fixture
async def engine() -> AsyncIterator[MemoryEngine]:
    async with throwaway_engine(chosen_embedder(None, None)) as made:
        yield made


async def live(engine: MemoryEngine, texts: tuple[str, ...], path: str) -> set[str]:
    """Return what is active at the end of one talk that tells the texts."""
    actor = Actor(user=f"{path} {texts}")
    for number, text in enumerate(texts):
        if path == "add":
            await engine.add(text, actor=actor)
        else:
            at = MONDAY + timedelta(minutes=number)
            await engine.capture(Message(role="user", content=text, sent_at=at, session="s"), actor=actor)
    found = await engine.list(actor=actor, limit=20)
    return {one.content for one in found if one.status is Status.ACTIVE}


@pytest.mark.parametrize(
    ("told", "denial", "left"),
    [
        ("I'm allergic to nuts and milk.", "Actually, not to nuts.", "I'm allergic to milk."),
        ("I'm allergic to nuts and milk.", "Not nuts, actually.", "I'm allergic to milk."),
        ("Je suis allergique aux noix et au lait.", "Pas aux noix, en fait.", "Je suis allergique au lait."),
        ("Je suis allergique aux noix et au lait.", "En fait, pas au lait.", "Je suis allergique aux noix."),
        ("Ich bin gegen Nüsse und Milch allergisch.", "Nein, nicht gegen Nüsse.", "Ich bin gegen Milch allergisch."),
        ("Soy alérgico a las nueces y a la leche.", "A las nueces no, en realidad.", "Soy alérgico a la leche."),
        ("Sono allergico alle noci e al latte.", "Alle noci no, in realtà.", "Sono allergico al latte."),
        ("Sou alérgico a nozes e leite.", "A nozes não, afinal.", "Sou alérgico a leite."),
        ("Ik ben allergisch voor noten en melk.", "Niet voor noten, eigenlijk.", "Ik ben allergisch voor melk."),
        ("I'm allergic to nuts.", "No, not nuts, hazelnuts.", "I'm allergic to hazelnuts."),
        ("Je suis allergique aux noix.", "Non, pas aux noix, aux noisettes.", "Je suis allergique aux noisettes."),
        ("I have a dog and a cat.", "No, not a dog.", "I have a cat."),
    ],
)
async def test_a_denial_in_a_few_words_leaves_the_rest(engine: MemoryEngine, told: str, denial: str, left: str) -> None:
    assert await live(engine, (told, denial), "capture") == {left}


@pytest.mark.parametrize("path", ["capture", "add"])
@pytest.mark.parametrize(
    ("told", "denial", "left"),
    [
        ("I'm allergic to nuts and shellfish.", "I'm not allergic to nuts.", "I'm allergic to shellfish."),
        ("I'm allergic to nuts and milk.", "I'm no longer allergic to nuts.", "I'm allergic to milk."),
        ("I have a dog and a cat.", "I don't have a dog.", "I have a cat."),
        ("I work at Aldi and live in Bonn.", "I don't work at Aldi.", "I live in Bonn."),
        ("Je suis allergique aux noix et aux crevettes.", "Je ne suis pas allergique aux noix.",
         "Je suis allergique aux crevettes."),
        ("Ich bin allergisch gegen Nüsse und Milch.", "Ich bin doch nicht gegen Nüsse allergisch.",
         "Ich bin allergisch gegen Milch."),
        ("Soy alérgico a las nueces y a la leche.", "No soy alérgico a las nueces.", "Soy alérgico a la leche."),
    ],
)  # fmt: skip
async def test_a_denial_of_one_item_leaves_the_others(
    engine: MemoryEngine, told: str, denial: str, left: str, path: str
) -> None:
    assert await live(engine, (told, denial), path) == {left, denial}


@pytest.mark.parametrize("path", ["capture", "add"])
@pytest.mark.parametrize(
    ("told", "denial"),
    [
        ("I'm allergic to cats.", "I'm not allergic to dogs."),
        ("I'm not allergic to dogs.", "I'm allergic to cats."),
        ("My son is allergic to eggs.", "My son isn't allergic to milk."),
        ("I'm afraid of dogs.", "I'm not afraid of cats."),
        ("I take metformin.", "I don't take statins."),
        ("I speak German.", "I don't speak Dutch."),
        ("I'm married to Ann.", "I'm not married to Eve."),
        ("I'm allergic to nuts.", "I don't like nuts."),
        ("Ich bin gegen Katzen allergisch.", "Ich bin nicht gegen Hunde allergisch."),
        ("Je suis allergique aux chats.", "Je ne suis pas allergique aux chiens."),
        ("Soy alérgico a los gatos.", "No soy alérgico a los perros."),
        ("Sono allergico ai gatti.", "Non sono allergico ai cani."),
        ("Sou alérgico a gatos.", "Não sou alérgico a cães."),
        ("Ik ben allergisch voor katten.", "Ik ben niet allergisch voor honden."),
    ],
)
async def test_a_denial_of_another_thing_closes_nothing(
    engine: MemoryEngine, told: str, denial: str, path: str
) -> None:
    assert await live(engine, (told, denial), path) == {told, denial}
