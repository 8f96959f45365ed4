"""Frequencies: another frequency of the same takes the place of the first."""

from __future__ import annotations

import pytest

from mnemic.language.changes.change_bounds import ChangeBounds
from mnemic.language.changes.change_classifier import judge
from mnemic.language.frames.statement_frame import Frame

CHANGES = [
    ("I rarely go out.", "I often go out now."),
    ("I never eat fish.", "I sometimes eat fish."),
    ("I often run before work.", "I rarely run before work."),
    ("I always take the stairs.", "I hardly ever take the stairs these days."),
    ("Ich trinke selten Kaffee.", "Ich trinke nie Kaffee."),
    ("Ich fahre immer mit dem Rad.", "Ich fahre nur noch manchmal mit dem Rad."),
    ("Je bois rarement du café.", "Je ne bois jamais de café."),
    ("Nunca como pescado.", "A veces como pescado."),
    ("Non mangio mai pesce.", "Mangio spesso pesce."),
    ("Raramente bebo vinho.", "Bebo vinho muitas vezes."),
    ("Ik fiets zelden naar het werk.", "Ik fiets meestal naar het werk."),
]
STAY = [
    ("I never eat fish.", "I sometimes eat meat."),
    ("I often run before work.", "I rarely run after dinner."),
    ("I always take the stairs.", "My sister never takes the stairs."),
    ("I rarely drink wine.", "I used to drink wine often."),
    ("I rarely go out.", "I seldom go out."),
    ("Ich war im Mai in Rom.", "Ich war oft in Rom."),
    ("I often work on Mondays.", "I rarely work on Fridays."),
]


@pytest.mark.parametrize(("old", "new"), CHANGES)
@pytest.mark.parametrize("among", [1, 32])
def test_another_frequency_takes_the_place(old: str, new: str, among: int) -> None:
    assert judge(Frame(old), Frame(new), 0.6, among=among) is not None
    assert ChangeBounds(Frame(new), among).within(Frame(old), 0.6)


@pytest.mark.parametrize(("old", "new"), STAY)
def test_what_is_about_something_else_or_the_same_stays(old: str, new: str) -> None:
    assert judge(Frame(old), Frame(new), 0.6) is None
