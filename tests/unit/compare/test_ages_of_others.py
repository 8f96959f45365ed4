"""An age, or a count, of somebody else or of an animal is no new value of one's own, and the other way round."""

from __future__ import annotations

import pytest

from mnemic_language.changes.change_classifier import framed, judge

APART = [
    ("Meine Mutter ist 70 Jahre alt.", "Ich bin 41 Jahre alt."),
    ("My mother is 70 years old.", "I am 41 years old."),
    ("Mi madre tiene 70 años.", "Tengo 41 años."),
    ("Ma mère a 70 ans.", "J'ai 41 ans."),
    ("Mia madre ha 70 anni.", "Ho 41 anni."),
    ("A minha mãe tem 70 anos.", "Tenho 41 anos."),
    ("Mijn moeder is 70 jaar oud.", "Ik ben 41 jaar oud."),
    ("Ich bin 41 Jahre alt.", "Mein Vater ist 71 Jahre alt."),
    ("Mein Hund ist 3 Jahre alt.", "Ich bin 41 Jahre alt."),
    ("My dog is 3 years old.", "I am 41 years old."),
    ("My dog is 3 years old.", "Our house is 80 years old."),
    ("Mein Sohn hat 3 Wochen Ferien.", "Ich habe 6 Wochen Ferien."),
    ("My husband works 40 hours a week.", "I work 20 hours a week."),
]
SAME = [
    ("I am 40 years old.", "I'm 41 now."),
    ("My son is 3 years old.", "My son is 4 now."),
    ("My dog is 3 years old.", "My dog is 4 years old now."),
    ("Mein Hund ist 3 Jahre alt.", "Mein Hund ist jetzt 4 Jahre alt."),
    ("Mein Sohn hat 3 Wochen Ferien.", "Mein Sohn hat 6 Wochen Ferien."),
    ("J'ai 40 ans.", "J'ai 41 ans maintenant."),
    ("Max is 3 years old.", "Max turned 4."),
]


@pytest.mark.parametrize("cosine", [0.5, 0.75, 0.9])
@pytest.mark.parametrize(("old", "new"), APART)
def test_the_age_of_another_stays(old: str, new: str, cosine: float) -> None:
    assert judge(framed(old), framed(new), cosine) is None


@pytest.mark.parametrize(("old", "new"), SAME)
def test_a_later_age_of_the_same_replaces_the_earlier_one(old: str, new: str) -> None:
    assert judge(framed(old), framed(new), 0.8) is not None
