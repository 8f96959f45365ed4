"""Ends of one of several known things wait for a person, with all of them shown, where they do not say which."""

from __future__ import annotations

import pytest

from mnemic.bootstrap import build_engine
from mnemic.config import Settings
from mnemic.reason_codes import WHICH_OF_SEVERAL
from mnemic.types import Actor, Message, Outcome


@pytest.mark.parametrize(
    "told",
    [
        ("My car is a Golf.", "My second car is a Volvo.", "I sold the car."),
        ("I have a Golf.", "I also have a Volvo.", "I sold the car."),
        ("I have an iPhone.", "I have a Pixel for work.", "I sold the phone."),
        ("I subscribe to Netflix.", "I subscribe to HBO.", "I cancelled the subscription."),
        ("I have a boat in Kiel.", "I have a second boat in Lisbon.", "I sold the boat."),
        ("I have a cat called Mia.", "I have a cat called Tom.", "My cat died."),
        ("I have a cat called Mia.", "I have a cat called Tom.", "One of our cats died."),
        ("I have two cats, Mia and Tom.", "The cat died."),
        ("We have a dog, Rex, and a dog, Bo.", "Our dog died."),
        ("Ich habe einen Golf.", "Ich habe auch einen Volvo.", "Ich habe das Auto verkauft."),
        ("Ich habe eine Katze namens Mia.", "Ich habe noch eine Katze, Tom.", "Die Katze ist gestorben."),
        ("J'ai un chat, Mia.", "J'ai un autre chat, Tom.", "Le chat est mort."),
        ("Tengo un gato, Mia.", "Tengo otro gato, Tom.", "El gato murió."),
        ("Ho un gatto, Mia.", "Ho anche un altro gatto, Tom.", "Il gatto è morto."),
        ("Tenho um gato, Mia.", "Tenho outro gato, Tom.", "O gato morreu."),
        ("Ik heb een kat, Mia.", "Ik heb nog een kat, Tom.", "De kat is overleden."),
    ],
)
async def test_it_waits_with_all_that_may_be_meant(told: tuple[str, ...]) -> None:
    async with build_engine(Settings(store="memory:")) as engine:
        actor = Actor(user="ada")
        reports = [await engine.capture(Message(role="user", content=one), actor=actor) for one in told]
        (last,) = reports[-1].receipts
        held = {memory.memory_id for memory in await engine.list(actor=actor)}

    assert (last.outcome, last.reason) == (Outcome.PENDING_REVIEW, WHICH_OF_SEVERAL)
    assert set(last.conflicts_with) == held
    assert len(held) == len(told) - 1


@pytest.mark.parametrize("said", ["I sold the Volvo.", "I sold both cars."])
async def test_what_says_which_closes_at_once(said: str) -> None:
    async with build_engine(Settings(store="memory:")) as engine:
        actor = Actor(user="ada")
        for one in ("My car is a Golf.", "My second car is a Volvo.", said):
            report = await engine.capture(Message(role="user", content=one), actor=actor)

    assert [one.outcome for one in report.receipts] == [Outcome.SUPERSEDED]


@pytest.mark.parametrize(
    ("told", "left"),
    [
        (("I have a Golf.", "I sold the car."), 0),
        (("I drive a Skoda Fabia.", "I sold my car last week."), 0),
        (("I have a Golf.", "I have a bike.", "I sold the car."), 1),
        (("I have a cat called Mia.", "My cat is 12.", "The cat died."), 0),
        (("I have a cat called Mia.", "I have a dog called Tom.", "The cat died."), 1),
        (("I have a cat called Mia.", "I have a cat called Tom.", "Mia died."), 1),
        (("I have a cat called Mia.", "I have a cat called Tom.", "Both cats died."), 0),
        (("I have a flat in Porto.", "My flat is on the third floor.", "I sold the flat."), 0),
        (("Ich habe eine Katze namens Mia.", "Meine Katze ist Diabetikerin.", "Die Katze ist gestorben."), 0),
        (("I have a Golf.", "My neighbour sold the car."), 1),
        (("I have a Golf.", "I stopped the car."), 1),
    ],
)
async def test_what_one_thing_alone_can_mean_closes_at_once(told: tuple[str, ...], left: int) -> None:
    async with build_engine(Settings(store="memory:")) as engine:
        actor = Actor(user="ada")
        for one in told:
            report = await engine.capture(Message(role="user", content=one), actor=actor)
        made = {one.memory_id for one in report.receipts}
        held = [one for one in await engine.list(actor=actor) if one.memory_id not in made]
    assert len(held) == left
    assert Outcome.PENDING_REVIEW not in {one.outcome for one in report.receipts}
