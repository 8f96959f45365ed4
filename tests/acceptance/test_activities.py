"""Habits and activities are kept: what people play, how they get to work, what they do every week."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from mnemic.engine import MemoryEngine
from mnemic.language.sentences.activities import does_regularly
from mnemic.types import Actor, Message
from mnemic_eval.replay import chosen_embedder, throwaway_engine
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


@pytest.fixture
async def engine() -> AsyncIterator[MemoryEngine]:
    async with throwaway_engine(chosen_embedder(None, None)) as made:
        yield made


async def stored(engine: MemoryEngine, text: str) -> bool:
    """Return whether anything of a message was stored."""
    report = await engine.capture(Message(role="user", content=text), actor=Actor(user=text))
    return any(one.stored for one in report.receipts)


@pytest.mark.parametrize(
    "text",
    """\
I play bass.
I play the violin in an orchestra.
I take the bus to work.
I cycle to work.
I commute by train.
I cook pasta on Sundays.
I swim twice a week.
On Mondays I sing in a choir.
I walk the dog every morning.
Ich spiele Bass.
Ich fahre mit dem Bus zur Arbeit.
Ich schwimme jeden Dienstag.
Je joue de la basse.
Je prends le bus pour aller au travail.
Je nage le mardi.
Toco el bajo.
Voy en autobús al trabajo.
Nado los martes.
Suono il basso.
Prendo l'autobus per andare al lavoro.
Nuoto ogni martedì.
Toco baixo.
Vou de autocarro para o trabalho.
Nado às terças.
Ik speel basgitaar.
Ik ga met de bus naar mijn werk.
Ik zwem elke dinsdag.""".split("\n"),
)
async def test_it_is_kept(engine: MemoryEngine, text: str) -> None:
    assert await stored(engine, text)


@pytest.mark.parametrize(
    "text",
    """\
I play with fire.
I take the bus to work today.
I played bass.
If I play bass, I get blisters.
I take your point.
I play it by ear.
Do I play bass?
She plays bass.
I go to work now.
I think about it every day.
I'd play bass if I could.""".split("\n"),
)
async def test_what_is_said_in_passing_is_not(engine: MemoryEngine, text: str) -> None:
    assert not await stored(engine, text)


def test_what_is_of_the_day_or_of_the_talk_is_no_activity() -> None:
    EXAMPLES.assert_right(lambda text: bool(does_regularly(text)), "what_is_of_the_day_or_of_the_talk_is_no_activity")
