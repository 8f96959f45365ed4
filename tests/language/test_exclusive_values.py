"""Values of one sort, of which a thing has one at a time."""

from __future__ import annotations

import pytest

from mnemic.language.changes.change_classifier import judge
from mnemic.language.frames.statement_frame import Frame

TAKES_THE_PLACE = [
    ("Our quotes are always in USD.", "Quotes in GBP from October, new rule."),
    ("I always travel first class.", "From now on second class only, please."),
    ("Ich fahre immer erste Klasse.", "Ab jetzt nur noch 2. Klasse."),
    ("We have two sons.", "Our third was born in May, a girl."),
    ("Wir haben zwei Kinder.", "Unser drittes ist im Mai zur Welt gekommen."),
    ("Ik neem altijd handbagage mee.", "Voortaan neem ik ruimbagage mee."),
    ("I have your Plus plan.", "I cancelled Plus last week."),
    ("My contact is Ana Brandt.", "My contact is Anna Brandt, with two n's."),
]
LETS_BE = [
    ("Our quotes are always in USD.", "My brother's quotes are in GBP from now on."),
    ("Our quotes are always in USD.", "Some quotes are also in GBP now."),
    ("We have two sons.", "Our fourth was born in May."),
    ("We have two sons.", "Our third boat arrived in May."),
    ("My sister has two sons.", "Our third was born in May."),
    ("I can't have dairy.", "I'm lactose intolerant, I drink oat milk instead."),
    ("I've coded in Python.", "I coded a game with one of my friends inspired by Tetris."),
]


@pytest.mark.parametrize(("old", "new"), TAKES_THE_PLACE)
def test_another_member_takes_the_place_of_the_first(old: str, new: str) -> None:
    assert judge(Frame(old), Frame(new), 0.55) is not None


@pytest.mark.parametrize(("old", "new"), LETS_BE)
def test_what_is_of_another_or_agrees_is_let_be(old: str, new: str) -> None:
    assert judge(Frame(old), Frame(new), 0.55) is None


def test_a_part_of_what_was_said_takes_the_place_of_nothing() -> None:
    told = "So, I'm Edda, a joiner, two boys who are with me at weekends. I sing in a choir."
    assert judge(Frame(told), Frame("So, I'm Edda, a joiner, two boys who are with me at weekends."), 0.95) is None


def test_a_word_without_content_elsewhere_may_be_a_name_in_english() -> None:
    assert "plu" in Frame("I pay for the Plus plan of it.").stems
    assert "plu" not in Frame("Je ne bois plus de café.").stems
    assert "plu" not in Frame("I want nothing plus a coffee.").stems
