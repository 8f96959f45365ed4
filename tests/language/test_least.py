"""The share from which a statement is kept: more is asked of one that names nobody and nothing."""

from __future__ import annotations

import pytest

from mnemic.language.sentences.classify.classifier import LABELS, Opinion
from mnemic.language.sentences.statements import (
    KEEP_FROM,
    NAMED_FROM,
    SAID_FROM,
    UNSURE_FROM,
    URGENT_FROM,
    WORDS_KEEP_FROM,
    Piece,
    Statement,
    decide_pieces,
)


def _piece(text: str, keep: float, label: str = "fact", *, words_alone: bool = False) -> Piece:
    shares = {label: keep, "chat": 1 - keep}
    opinion = Opinion(shares=tuple(shares.get(one, 0.0) for one in LABELS), words_alone=words_alone)
    return Piece(0, len(text), text, opinion=opinion)


@pytest.mark.parametrize(
    ("text", "label", "words_alone", "least"),
    [
        ("Simple things make me happy", "fact", False, KEEP_FROM),
        ("I paint with Ines", "fact", False, NAMED_FROM),
        ("I rowed 12 miles", "event", False, NAMED_FROM),
        ("Nuts make me ill", "safety", False, URGENT_FROM),
        ("Answer in short sentences", "instruction", False, URGENT_FROM),
        ("Simple things make me happy", "fact", True, WORDS_KEEP_FROM),
        ("I prefer detailed proofs with diagrams to fully grasp it", "fact", False, SAID_FROM),
        ("and I really prefer small groups", "fact", False, SAID_FROM),
        ("je préfère les petits groupes", "fact", True, SAID_FROM),
        ("Always show the steps when I ask about proofs", "preference", False, SAID_FROM),
        ("Always happy with what comes", "fact", False, KEEP_FROM),
    ],
)
def test_the_least_share(text: str, label: str, words_alone: bool, least: float) -> None:
    kept, left = (
        _piece(text, least + 0.01, label, words_alone=words_alone),
        _piece(text, least - 0.01, label, words_alone=words_alone),
    )
    assert [type(one).__name__ for one in decide_pieces([kept], kept, None)] == ["Statement"]
    reason = "not_understood" if least > UNSURE_FROM else "not_durable"
    assert [one.reason for one in decide_pieces([left], left, None)] == [reason]


def test_what_may_concern_safety_needs_less_whatever_else_it_is() -> None:
    text = "My nephew swims badly"
    shares = {"change": 0.5, "safety": 0.15, "chat": 0.35}
    piece = Piece(0, len(text), text, opinion=Opinion(shares=tuple(shares.get(one, 0.0) for one in LABELS)))
    assert [type(one).__name__ for one in decide_pieces([piece], piece, None)] == ["Statement"]


def test_who_says_prefer_says_a_preference() -> None:
    piece = _piece("I prefer detailed proofs", 0.9, "fact")
    (kept,) = decide_pieces([piece], piece, None)
    assert isinstance(kept, Statement)
    assert kept.category == "preference"
