"""Lessons that were given up, and what that says nothing about."""

from __future__ import annotations

import pytest

from mnemic.language.changes.change_classifier import judge
from mnemic.language.frames.statement_frame import Frame

ENDED = [
    ("I started learning Portuguese.", "I stopped the Portuguese lessons, doing Spanish instead."),
    ("I'm learning Korean.", "I gave up my Korean course, I do Thai now."),
    ("I take a pottery class on Mondays.", "I quit the pottery class."),
    ("I'm doing an evening course in welding.", "I dropped out of the welding course, I do woodwork instead."),
    ("Ich besuche einen Tschechischkurs.", "Den Tschechischkurs habe ich abgebrochen, ich lerne jetzt Polnisch."),
    ("Je prends des cours de guitare.", "J'ai arrêté les cours de guitare."),
    ("Doy clases de italiano.", "Dejé las clases de italiano."),
    ("Seguo un corso di ceramica.", "Ho lasciato il corso di ceramica."),
    ("Tenho aulas de violino.", "Larguei as aulas de violino."),
    ("Ik volg pianolessen.", "Ik ben gestopt met de pianolessen."),
]
UNTOUCHED = [
    ("I started learning Portuguese.", "I stopped the Spanish lessons, doing Italian instead."),
    ("My son is learning Portuguese.", "I stopped the Portuguese lessons, doing Spanish instead."),
    ("I grew up in a Portuguese village.", "I stopped the Portuguese lessons, doing Spanish instead."),
    ("I used to take pottery lessons.", "I quit the swimming class."),
]


@pytest.mark.parametrize(("old", "new"), ENDED)
def test_lessons_that_were_given_up_end_what_was_said_of_them(old: str, new: str) -> None:
    change = judge(Frame(old), Frame(new), 0.45, among=12)
    assert change is not None


@pytest.mark.parametrize(("old", "new"), UNTOUCHED)
def test_other_lessons_and_other_people_stay(old: str, new: str) -> None:
    assert judge(Frame(old), Frame(new), 0.45, among=12) is None
