"""Two people of one relation: told apart by name and age, and never said to disagree by name alone."""

from __future__ import annotations

import pytest

from mnemic.language.changes.change_classifier import judge
from mnemic.language.changes.disagreements import disagree
from mnemic.language.frames.statement_frame import Frame

TWO = [
    ("My brother Tom lives in Leeds.", "My brother Ben lives in York."),
    ("My older sister lives in Leeds.", "My younger sister lives in York."),
    ("Mein Bruder Jan wohnt in Kiel.", "Mein Bruder Tim wohnt in Bonn."),
    ("Mein großer Bruder wohnt in Kiel.", "Mein kleiner Bruder wohnt in Bonn."),
    ("Mon petit frère habite à Lille.", "Mon grand frère habite à Nantes."),
    ("Mi hermano mayor vive en Lugo.", "Mi hermano pequeño vive en Vigo."),
    ("Mia sorella Ada vive a Bari.", "Mia sorella Eva vive a Lecce."),
    ("A minha irmã Rita vive em Braga.", "A minha irmã Sara vive em Évora."),
    ("Mijn broer Piet woont in Delft.", "Mijn broer Kees woont in Breda."),
]
NAMED = [
    ("My brother is called Tom.", "My brother is called Ben."),
    ("Meine Tochter heißt Lea.", "Meine Tochter heißt Mia."),
    ("Mon cousin s'appelle Luc.", "Mon cousin s'appelle Paul."),
]


@pytest.mark.parametrize(("earlier", "later"), TWO)
def test_one_of_two_relatives_leaves_the_other(earlier: str, later: str) -> None:
    assert judge(Frame(earlier), Frame(later), 0.8) is None
    assert judge(Frame(earlier), Frame(later), 0.8, opposed=True) is None
    assert not disagree(Frame(earlier), Frame(later))


@pytest.mark.parametrize(("earlier", "later"), NAMED)
def test_two_names_are_two_relatives(earlier: str, later: str) -> None:
    assert not disagree(Frame(earlier), Frame(later))


def test_one_relative_moves() -> None:
    assert judge(Frame("My brother Tom lives in Leeds."), Frame("My brother Tom moved to York."), 0.7) is not None
    assert judge(Frame("My brother lives in Leeds."), Frame("My brother has moved to York."), 0.7) is not None
    assert disagree(Frame("My wife is called Ann."), Frame("My wife is called Eve."))
