"""Other values of what was said before, where the frames alone show it, and what only looks like it."""

from __future__ import annotations

import pytest

from mnemic.language.changes.change_classifier import judge
from mnemic.language.changes.change_features import outgrown, revalued
from mnemic.language.frames.statement_frame import Frame

REVALUED = [
    ("My rent is 780 a month.", "The rent went up to 815."),
    ("The recital will be in April.", "We brought the recital forward to February."),
    ("My eye exam is on Monday.", "They rescheduled my eye exam, it's Wednesday now."),
    ("Our workshop is in Porto.", "They relocated our workshop to Bergen this month."),
    ("Das Konzert ist am 3. Mai.", "Das Konzert wurde auf den 10. Mai verlegt."),
    ("Mein Beitrag beträgt 40 Euro.", "Der Beitrag wurde auf 45 Euro erhöht."),
    ("La cita es el 2 de junio.", "La cita se aplazó al 9 de junio."),
]
KEPT = [
    ("My rent is 780 a month.", "The rent is 780 a month, they raised nothing."),
    ("My rent is 780 a month.", "My sister's rent went up to 815."),
    ("My eye exam is on Monday.", "My eye exam is on Wednesday just this week, they moved it until then."),
    ("The recital will be in April.", "The other recital was brought forward to February too."),
    ("Our workshop is in Porto.", "We also opened a second workshop in Bergen."),
    ("Das Konzert ist am 3. Mai.", "Das Konzert würde auf den 10. Mai verlegt."),
    ("My first child was born in 2015.", "My second child was born in 2018."),
    ("My left knee is at 40 percent.", "My right knee went up to 60 percent."),
]
OUTGROWN = [
    ("I have two nieces.", "A third niece was born on Friday."),
    ("We keep three goats.", "We got two more goats, so five altogether."),
]
NOT_OUTGROWN = [
    ("I have two nieces.", "A fourth niece was born on Friday."),
    ("I have two nieces.", "The third chapter is out now."),
    ("We keep three goats.", "We got two hens, so five altogether."),
    ("We keep three goats.", "The three goats are fine, three goats altogether."),
]


@pytest.mark.parametrize(("old", "new"), REVALUED)
def test_another_value_of_a_named_thing_takes_its_place(old: str, new: str) -> None:
    assert revalued(Frame(old), Frame(new), 0.5)
    assert judge(Frame(old), Frame(new), 0.5, among=20) is not None
    assert not revalued(Frame(old), Frame(new), 0.1)


@pytest.mark.parametrize(("old", "new"), KEPT)
def test_no_value_takes_the_place_of_another_things(old: str, new: str) -> None:
    assert not revalued(Frame(old), Frame(new), 0.9)


@pytest.mark.parametrize(("old", "new"), OUTGROWN)
def test_one_more_or_a_new_total_is_another_count(old: str, new: str) -> None:
    assert outgrown(Frame(old), Frame(new), 0.6)
    assert judge(Frame(old), Frame(new), 0.6, among=20) is not None


@pytest.mark.parametrize(("old", "new"), NOT_OUTGROWN)
def test_other_counts_stay(old: str, new: str) -> None:
    assert not outgrown(Frame(old), Frame(new), 0.9)


def test_what_is_taken_back_needs_less() -> None:
    old, new = Frame("Band practice is on Monday."), Frame("Hmm, that was wrong. It's on Saturday.")
    assert judge(old, new, 0.35) is not None
    assert judge(old, new, 0.1) is None


@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        ("It got too pricey.", "add", False),
        ("I like tea too.", "add", True),
        ("As of this month we use Xero.", "passing", False),
        ("They relocated our office this month.", "passing", False),
        ("I work from home this month.", "passing", True),
    ],
)
def test_a_cue_is_read_with_its_words(text: str, kind: str, told: bool) -> None:
    assert (kind in Frame(text).cues) is told


@pytest.mark.parametrize(
    ("text", "real"),
    [
        ("Das Treffen wurde verlegt.", True),
        ("Das Treffen würde verlegt.", False),
        ("Wir hatten einen Hund.", True),
        ("Ich könnte umziehen.", False),
    ],
)
def test_what_was_is_not_what_would_be(text: str, real: bool) -> None:
    assert bool(Frame(text).said) is real


def test_whoever_they_are_it_is_about_mine() -> None:
    assert Frame("They moved my appointment to Friday.").subject == "self"
    assert Frame("They live in Lund.").subject == "other:"


@pytest.mark.parametrize(
    "text", ["My son is nine.", "My son turned ten today.", "Ma fille a eu sept ans hier.", "I'm 34."]
)
def test_an_age_is_one_in_words_too(text: str) -> None:
    assert "age" in Frame(text).attributes


def test_a_number_of_seats_is_no_seat() -> None:
    assert "seat" not in Frame("They have 60 seats.").attributes
    assert "seat" in Frame("I like window seats.").attributes


def test_what_a_correction_lets_pass_is_denied() -> None:
    assert "mustard" in Frame("I'm allergic to sesame, mustard is fine.").denied
