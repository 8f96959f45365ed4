"""In a message that also keeps somebody company more is asked of what is kept."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mnemic.extract.rule_extractor import Sentence, _mark_social
from mnemic.language.sentences.classify.classifier import LABELS, Opinion
from mnemic.language.sentences.clauses import clauses
from mnemic.language.sentences.exclusion_rules import left_out, mood_of
from mnemic.language.sentences.statements import (
    ALOOF_FROM,
    KEEP_FROM,
    NAMED_FROM,
    PART_FROM,
    SOCIAL_FROM,
    Piece,
    Statement,
    decide_pieces,
    pieces_of,
)


def pieces(text: str) -> list[Piece]:
    return pieces_of(clauses(text), text, mood_of(text))


def piece(text: str, share: float, *, social: bool) -> Piece:
    made = Piece(0, len(text), text, social=social)
    shares = {"fact": share, "chat": 1 - share}
    made.opinion = Opinion(shares=tuple(shares.get(label, 0.0) for label in LABELS))
    return made


def kept(made: Piece) -> bool:
    told: Sequence[Statement | Piece] = list(decide_pieces([made], made, None))
    return isinstance(told[0], Statement)


@pytest.mark.parametrize(
    ("text", "social", "least"),
    [
        ("I keep bees on the roof", False, KEEP_FROM),
        ("I keep bees at Anna's", False, NAMED_FROM),
        ("I keep bees on the roof", True, SOCIAL_FROM),
        ("bees sleep on the roof", True, ALOOF_FROM),
    ],
)
def test_the_least_share(text: str, social: bool, least: float) -> None:
    assert kept(piece(text, least + 0.005, social=social))
    assert not kept(piece(text, least - 0.005, social=social))


def test_praise_marks_its_whole_message() -> None:
    sentences = []
    for text in ("Way to go, Ben!", "I keep bees on the roof."):
        made = pieces(text)
        sentences.append(Sentence(made[0], made, lasting=False, clauses=clauses(text)))
    _mark_social(sentences[1:])
    assert not sentences[1].whole.social
    _mark_social(sentences)
    assert all(one.whole.social for one in sentences)


def test_remember_alone_says_nothing() -> None:
    assert not pieces("Remember!")[0].asked
    assert pieces("For the record, I keep bees.")[-1].asked


def test_a_part_of_a_sentence_that_is_not_worth_keeping_needs_more() -> None:
    whole = piece("I made it up, so I have no recipe", 0.1, social=False)
    for share, expected in ((PART_FROM - 0.005, False), (PART_FROM + 0.005, True)):
        part = piece("I have no recipe", share, social=False)
        told = list(decide_pieces([part], whole, None))
        assert isinstance(told[0], Statement) is expected


@pytest.mark.parametrize(
    ("text", "social", "expected"),
    [
        ("Remember: friendship takes time", True, False),
        ("Remember: friendship takes time", False, True),
        ("Remember: my sister hates lilies", True, True),
        ("Remember: pick up Ana", True, True),
    ],
)
def test_a_saying_is_not_asked_to_be_remembered(text: str, social: bool, expected: bool) -> None:
    made = pieces(text)[0]
    made.opinion, made.social = piece(text, 0.1, social=social).opinion, social
    told = list(decide_pieces([made], made, None))
    assert isinstance(told[0], Statement) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I really love this genre!", True),
        ("I'm a huge fan of that band.", True),
        ("Since I was nine or so.", True),
        ("Rosa and Paul.", True),
        ("I love this city", False),
        ("Since I was nine, I keep bees.", False),
        ("Rosa and Paul are my cousins.", False),
    ],
)
def test_what_another_has_named_is_not_understood(text: str, expected: bool) -> None:
    (clause, *_) = clauses(text)
    assert (left_out(clause, mood_of(text)) == "not_understood") is expected
