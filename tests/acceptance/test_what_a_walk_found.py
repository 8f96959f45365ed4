"""Statements, corrections and ends as people tell them one after the other: what a stranger's walk through found."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from mnemic import Actor, Message
from mnemic.engine import MemoryEngine
from mnemic.language.sentences.requests_about_memory import things_in
from mnemic.types import Kind, Level, Status, Where
from mnemic_eval.replay import chosen_embedder, throwaway_engine

BEGAN = datetime(2026, 5, 4, 9, tzinfo=UTC)
ELSE = (
    "I live in Lisbon.",
    "My sister is called Hana.",
    "I play the violin.",
    "I'm allergic to nuts.",
    "I drive a Volvo.",
    "My phone is a Pixel 8.",
    "I bank with Monzo.",
    "I prefer aisle seats.",
    "I swim on Sundays.",
)


async def live(engine: MemoryEngine, actor: Actor) -> set[str]:
    """Return what holds, a value with its key."""
    found = await engine.list(actor=actor, limit=100)
    return {
        f"{one.key}: {one.content}" if one.key else one.content
        for one in found
        if one.kind is Kind.LONG_TERM and one.status is Status.ACTIVE and one.valid_to is None
    }


class Walk:
    """Tells statements to one engine, each time as another user."""

    def __init__(self, engine: MemoryEngine) -> None:
        self.engine = engine
        self.users = 0

    async def told(self, *texts: str, path: str = "capture") -> set[str]:
        """Tell statements in one session, and return what holds after them."""
        self.users += 1
        actor = Actor(user=f"u{self.users}")
        for place, text in enumerate(texts):
            if path == "add":
                await self.engine.add(text, actor=actor)
            else:
                sent = BEGAN + place * timedelta(minutes=1)
                await self.engine.capture(Message(role="user", content=text, sent_at=sent, session="s"), actor=actor)
        return await live(self.engine, actor)


@asynccontextmanager
async def walking() -> AsyncIterator[Walk]:
    """Open an engine to tell things to."""
    async with throwaway_engine(chosen_embedder(None, None)) as engine:
        yield Walk(engine)


PATHS = ("capture", "add")


async def test_a_correction_of_something_else_closes_nothing() -> None:
    async with walking() as walk:
        for path, before in product(PATHS, ("I have a dog called Biscuit.", "I live in Lisbon.", "I work at Zeiss.")):
            known = await walk.told(before, path=path)
            after = await walk.told(before, "That's wrong, my phone is a Pixel 8.", path=path)
            assert known < after, (path, before)
            assert any("Pixel 8" in one for one in after)


ASIDES = (
    ("I'm a baker.", "I don't eat gluten any more, ironic for a baker."),
    ("I work as a baker.", "I don't eat gluten any more, which is funny for a baker."),
    ("I'm a lifeguard at the pool.", "I don't swim any more, strange for a lifeguard."),
    ("Ich bin Bäcker.", "Ich esse kein Gluten mehr, ganz schön ironisch für einen Bäcker."),
    ("Je suis boulanger.", "Je ne mange plus de gluten, un comble pour un boulanger."),
    ("Soy panadera.", "Ya no como gluten, irónico para una panadera."),
)


async def test_an_aside_denies_nothing() -> None:
    async with walking() as walk:
        for path, (state, ended) in product(PATHS, ASIDES):
            known = await walk.told(state, path=path)
            assert known < await walk.told(state, ended, path=path), (path, state, ended)
        for path in PATHS:
            ended = "I don't eat bread any more, funny for a baker."
            assert await walk.told("I eat bread every day.", ended, path=path) == {ended}


async def test_a_known_dog_that_died_is_no_passing_talk() -> None:
    wordings = ("Biscuit died.", "Biscuit died last night, we're heartbroken.", "Biscuit has died.")
    async with walking() as walk:
        for path, died in product(PATHS, wordings):
            after = await walk.told(*ELSE, "I have a dog called Biscuit.", died, path=path)
            assert "I have a dog called Biscuit." not in after, (path, died)
            assert died in after


async def test_a_short_sentence_in_another_language_is_not_read_as_english() -> None:
    async with walking() as walk:
        for path, said in product(PATHS, ("J'ai acheté un piano hier.", "J'ai déménagé le piano hier.")):
            assert said in await walk.told(said, path=path), path


async def test_the_home_of_the_family_is_the_speakers() -> None:
    async with walking() as walk:
        for text in ("We moved to York.", "We've just moved to York.", "We moved back to York last month."):
            assert "home_city: York" in await walk.told(text)
            after = await walk.told("I live in Leeds.", text)
            assert "home_city: York" in after, text
            assert "home_city: Leeds" not in after, text
        for text in (
            "We moved to Kubernetes.",
            "We moved to a bigger office.",
            "We moved to Monday for the standup.",
        ):
            homes = {one for one in await walk.told("I live in Leeds.", text) if one.startswith("home_city")}
            assert homes == {"home_city: Leeds"}, text


LEFT = (
    ("I work at Zeiss.", "I quit my job."),
    ("I work at Zeiss as an engineer.", "I quit my job last week."),
    ("I'm a nurse at St Mary's.", "I've handed in my notice."),
    ("I work for Siemens.", "I got laid off."),
    ("I work for Siemens.", "I was fired yesterday."),
    ("Ich arbeite bei Bosch.", "Ich habe meinen Job gekündigt."),
    ("Je travaille chez Airbus.", "J'ai quitté mon boulot."),
    ("Trabajo en Iberdrola.", "Me han despedido."),
    ("Lavoro alla Fiat.", "Ho lasciato il lavoro."),
    ("Trabalho na Vale.", "Pedi demissão."),
    ("Ik werk bij Philips.", "Ik heb mijn baan opgezegd."),
)


@pytest.mark.xfail(reason="an end of work without the employer's name is not read by the write path yet")
async def test_who_leaves_their_work_has_no_employer() -> None:
    async with walking() as walk:
        for path, (work, left) in product(PATHS, LEFT):
            known = await walk.told(work, path=path)
            after = await walk.told(*ELSE[:4], work, left, path=path)
            assert known.isdisjoint(after), (path, work, left)
            assert left in after
        for path, text in product(
            PATHS, ("I quit my weekend job.", "My brother quit his job.", "I might quit my job.")
        ):
            known = await walk.told("I work at Zeiss.", path=path)
            assert known <= await walk.told("I work at Zeiss.", text, path=path), (path, text)


MEANT = (
    ("I live in Bergen.", "Sorry, I meant Stavanger.", {"home_city: Stavanger"}),
    ("I work at Bosch as a welder.", "Sorry, I meant Zeiss.", {"employer: Zeiss", "job: welder"}),
    ("Vivo en Burgos.", "Perdón, quería decir Murcia.", {"home_city: Murcia"}),
)


async def test_a_corrected_value_stays_under_its_key() -> None:
    async with walking() as walk:
        for first, meant, held in MEANT:
            assert await walk.told("I love Bergen.", first, meant) == {"I love Bergen.", *held}, (first, meant)


async def test_what_was_said_first_may_come_last() -> None:
    actor = Actor(user="ana")
    async with throwaway_engine(chosen_embedder(None, None)) as engine:
        for text, days in (("Ich bin nach Rostock gezogen.", 30), ("Ich wohne in Passau.", 0)):
            said = Message(role="user", content=text, sent_at=BEGAN + timedelta(days=days), session=f"s{days}")
            await engine.capture(said, actor=actor)
        assert await live(engine, actor) == {"Ich bin nach Rostock gezogen."}
        over = Where(scopes=actor.scopes([Level.USER]), statuses=frozenset({Status.SUPERSEDED}))
        found = (await engine.store.newest(over, limit=10))[0]
        assert (found.content, found.valid_to) == ("Ich wohne in Passau.", BEGAN + timedelta(days=30))


OTHER_DAYS = (
    ("I do yoga on Mondays.", "On Tuesdays I now do pilates."),
    ("Je fais du yoga le jeudi.", "Le samedi, je fais maintenant de la boxe."),
    ("Il lunedì vado a nuotare.", "Il sabato adesso vado in palestra."),
    ("Faço ioga às segundas.", "Aos sábados agora faço natação."),
)


async def test_another_day_takes_the_place_of_none() -> None:
    async with walking() as walk:
        for path, (first, second) in product(PATHS, OTHER_DAYS):
            known = await walk.told(first, path=path)
            assert known < await walk.told(first, second, path=path), (path, first)


UNREAL = (
    ("I live in Leeds.", "If I was in Lisbon, I'd swim every day."),
    ("I live in Leeds.", "I could move to Lisbon some day."),
    ("Ich wohne in Bonn.", "Eines Tages ziehe ich nach Lissabon."),
    ("Vivo en Burgos.", "Algún día me mudaré a Lisboa."),
)


async def test_what_is_not_so_yet_closes_nothing() -> None:
    async with walking() as walk:
        for path, (home, unreal) in product(PATHS, UNREAL):
            known = await walk.told(home, path=path)
            assert known <= await walk.told(home, unreal, path=path), (path, unreal)


async def test_forgetting_reaches_what_was_recorded() -> None:
    actor = Actor(user="ana")
    async with throwaway_engine(chosen_embedder(None, None)) as engine:
        for place, text in enumerate(("My car is a red Volvo.", "I love tea.", "My car is parked on Mill Street.")):
            said = Message(role="user", content=text, sent_at=BEGAN + place * timedelta(minutes=1), session="s")
            await engine.capture(said, actor=actor)
            await engine.record([said], actor=actor)
        request = Message(role="user", content="Forget what I told you about my car.", session="s")
        (asked,) = (await engine.capture(request, actor=actor)).asked
        await engine.carry_out(asked, actor=actor)
        left = {one.content for one in await engine.list(actor=actor, limit=20)}
        assert not any("Volvo" in one or "Mill Street" in one for one in left), left
        assert "I love tea." in left


def test_two_cars_are_told_apart() -> None:
    assert things_in(["My car is a red Volvo.", "My car is parked on Mill Street."]) == ["Volvo"]
    assert things_in(["My car is a red Volvo.", "My wife's car is a Fiat."]) == ["Volvo", "Fiat (wife)"]
    assert things_in(["Mein Auto ist ein Polo.", "Ich habe auch einen Käfer."]) == ["Polo", "Käfer"]
