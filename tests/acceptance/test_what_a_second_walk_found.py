"""Faults that a second walk through a fresh install found, in sentences as people say them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from mnemic.engine import MemoryEngine
from mnemic.types import Actor, Message
from mnemic_eval.replay import chosen_embedder, throwaway_engine

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.fixture
async def engine() -> AsyncIterator[MemoryEngine]:
    async with throwaway_engine(chosen_embedder(None, None)) as made:
        yield made


async def held(engine: MemoryEngine, actor: Actor) -> set[str]:
    found = await engine.list(actor=actor, limit=20)
    return {f"{one.key}: {one.content}" if one.key else one.content for one in found}


async def captured(engine: MemoryEngine, user: str, *texts: str) -> set[str]:
    actor = Actor(user=user)
    for number, text in enumerate(texts):
        at = MONDAY + timedelta(days=number)
        await engine.capture(Message(role="user", content=text, sent_at=at, session="s"), actor=actor)
    return await held(engine, actor)


async def added(engine: MemoryEngine, user: str, *texts: str) -> set[str]:
    actor = Actor(user=user)
    for text in texts:
        await engine.add(text, actor=actor)
    return await held(engine, actor)


@pytest.mark.parametrize(
    ("texts", "now"),
    [
        (["I live in Leeds.", "I've just moved to York with the kids"], "home_city: York"),
        (["I live in Leeds.", "We moved to York with the family in March."], "home_city: York"),
        (["I work at Acme.", "I started at Globex on Monday"], "employer: Globex"),
        (["I work at Acme.", "I've just started working for Globex Systems."], "employer: Globex Systems"),
        (["Trabajo en Acme.", "Empecé el lunes a trabajar en Globex."], "employer: Globex"),
    ],
)
async def test_a_value_takes_the_place_of_the_one_before(engine: MemoryEngine, texts: Sequence[str], now: str) -> None:
    key = now.split(":", maxsplit=1)[0]
    told = await captured(engine, texts[-1], *texts)
    assert [one for one in told if one.startswith(f"{key}: ")] == [now]


@pytest.mark.parametrize(
    ("texts", "kept"),
    [
        (["I work at Acme.", "I started at Globex in 2001, then moved to Acme."], "employer: Acme"),
        (["I work at Acme.", "My sister started at Globex on Monday."], "employer: Acme"),
        (["I work at Acme.", "I also started at Globex, on weekends."], "employer: Acme"),
        (["I prefer aisle seats.", "I prefer window seats with the kids."], "seat: aisle"),
    ],
)
async def test_what_is_about_something_else_leaves_it(engine: MemoryEngine, texts: Sequence[str], kept: str) -> None:
    assert kept in await captured(engine, texts[-1], *texts)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("I work at Acme.", "I started at Globex on Monday."),
        ("Ich arbeite bei Acme.", "Am Montag habe ich bei Globex angefangen."),
        ("Je travaille chez Acme.", "J'ai commencé lundi chez Globex."),
        ("Trabajo en Acme.", "Empecé en Globex el lunes."),
        ("Trabalho na Acme.", "Comecei na Globex na segunda-feira."),
        ("Ik werk bij Acme.", "Maandag ben ik bij Globex begonnen."),
    ],
)
async def test_a_new_employer_takes_the_place_of_the_old_in_six_languages(
    engine: MemoryEngine, first: str, then: str
) -> None:
    assert await added(engine, then, first, then) == {then}


@pytest.mark.parametrize(
    ("texts", "now"),
    [
        (["I work at Leica.", "Sorry, I meant Zeiss"], {"I work at Zeiss."}),
        (["I live in Bergen.", "I work at Leica.", "Sorry, I meant Zeiss"], {"I live in Bergen.", "I work at Zeiss."}),
        (["Trabajo en Leica.", "Perdón, quería decir Zeiss"], {"Trabajo en Zeiss."}),
    ],
)
async def test_a_bare_correction_is_of_the_last_statement(
    engine: MemoryEngine, texts: Sequence[str], now: set[str]
) -> None:
    assert await added(engine, " ".join(texts), *texts) == now


async def test_a_bare_correction_of_a_value_stays_under_its_key(engine: MemoryEngine) -> None:
    actor = Actor(user="keyed")
    await engine.add("Leica", key="employer", actor=actor)
    await engine.add("Sorry, I meant Zeiss", actor=actor)
    assert await held(engine, actor) == {"employer: Zeiss"}


async def test_a_bare_correction_without_anything_before_it_is_kept_as_it_is(engine: MemoryEngine) -> None:
    assert await added(engine, "alone", "Sorry, I meant Zeiss") == {"Sorry, I meant Zeiss"}


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Merk dir, dass ich am Freitag keine Termine habe.", "Dass ich am Freitag keine Termine habe."),
        ("Vergiss nicht, dass Lena Nüsse meidet.", "Dass Lena Nüsse meidet."),
        ("Onthoud dat ik geen vlees eet.", "Dat ik geen vlees eet."),
        ("Remember that I don't eat meat.", "I don't eat meat."),
    ],
)  # fmt: skip
async def test_what_is_to_be_remembered_is_kept_without_the_request(engine: MemoryEngine, said: str, kept: str) -> None:
    assert await captured(engine, said, said) == {kept}
