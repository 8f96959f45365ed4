"""Statements on a condition, on a day or for a part: only a change of the same condition closes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic import MemoryManager
from mnemic.types import Kind

CONDITIONS = [
    # what is told, the change of one, what stays, and what goes
    ("I prefer the aisle on short flights.", "I prefer the window on long flights.",
     "On short flights I prefer the window now.", "long flights", "aisle"),
    ("I drink coffee in the morning.", "I drink tea in the evening.",
     "I drink matcha in the morning now instead of coffee.", "evening", "coffee in the morning."),
    ("On Mondays I work from home.", "On Fridays I work from the library.",
     "On Mondays I work from the office now.", "library", "from home"),
]  # fmt: skip


@pytest.mark.parametrize("how", ["capture", "add"])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I seldom drink coffee.", "I never drink coffee."),
        ("I never eat fish.", "I sometimes eat fish."),
        ("I often run before work.", "I rarely run before work."),
        ("Ich trinke selten Kaffee.", "Ich trinke nie Kaffee."),
        ("Je bois rarement du café.", "Je ne bois jamais de café."),
    ],
)
def test_how_often_something_is_so_has_one_value(one: str, other: str, how: str, tmp_path: Path) -> None:
    with MemoryManager(store=tmp_path / "m.db") as memory:
        for text in (one, other):
            getattr(memory, how)(text)
        assert [kept.content for kept in memory.list() if kept.kind is Kind.LONG_TERM] == [other]


@pytest.mark.parametrize("how", ["capture", "add"])
@pytest.mark.parametrize(("one", "other", "change", "stays", "goes"), CONDITIONS)
def test_a_change_on_one_condition_leaves_the_other(
    one: str, other: str, change: str, stays: str, goes: str, how: str, tmp_path: Path
) -> None:
    with MemoryManager(store=tmp_path / "m.db") as memory:
        for text in (one, other, change):
            getattr(memory, how)(text)
        held = [kept.content for kept in memory.list() if kept.kind is Kind.LONG_TERM]
    assert any(stays in text for text in held), held
    assert not any(goes in text for text in held), held
