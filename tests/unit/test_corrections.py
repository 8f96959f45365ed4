"""A correction is of what was told last, and a value stands or falls with its statement."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemic import MemoryManager, Message
from mnemic.bootstrap import build_engine
from mnemic.config import Settings
from mnemic.types import Actor

TOLD = datetime(2026, 9, 7, 9, 0, tzinfo=UTC)
PAIRS = [
    ("My sister lives in Hull.", "Sorry, I meant Halifax.", "My sister lives in Halifax."),
    ("Meine Schwester wohnt in Halle.", "Ich meinte Hagen.", "Meine Schwester wohnt in Hagen."),
]


@pytest.mark.parametrize(("told", "corrected", "whole"), PAIRS)
def test_a_correction_captured_after_a_statement_is_kept_as_the_whole(
    told: str, corrected: str, whole: str, tmp_path: Path
) -> None:
    with MemoryManager("mia", store=tmp_path / "m.db") as memory:
        for minute, text in enumerate((told, corrected)):
            said = Message(role="user", content=text, sent_at=TOLD + timedelta(minutes=minute), session="s")
            memory.capture(said)
        assert [one.content for one in memory.list()] == [whole]


def test_an_added_correction_is_about_what_was_told_last(tmp_path: Path) -> None:
    with MemoryManager("mia", store=tmp_path / "m.db") as memory:
        memory.add("My rehearsal is on Monday.")
        memory.add("My choir meets on Tuesday.")
        memory.add("I meant Thursday.")
        assert {one.content for one in memory.list()} == {"My rehearsal is on Monday.", "My choir meets on Thursday."}


@pytest.mark.parametrize(
    ("told", "corrected", "left"),
    [
        ("I take 20 mg of it every morning.", "Sorry, 25 mg.", ["I take 25 mg of it every morning."]),
        ("I take 20 mg of it every morning.", "Make that 25.", ["I take 25 mg of it every morning."]),
        ("I weigh 80 kilos.", "Sorry, 82 kg.", ["I weigh 82 kilos."]),
        (
            "I take 20 mg of it every morning.",
            "Make that 23 people at the party.",
            ["I take 20 mg of it every morning.", "Make that 23 people at the party."],
        ),
        ("We ran 5 km.", "Make that 6 guests.", ["Make that 6 guests.", "We ran 5 km."]),
    ],
)
def test_a_number_of_something_else_corrects_no_amount(
    told: str, corrected: str, left: list[str], tmp_path: Path
) -> None:
    with MemoryManager("mia", store=tmp_path / "m.db") as memory:
        memory.add(told)
        memory.add(corrected)
        assert sorted(one.content for one in memory.list()) == left


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


CHANGES = [
    (("I live in Leeds.", "I moved to York two weeks ago, the flat is tiny but nice."), "home_city", "York"),
    (
        ("I'm vegetarian.", "I eat fish again now, so I'm not strictly vegetarian any more, I'm pescatarian."),
        "diet",
        "pescatarian",
    ),
    (("I eat fish again now, so I'm not strictly vegetarian any more, I'm pescatarian.",), "diet", "pescatarian"),
    (
        ("I prefer aisle seats.", "My knee is bad, so no more aisle, I prefer window seats now and I board early."),
        "seat",
        "window",
    ),
    (
        ("I live in Ghent.", "I moved to Bruges last month. I no longer live in the old flat in Ghent."),
        "home_city",
        "Bruges",
    ),
]


@pytest.mark.parametrize(("told", "key", "value"), CHANGES)
def test_a_value_is_never_replaced_by_the_statement_that_it_was_read_of(
    told: tuple[str, ...], key: str, value: str, tmp_path: Path
) -> None:
    with MemoryManager("mia", store=tmp_path / "m.db") as memory:
        for text in told:
            memory.capture(text)
        assert [one.content for one in memory.list() if one.key == key] == [value]


def test_a_value_stays_when_its_statement_is_heard_again_in_other_words(tmp_path: Path) -> None:
    with MemoryManager("mia", store=tmp_path / "m.db") as memory:
        for text in ("I moved to York.", "I moved to York two weeks ago, the flat is tiny but nice."):
            memory.capture(text)
        assert [one.content for one in memory.list() if one.key == "home_city"] == ["York"]


def test_a_later_message_still_ends_the_value(tmp_path: Path) -> None:
    with MemoryManager("mia", store=tmp_path / "m.db") as memory:
        for text in ("I moved to York two weeks ago, the flat is tiny but nice.", "I don't live in York any more."):
            memory.capture(text)
        assert [one.content for one in memory.list() if one.key == "home_city"] == []


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "I moved to York two weeks ago, the flat is tiny but nice.",
            "I moved to York two weeks ago, the flat is tiny but nice.",
        ),
        ("My new office in Turin is loud but okay.", "My new office in Turin is loud but okay."),
    ],
)
def test_a_statement_keeps_the_word_after_but(said: str, kept: str, tmp_path: Path) -> None:
    with MemoryManager("mia", store=tmp_path / "m.db") as memory:
        memory.capture(said)
        assert kept in {one.content for one in memory.list()}
