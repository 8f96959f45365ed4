"""A move to where somebody lives is no change of it: "I live in Bergen", "Moving to Bergen was hard"."""

from __future__ import annotations

import pytest

from mnemic.language.changes.change_classifier import framed, judge
from mnemic.language.frames.statement_frame import Frame

SAME = [
    "Moving to Bergen was the best decision.",
    "I moved to Bergen in 2019.",
    "We moved to Bergen for my job.",
    "Our move to Bergen was hard.",
]
OTHER = ["I moved to Oslo.", "We relocated to Oslo for my job.", "I've moved from Bergen to Oslo."]


@pytest.mark.parametrize("cosine", [0.5, 0.75, 0.9])
@pytest.mark.parametrize("new", SAME)
def test_it_leaves_the_statement_of_the_home(new: str, cosine: float) -> None:
    assert judge(framed("I live in Bergen."), framed(new), cosine) is None


@pytest.mark.parametrize("new", OTHER)
def test_a_move_elsewhere_still_replaces_it(new: str) -> None:
    assert judge(framed("I live in Bergen."), framed(new), 0.8) is not None


def test_a_place_after_a_preposition_is_no_subject() -> None:
    assert Frame("Moving to Bergen was the best decision.").subject == ""
    assert Frame("Maria was born in Bergen.").subject == "name:mari"
