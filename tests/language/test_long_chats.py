"""Rules for statements of a long chat: comfort, calls and advice of two people change nothing that one of them told."""

import pytest

from mnemic.language.changes.change_classifier import judge
from mnemic.language.changes.change_features import alike, takes_back
from mnemic.language.frames.statement_frame import Frame


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Sorry to hear that your bike was stolen.", {"weak_correct", "correct", "takes_back"}),
        ("I think they are all wrong about the match.", {"weak_correct", "takes_back"}),
        ("We made the dumplings from scratch.", {"takes_back"}),
        ("It's not right that the library shuts early.", {"takes_back"}),
        ("I'm off to the market with my aunt.", {"end"}),
        ("I'll call you whenever I run out of ideas.", {"end"}),
        ("Something was wrong with the oven.", {"takes_back", "weak_correct"}),
    ],
)
def test_set_phrases_take_nothing_back(text: str, kinds: set[str]) -> None:
    assert Frame(text).cues.isdisjoint(kinds)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Sorry, I meant Bergen.", "correct"),
        ("Hmm, that was wrong. It's on Saturday.", "takes_back"),
        ("I let my subscription run out.", "end"),
        ("Scratch what I said.", "takes_back"),
    ],
)
def test_a_mistake_and_an_end_still_count(text: str, kind: str) -> None:
    assert kind in Frame(text).cues


@pytest.mark.parametrize(
    "text", ["Thanks, Maria! I rode home.", "I rode home after that, Maria.", "So proud of you, Maria!"]
)
def test_who_is_called_is_no_part_of_what_is_said(text: str) -> None:
    assert "mari" not in Frame(text).stems


@pytest.mark.parametrize("text", ["My therapist is Maria.", "I see another therapist, Maria.", "Savona, not Maria."])
def test_who_is_told_of_stays(text: str) -> None:
    assert "mari" in Frame(text).stems


def test_a_capital_that_begins_a_sentence_is_no_name_misspelled() -> None:
    old, new = Frame("Searching for a good flat takes months."), Frame("Starting a family isn't easy for us.")
    assert not alike(old, new)


@pytest.mark.parametrize("new", ["Her card says Keely, I misread it.", "Keely, typo.", "Keely is how it's spelled."])
def test_a_name_misspelled_is_alike(new: str) -> None:
    assert alike(Frame("I met Siobhan Kelly at the fair."), Frame(new))


def test_what_is_taken_back_at_length_is_about_the_same() -> None:
    old = Frame("Band practice is on Monday.")
    far = Frame("Oops, my bad, I forgot that the neighbours wanted to borrow our ladder and the long saw on Saturday.")
    near = Frame("Oops, my bad, I looked at the wrong page of the calendar and our band practice is on Saturday.")
    assert takes_back(old, far)
    assert judge(old, far, 0.35) is None
    assert judge(old, near, 0.6) is not None


def test_among_many_a_contradiction_needs_as_much_as_a_change() -> None:
    old, new = (
        Frame("Losing my flat was hard, but now I live my dream."),
        Frame("Losing my flat was tough but now it helps me."),
    )
    assert judge(old, new, 0.6, among=4, opposed=True) is not None
    assert judge(old, new, 0.6, among=32, opposed=True) is None
