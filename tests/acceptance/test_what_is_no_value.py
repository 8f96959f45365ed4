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
