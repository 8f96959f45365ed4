"""Facts mentioned in passing, through the engine: standing orders, headcounts, parcels, gossip, doses, notes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mnemic import Actor, Message
from mnemic_eval.replay import chosen_embedder, throwaway_engine

BEGAN = datetime(2026, 5, 4, 9, tzinfo=UTC)
TOLD: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("If I ask for a recipe, keep it vegan.",), ("If I ask for a recipe, keep it vegan.",)),
    (("If I write in German, answer in German.",), ("If I write in German, answer in German.",)),
    (("When I send you code, review it first.",), ("When I send you code, review it first.",)),
    (("I was put on warfarin.",), ("I was put on warfarin.",)),
    (("I take ramipril 5 mg.", "I take ramipril 10 mg now."), ("I take ramipril 10 mg now.",)),
    (
        ("My brother Tom lives in Leeds.", "My brother Ben lives in York."),
        ("My brother Ben lives in York.", "My brother Tom lives in Leeds."),
    ),
)


@pytest.mark.parametrize(("texts", "kept"), TOLD)
async def test_what_is_told_in_passing(texts: tuple[str, ...], kept: tuple[str, ...]) -> None:
    actor = Actor(user="u1")
    async with throwaway_engine(chosen_embedder(None, None)) as engine:
        for place, text in enumerate(texts):
            message = Message(role="user", content=text, sent_at=BEGAN + place * timedelta(minutes=1), session="s")
            report = await engine.capture(message, actor=actor)
            assert report.status == "ok"
        live = await engine.list(actor=actor, limit=100)
    assert sorted(one.content for one in live) == sorted(kept)
