"""What a person tells by the way, in a request or without a verb, is kept; what only looks like it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic import MemoryManager

TOLD = [
    ("ok so the new flat's in Tallaght and the boiler howls, any earplugs you'd recommend?", "Tallaght"),
    ("my bike gets me to work now, how often does a chain want oil", "bike"),
    ("since our Jonah's coeliac, which of these biscuits can he have?", "coeliac"),
    ("we've switched staging to the Dublin cluster, can you fix the deploy script", "Dublin"),
    ("gym's on Thursdays from now on", "Thursdays"),
]
LOOKS_LIKE_IT = [
    "the deploy's stuck again",
    "can you find me a flat in Tallaght with two bedrooms",
    "that biscuit was grand",
    "what's the difference between coeliac and a wheat allergy?",
    "not tonight, the gym's shut",
    "if I had a van I'd paint it green lol",
]


@pytest.mark.parametrize(("message", "fact"), TOLD)
def test_what_is_told_by_the_way_is_kept(tmp_path: Path, message: str, fact: str) -> None:
    with MemoryManager("ana", store=tmp_path / "m.db") as memory:
        memory.capture(message)
        assert [one.content for one in memory.list() if fact in one.content]


@pytest.mark.parametrize("message", LOOKS_LIKE_IT)
def test_what_only_looks_like_it_is_not(tmp_path: Path, message: str) -> None:
    with MemoryManager("ana", store=tmp_path / "m.db") as memory:
        memory.capture(message)
        assert list(memory.list()) == []


def test_a_long_message_is_read_as_a_short_one_is(tmp_path: Path) -> None:
    told = "our new boiler is a Vaillant from 2019"
    story = "I waited for the plumber the whole morning and he did not come. " * 20
    for number, message in enumerate((told, f"{story}Well, {told}. {story}")):
        with MemoryManager(f"u{number}", store=tmp_path / "m.db") as memory:
            memory.capture(message)
            assert [one.content for one in memory.list() if "Vaillant" in one.content], number
