"""Somebody else in a place that one person has is a change; news of another person is none of one's own."""

from __future__ import annotations

import pytest

from tests.acceptance.current_statements import left

ANEW = (
    ("My boss is Tom.", "My boss is Ana now."),
    ("Tom is my boss.", "Ana is my boss now."),
    ("My boss is Tom.", "Ana is my boss now."),
    ("Dr. Hale is my dentist.", "Dr. Mori is my dentist now."),
    ("Slack is our chat tool.", "Teams is our chat tool now."),
    ("Our chat tool is Slack.", "Our chat tool is now Teams."),
    ("Mein Chef ist Tom.", "Mein Chef ist jetzt Ana."),
    ("Mon chef est Tom.", "Maintenant mon chef est Ana."),
    ("Mi jefe es Tom.", "Mi jefe ahora es Ana."),
    ("Marta vive en Roma.", "Marta vive ahora en Madrid."),
    ("Marta vive a Roma.", "Marta adesso vive a Milano."),
)
BESIDE = (
    ("My friend is Tom.", "My friend is Ana now."),
    ("Tom is my brother.", "Ben is my brother now."),
    ("Acme is our client.", "Initech is our client now."),
    ("Our car is a Fiat.", "Our car is in the garage now."),
    ("Tom is my boss.", "Tom is my friend now."),
    ("Tom is my boss.", "Ana is my boss, too, now."),
    ("Ana is my dentist.", "Tom is my doctor now."),
    ("Slack is our chat tool.", "Jira is our ticket tool now."),
    ("My dog is called Rex.", "My other dog is called Bello now."),
    ("Rome is my favourite city.", "Oslo is my second favourite city now."),
    ("I live in Bonn.", "I live in Kiel on weekends now."),
    ("I work at Acme.", "I work at home now."),
    ("I drive a Volvo.", "Tom drives a Fiat now."),
    ("Tom is vegan.", "Ana eats meat these days."),
    ("My sister earns 4,000 euros.", "Dr. Hale earns 5,000 euros these days."),
    ("Peso 70 kg.", "Tom pesa ahora 85 kg."),
    ("Ich wohne in Bonn.", "Tom wohnt jetzt in Kiel."),
)


@pytest.mark.parametrize(("old", "new"), ANEW)
async def test_somebody_else_takes_the_place(old: str, new: str) -> None:
    assert await left(old, new) == {new}


@pytest.mark.parametrize(("old", "new"), BESIDE)
async def test_what_several_have_and_news_of_others_close_nothing(old: str, new: str) -> None:
    assert await left(old, new) == {old, new}
