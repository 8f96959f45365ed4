"""The second opinion on closings: what changes passes, and remarks on the same topic do not."""

from __future__ import annotations

import pytest

from mnemic.language.changes.change_evidence import NAMES, evidence, features, is_evident
from mnemic.language.frames.statement_frame import Frame

CHANGES = [
    ("I live in Bonn.", "I moved to Kiel last week.", 0.8),
    ("Our beagle Otto is eleven.", "Otto died on Sunday.", 0.8),
    ("I take 20 mg omeprazole.", "The doctor took me off omeprazole.", 0.85),
    ("Ich spiele Cello.", "Ich spiele kein Cello mehr.", 0.8),
    ("Je prends le bus.", "J'ai arrêté de prendre le bus.", 0.7),
]
REMARKS = [
    ("I love to ride horses.", "My family has raised horses for generations, so I've been riding for ever.", 0.78),
    ("I was reading that a game only has 11 minutes of play.", "I cannot watch a regular game any more.", 0.63),
    ("I love Mediterranean food.", "And that Mediterranean place only got better.", 0.7),
]


@pytest.mark.parametrize(("earlier", "later", "probability"), CHANGES)
def test_a_change_of_another_day_is_evident(earlier: str, later: str, probability: float) -> None:
    assert is_evident(Frame(earlier), Frame(later), probability, one_talk=False)


@pytest.mark.parametrize(("earlier", "later", "probability"), REMARKS)
def test_a_remark_of_the_same_talk_is_not(earlier: str, later: str, probability: float) -> None:
    assert not is_evident(Frame(earlier), Frame(later), probability, one_talk=True)


def test_a_name_in_common_is_no_matter_in_common() -> None:
    milk, work = Frame("Tasha can't have milk while she's nursing."), Frame("Tasha goes back to work on Monday.")
    assert not is_evident(milk, work, 0.8, one_talk=False)
    assert is_evident(Frame("Tasha works at the port."), Frame("Tasha has quit the port."), 0.8, one_talk=False)


def test_a_slip_that_is_taken_back_needs_no_more() -> None:
    assert is_evident(Frame("My exam is on the 12th."), Frame("Not the 12th, the 2nd."), 0.5, one_talk=True)


def test_what_somebody_feels_about_it_changes_nothing() -> None:
    assert not is_evident(
        Frame("I live in the city."), Frame("I'm glad to be living in the city now."), 0.9, one_talk=True
    )


def test_there_is_one_feature_a_name_and_one_share() -> None:
    old, new = Frame("I live in Bonn."), Frame("I moved to Kiel.")
    assert len(features(old, new, 0.6, one_talk=False)) == len(NAMES)
    assert 0 < evidence(old, new, 0.6, one_talk=False) < 1
