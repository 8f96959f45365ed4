"""A correction in a few words is about the statement before it, and leaves one statement that says the whole."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemic import MemoryManager, Message

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
