"""A statement told later in a session changes those told before it, also where it tells of an earlier day; and what
begins with "from now on" changes what it is about.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from mnemic.bootstrap import build_engine
from mnemic.config import Settings
from mnemic.types import Actor, Message

THURSDAY = datetime(2026, 11, 26, 9, tzinfo=UTC)


async def live(*texts: str, session: str | None = "s", days: int = 0) -> list[str]:
    """Return what holds after the texts were captured, so many days after one another."""
    async with build_engine(Settings(store="memory:")) as engine:
        actor = Actor(user="ada")
        for number, text in enumerate(texts):
            at = THURSDAY + timedelta(days=days * number, seconds=number)
            await engine.capture(Message(role="user", content=text, session=session, sent_at=at), actor=actor)
        return [one.content for one in await engine.list(actor=actor)]


async def test_messages_that_arrive_out_of_order_keep_what_was_told_for_a_later_time() -> None:
    held = await live("We have three children.", "We have two children now.", session=None, days=-300)

    assert "We have three children." in held


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        ("I like my answers in bullet points.", "From now on, write my answers as plain paragraphs.", 2),
        ("I have a guitar.", "From now on, use metric units.", 2),
    ],
)
async def test_an_instruction_that_differs_in_words_is_kept_beside_the_earlier_one(
    before: str, after: str, kept: int
) -> None:
    assert len(await live(before, after)) == kept
