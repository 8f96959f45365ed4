"""What ends one of several known things without saying which waits for a person, with all of them shown."""

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
        ("Ich habe einen Golf.", "Ich habe auch einen Volvo.", "Ich habe das Auto verkauft."),
    ],
)
async def test_it_waits_with_all_that_may_be_meant(told: tuple[str, str, str]) -> None:
    async with build_engine(Settings(store="memory:")) as engine:
        actor = Actor(user="ada")
        reports = [await engine.capture(Message(role="user", content=one), actor=actor) for one in told]
        (last,) = reports[-1].receipts
        held = {memory.memory_id for memory in await engine.list(actor=actor)}

    assert (last.outcome, last.reason) == (Outcome.PENDING_REVIEW, WHICH_OF_SEVERAL)
    assert set(last.conflicts_with) == held
    assert len(held) == 2


@pytest.mark.parametrize("said", ["I sold the Volvo.", "I sold both cars."])
async def test_what_says_which_closes_at_once(said: str) -> None:
    async with build_engine(Settings(store="memory:")) as engine:
        actor = Actor(user="ada")
        for one in ("My car is a Golf.", "My second car is a Volvo.", said):
            report = await engine.capture(Message(role="user", content=one), actor=actor)

    assert [one.outcome for one in report.receipts] == [Outcome.SUPERSEDED]
