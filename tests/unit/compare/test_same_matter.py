"""A remark with a word of change changes nothing unless it is about the same matter of its speaker's."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic import MemoryManager
from mnemic_language.compare.change import judge
from mnemic_language.compare.same_matter import changed_by_remark
from mnemic_language.compare.statement_frame import Frame

REMARKS = [
    ("That novel has 640 pages.", "I'd have to get back to you on that one."),
    ("I think Alien is probably one of my favourite films.", "I actually saw it twice."),
    ("I have a bad habit of buying too many plants.", "You no longer sound so bad to me."),
    ("I love carrot cake.", "Let the cake cool down once it is out of the oven, then stop."),
    (
        "My favourite city has to be Porto.",
        "I actually have not been there, but I will keep Porto in mind for our trip.",
    ),
    ("I enjoy eggs in any form.", "Normal eggs only, again."),
]
CHANGES = [
    ("I live in Deal, near the pier.", "So we're finally unpacked in Ely."),
    ("I'm vegetarian, so leave out the ham.", "Not a vegetarian any more, had a steak."),
    ("We're flying to Malta on May 3rd.", "Had to push Malta back, work."),
    ("The scan is on Monday at 8:15, at the CT unit.", "They called, CT is cancelled."),
    ("I take evening classes in welding.", "I'm done with the evening classes, passed everything."),
    ("Band practice is on Monday.", "Hmm, that was wrong. It's on Saturday."),
    ("My tutor's name is Kelly.", "Typo, I meant Keely."),
]


@pytest.mark.parametrize(("old", "new"), REMARKS)
def test_a_remark_changes_nothing(old: str, new: str) -> None:
    assert not changed_by_remark(Frame(old), Frame(new))


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_a_change_of_the_same_matter_counts(old: str, new: str) -> None:
    assert changed_by_remark(Frame(old), Frame(new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I love baking.", "I'm not very good at baking, but I love eating."),
        ("I like to play chess.", "I'm not very sporty, but I like to play blitz chess."),
    ],
)
def test_two_likings_do_not_contradict_each_other(old: str, new: str) -> None:
    assert judge(Frame(old), Frame(new), 0.75, opposed=True) is None


def test_an_end_that_is_hoped_for_is_none() -> None:
    assert "end" not in Frame("I'm saving money to be able to quit my day job.").cues
    assert "end" in Frame("I quit my day job.").cues


def test_to_mean_something_in_passing_corrects_nothing() -> None:
    assert "correct" not in Frame("Shops should stop selling it, I mean they stopped selling tobacco.").cues
    assert "takes_back" in Frame("No, I mean Tuesday.").cues


def test_a_remark_leaves_what_is_known(tmp_path: Path) -> None:
    with MemoryManager("mia", store=tmp_path / "m.db") as memory:
        memory.capture("I'm spending my summer working at my parents' bakery.")
        memory.capture("Gets tiring to work at though, would rather be having tea.")
        assert [one.content for one in memory.list()] == ["I'm spending my summer working at my parents' bakery."]
