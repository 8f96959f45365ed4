"""In a message that also keeps somebody company more is asked of what is kept."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mnemic.extract.classify.classifier import LABELS, Opinion
from mnemic.extract.clauses import clauses
from mnemic.extract.rules import Sentence, _mark_social
from mnemic.extract.signals import mood_of
from mnemic.extract.statements import (
    ALOOF_FROM,
    KEEP_FROM,
    NAMED_FROM,
    SOCIAL_FROM,
    Piece,
    Statement,
    decided,
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
    told: Sequence[Statement | Piece] = list(decided([made], made, None))
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
        sentences.append(Sentence(made[0], made, standing=False, clauses=clauses(text)))
    _mark_social(sentences[1:])
    assert not sentences[1].whole.social
    _mark_social(sentences)
    assert all(one.whole.social for one in sentences)


def test_remember_alone_says_nothing() -> None:
    assert not pieces("Remember!")[0].asked
    assert pieces("For the record, I keep bees.")[-1].asked
