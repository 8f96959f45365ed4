"""How likely a statement has to be worth storing."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mnemic.language.sentences.classify.classifier import LABELS, Opinion
from mnemic.language.sentences.clauses import clauses
from mnemic.language.sentences.exclusion_rules import mood_of
from mnemic.language.sentences.statements import (
    KEEP_FROM,
    NAMED_FROM,
    Piece,
    Statement,
    decide_pieces,
    pieces_of,
)


def pieces(text: str) -> list[Piece]:
    return pieces_of(clauses(text), text, mood_of(text))


def piece(text: str, share: float) -> Piece:
    made = Piece(0, len(text), text)
    shares = {"fact": share, "chat": 1 - share}
    made.opinion = Opinion(shares=tuple(shares.get(label, 0.0) for label in LABELS))
    return made


def kept(made: Piece) -> bool:
    told: Sequence[Statement | Piece] = list(decide_pieces([made], made, None))
    return isinstance(told[0], Statement)


@pytest.mark.parametrize(
    ("text", "least"), [("I keep bees on the roof", KEEP_FROM), ("I keep bees at Anna's", NAMED_FROM)]
)
def test_the_least_share(text: str, least: float) -> None:
    assert kept(piece(text, least + 0.005))
    assert not kept(piece(text, least - 0.005))


def test_remember_alone_says_nothing() -> None:
    assert not pieces("Remember!")[0].asked
    assert pieces("For the record, I keep bees.")[-1].asked
