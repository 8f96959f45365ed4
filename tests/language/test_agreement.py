"""A faint word changes only a statement about the same matter."""

from __future__ import annotations

import pytest

from mnemic.language.changes.agreement import agree, is_faint
from mnemic.language.changes.change_classifier import judge
from mnemic.language.changes.change_features import revalued
from mnemic.language.frames.statement_frame import Frame

APART = [
    ("I honestly like plums in any form.", "Sour plums only"),
    ("My pup Basil loves warm sweaters!", "We ended up going with 'Scout' for our pup."),
]


@pytest.mark.parametrize(("old", "new"), APART)
def test_one_word_in_common_is_no_agreement(old: str, new: str) -> None:
    assert is_faint(Frame(new))
    assert not agree(Frame(old), Frame(new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Leeds.", "so we're settled in Sheffield now"),
        ("The barbecue is on 12 July.", "The barbecue is on 19 July now."),
        ("My knee hurts when I kneel.", "My knee is fine again."),
        ("My rent is 850.", "The rent went up to 910."),
        ("Tea with Marta is on Monday.", "Marta again, on Friday"),
    ],
)
def test_an_attribute_a_thing_a_day_or_a_name_is(old: str, new: str) -> None:
    assert agree(Frame(old), Frame(new))


@pytest.mark.parametrize("new", ["I quit the choir.", "I moved to Porto.", "Sorry, I meant Bergen."])
def test_a_plain_word_of_change_is_not_faint(new: str) -> None:
    assert not is_faint(Frame(new))


@pytest.mark.parametrize(
    "new",
    [
        "We ended up going with 'Scout' for our pup.",
        "I've been mending bikes ever since.",
        "You come off as shy to me",
        "I would rather be sleeping",
        "I follow no team since there is none where I live.",
        "I can't wait to get back to the coast.",
    ],
)
def test_set_phrases_end_and_change_nothing(new: str) -> None:
    assert Frame(new).cues.isdisjoint({"end", "weak_end", "weak_change"})


def test_a_faint_word_in_a_long_story_gives_no_new_value() -> None:
    old = Frame("My favourite flavour has to be mango green tea.")
    story = Frame(
        "There was one coffee with a plum flavour that I was brought when I visited the harbour for the birthday of a "
        "friend of mine"
    )
    assert not revalued(old, story, 0.4)


def test_what_was_told_already_contradicts_nothing() -> None:
    old = Frame("I don't really have a favourite film, but I like a lot of silent films with a pianist.")
    assert judge(old, Frame("I don't really have a favourite silent film."), 0.9, opposed=True) is None
    assert judge(Frame("I eat fish."), Frame("I don't eat fish."), 0.9, opposed=True) is not None


def test_either_adds() -> None:
    assert "add" in Frame("There is no harbour where I live either.").cues


def test_the_end_of_what_was_ends_nothing_that_holds() -> None:
    was = Frame("I used to work as a clerk, but I quit my job to travel full time.")
    assert judge(Frame("I'm a sailor."), was, 0.6, among=2) is None
    assert judge(Frame("I'm a clerk."), Frame("I quit my job as a clerk."), 0.6, among=2) is not None


def test_a_judgement_of_a_thing_corrects_nothing() -> None:
    assert Frame("It's not my dream job, but it pays the bills.").cues.isdisjoint({"correct", "weak_correct"})
