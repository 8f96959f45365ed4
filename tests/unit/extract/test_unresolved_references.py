"""Statements that hang on what is not said, and those that say enough by themselves."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest

from mnemic.extract.rule_extractor import RuleExtractor
from mnemic.language.sentences.classify.classifier import LABELS, Opinion
from mnemic.language.sentences.statements import Piece, Statement, decide_pieces, is_order
from mnemic.language.sentences.unresolved_references import hangs, leans
from mnemic.policy.budget import Budget
from mnemic.policy.key_rules import Policy
from mnemic.types import Deadline, Message
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_a_statement_that_hangs_on_what_is_not_said() -> None:
    EXAMPLES.assert_right(lambda text: bool(hangs(text)), "a_statement_that_hangs_on_what_is_not_said")


def test_a_statement_that_says_enough_by_itself() -> None:
    EXAMPLES.assert_right(lambda text: bool(hangs(text)), "a_statement_that_says_enough_by_itself")


def test_it_is_kept_with_the_sentence_before_it_and_left_out_alone() -> None:
    before, last = _piece("My son built a kite", 0, 19), _piece("I painted it on Sunday", 21, 43)
    (kept,) = decide_pieces([last], last, before)
    assert isinstance(kept, Statement)
    assert (kept.start, kept.end) == (0, 43)
    alone = _piece("I painted it on Sunday", 0, 22)
    (left,) = decide_pieces([alone], alone, None)
    assert isinstance(left, Piece)
    assert left.reason == "not_understood"
    asked = _piece("I painted it on Sunday", 0, 22, asked=True)
    assert [type(one) for one in decide_pieces([asked], asked, None)] == [Statement]
    assert [leans(one) for one in ("He painted a kite", "I painted it", "I painted a kite")] == [True, True, False]


def test_what_concerns_safety_is_kept_all_the_same() -> None:
    risky = _piece("He reacts badly to latex", 0, 24, label="safety")
    assert [type(one) for one in decide_pieces([risky], risky, None)] == [Statement]


def test_what_a_speaker_tells_of_themself_is_no_order() -> None:
    EXAMPLES.assert_right(
        lambda text: is_order(text, _opinion(0.9, "instruction")), "what_a_speaker_tells_of_themself_is_no_order"
    )


def _opinion(keep: float, label: str) -> Opinion:
    shares = {label: keep, "chat": 1 - keep}
    return Opinion(shares=tuple(shares.get(one, 0.0) for one in LABELS))


def _piece(text: str, start: int, end: int, *, asked: bool = False, label: str = "fact") -> Piece:
    return Piece(start, end, text, opinion=_opinion(0.95, label), asked=asked)


async def test_who_is_shown_is_not_the_user() -> None:
    assert await _contents("This is Pepper – he's so playful.") == []
    assert await _contents("Hello, this is Edda.") == ["name: Edda"]


async def test_a_title_stays_in_its_statement() -> None:
    assert await _contents('My favourite novel is "The Wind in the Willows", I reread it each May.') != []
    kept = await _contents('I own a signed copy of "The Wind in the Willows" by Grahame.')
    assert kept == ['I own a signed copy of "The Wind in the Willows" by Grahame.']


async def _contents(text: str) -> list[str]:
    read = await RuleExtractor().extract(
        Message(role="user", content=text),
        policy=Policy(),
        budget=Budget(),
        deadline=Deadline.after(timedelta(minutes=5), time.monotonic),
    )
    return [f"{one.key}: {one.content}" if one.key else one.content for one in read.candidates]


@pytest.mark.parametrize("text", ["Two of them are brown.", "Plus, it's free of nuts.", "Some of those are from Lund."])
def test_a_statement_of_a_part_of_what_was_named_leans_on_it(text: str) -> None:
    assert leans(text)


async def test_a_statement_is_kept_with_the_whole_chain_of_sentences_that_it_leans_on() -> None:
    text = "Coconut ice cream is what I eat most. It's creamy and smooth. Plus, it's free of milk, which I can't have."
    found = await RuleExtractor().extract(
        Message(role="user", content=text),
        policy=Policy(),
        budget=Budget(),
        deadline=Deadline.after(timedelta(seconds=9), time.monotonic),
    )

    assert all(one.content.startswith(("Coconut", "I ")) for one in found.candidates)
