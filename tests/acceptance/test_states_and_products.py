"""States of which a person is in one at a time, and products of which people use one: the later takes the place of the
earlier, without a word that says so.
"""

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


async def closed(engine: MemoryEngine, first: str, then: str, path: str) -> tuple[bool, bool]:
    """Return whether the first of two statements was kept, and whether the second closed it."""
    actor = Actor(user=f"{path} {first} {then}")
    ids: list[set[str]] = []
    for number, text in enumerate((first, then)):
        at = MONDAY + timedelta(days=20 * number)
        if path == "add":
            receipts = [await engine.add(text, actor=actor)]
        else:
            said = Message(role="user", content=text, sent_at=at, session=f"s{number}")
            receipts = list((await engine.capture(said, actor=actor)).receipts)
        ids.append({one.memory_id for one in receipts if one.memory_id and one.stored})
    now = {one.memory_id for one in await engine.list(actor=actor, limit=20) if one.status is Status.ACTIVE}
    return bool(ids[0]), ids[0].isdisjoint(now)


CHANGES = (
    ("I'm vegetarian.", "I eat meat."),
    ("I'm vegetarian.", "I eat meat again."),
    ("I eat meat.", "I'm vegan."),
    ("I'm vegetarian.", "I'm not vegetarian."),
    ("I'm single.", "I'm married."),
    ("I'm married.", "I'm divorced."),
    ("I'm a smoker.", "I'm a non-smoker."),
    ("My sister is vegan.", "My sister eats meat."),
    ("Ich bin Vegetarier.", "Ich esse Fleisch."),
    ("Je suis végétarien.", "Je mange de la viande."),
    ("Soy vegetariano.", "Como carne."),
    ("Sono vegetariano.", "Mangio carne."),
    ("Sou vegetariano.", "Voltei a comer carne."),
    ("Ik ben vegetariër.", "Ik eet vlees."),
    ("I use vim.", "I use emacs now."),
    ("I use vim.", "I've switched to emacs."),
    ("I use vim.", "I'm using emacs these days."),
    ("I have a Golf.", "I've switched to a Volvo."),
    ("I drive a Skoda Fabia.", "I drive a Volvo now."),
    ("J'utilise vim.", "J'utilise maintenant emacs."),
    ("Ich nutze Firefox.", "Ich nutze jetzt Chrome."),
    ("Uso Firefox.", "Ahora uso Chrome."),
    ("Uso Firefox.", "Adesso uso Chrome."),
    ("Eu uso Firefox.", "Agora uso Chrome."),
    ("Ik gebruik Firefox.", "Ik gebruik nu Chrome."),
)
BESIDE = (
    ("I'm vegetarian.", "I eat meat on Sundays."),
    ("I'm vegetarian.", "We eat meat at Christmas."),
    ("I'm vegetarian.", "My brother eats meat."),
    ("I'm vegetarian.", "My dog eats meat."),
    ("I'm vegetarian.", "I cook for people who eat meat."),
    ("I'm vegetarian.", "I used to eat meat."),
    ("I'm vegetarian.", "If I ate meat, I'd eat steak."),
    ("My sister is vegan.", "My brother eats meat."),
    ("I use vim.", "I also use emacs."),
    ("I use vim.", "I use emacs for email."),
    ("I use Python.", "I use Rust now."),
    ("I have a Golf.", "I also have a Volvo."),
    ("Our dog is called Rex.", "We have a second dog called Max."),
)


@pytest.mark.parametrize("path", ["capture", "add"])
@pytest.mark.parametrize(("first", "then"), CHANGES)
async def test_the_later_takes_the_place_of_the_earlier(engine: MemoryEngine, first: str, then: str, path: str) -> None:
    assert await closed(engine, first, then, path) == (True, True)


@pytest.mark.parametrize("path", ["capture", "add"])
@pytest.mark.parametrize(("first", "then"), BESIDE)
async def test_what_may_hold_beside_it_closes_nothing(engine: MemoryEngine, first: str, then: str, path: str) -> None:
    assert await closed(engine, first, then, path) == (True, False)
