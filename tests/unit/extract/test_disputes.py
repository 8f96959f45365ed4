"""A correction is kept as what it states, without the words that call the earlier statement wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic import MemoryManager


@pytest.mark.parametrize("said", ["That's wrong, I live in Trondheim.", "No, that's wrong, I live in Trondheim."])
def test_a_corrected_value_is_kept_once(said: str, tmp_path: Path) -> None:
    with MemoryManager("mia", store=tmp_path / "m.db") as memory:
        memory.capture("I live in Leeds.")
        memory.capture(said)
        assert [(one.key, one.content) for one in memory.list()] == [("home_city", "Trondheim")]


@pytest.mark.parametrize(
    ("told", "said", "kept"),
    [
        (
            "My sister lives in Hull.",
            "No, that's not true, my sister lives in Halifax.",
            "My sister lives in Halifax.",
        ),
    ],
)
def test_a_corrected_statement_is_kept_without_the_dispute(told: str, said: str, kept: str, tmp_path: Path) -> None:
    with MemoryManager("mia", store=tmp_path / "m.db") as memory:
        memory.capture(told)
        memory.capture(said)
        assert [one.content for one in memory.list()] == [kept]
