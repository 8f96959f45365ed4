"""Sentences in the form of a change of home that are none: the product one moves to, the place of a few weeks."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic import MemoryManager


@pytest.mark.parametrize(
    "text",
    [
        "I moved to Slack.",
        "I moved my savings to Zurich.",
        "I moved my sister to Kiel.",
        "For the next three months I live in Riga.",
        "We moved the meeting to Kiel.",
    ],
)
def test_the_home_stays(text: str, tmp_path: Path) -> None:
    with MemoryManager("mia", store=tmp_path / "m.db") as memory:
        memory.capture("I live in Hamburg.")
        memory.capture(text)
        assert [one.content for one in memory.list() if one.key == "home_city"] == ["Hamburg"]


@pytest.mark.parametrize("text", ["I'm on warfarin.", "Ich nehme Ramipril.", "I'm on 5 mg of bisoprolol."])
def test_a_lasting_medication_is_kept(text: str, tmp_path: Path) -> None:
    with MemoryManager("mia", store=tmp_path / "m.db") as memory:
        memory.capture(text)
        assert [one.content for one in memory.list()] == [text]


@pytest.mark.parametrize(
    "text",
    [
        "When I ask for code, answer in Python.",
        "Wenn ich nach Code frage, antworte in Python.",
        "Quand je demande du code, réponds en Python.",
        "Cuando pida código, responde en Python.",
        "Quando chiedo del codice, rispondi in Python.",
        "Als ik om code vraag, antwoord in Python.",
    ],
)
def test_an_order_is_kept_with_its_occasion(text: str, tmp_path: Path) -> None:
    with MemoryManager("mia", store=tmp_path / "m.db") as memory:
        memory.capture(text)
        assert [one.content for one in memory.list()] == [text]


@pytest.mark.parametrize("text", ["I teach math at Lincoln High.", "I live in St. Albans."])
def test_a_value_is_neither_invented_nor_cut(text: str, tmp_path: Path) -> None:
    with MemoryManager("mia", store=tmp_path / "m.db") as memory:
        memory.capture(text)
        assert [(one.key, one.content) for one in memory.list()] == [(None, text)]


def test_what_is_said_of_a_quotation_is_left_out(tmp_path: Path) -> None:
    with MemoryManager("mia", store=tmp_path / "m.db") as memory:
        memory.capture("I live in Hamburg.")
        report = memory.capture("'I live in Kiel' is the first line of the book.")
        assert [one.reason for one in report.skipped] == ["quoted"]
        assert [one.content for one in memory.list()] == ["Hamburg"]
