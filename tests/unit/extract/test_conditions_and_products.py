"""A condition is no diet, and a product no place to live in."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic import MemoryManager


@pytest.mark.parametrize("text", ["I'm diabetic.", "I am a type two diabetic.", "Soy diabética."])
def test_a_condition_is_no_diet(text: str, tmp_path: Path) -> None:
    with MemoryManager("mia", store=tmp_path / "m.db") as memory:
        memory.capture(text)
        assert [one.key for one in memory.list()] == [None]


def test_a_diet_for_it_is_one(tmp_path: Path) -> None:
    with MemoryManager("mia", store=tmp_path / "m.db") as memory:
        memory.capture("I follow a diabetic diet.")
        assert "diet" in {one.key for one in memory.list()}


@pytest.mark.parametrize("text", ["I moved to Slack last week.", "I moved to IntelliJ.", "I moved to Node.js."])
def test_a_product_is_no_home(text: str, tmp_path: Path) -> None:
    with MemoryManager("mia", store=tmp_path / "m.db") as memory:
        memory.capture("I live in Deal.")
        memory.capture(text)
        assert [one.content for one in memory.list() if one.key == "home_city"] == ["Deal"]
