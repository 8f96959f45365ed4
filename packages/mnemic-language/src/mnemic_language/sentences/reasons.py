"""Reasons for leaving out a statement that no rule objects to, by the classifier's opinion of it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from mnemic_language.sentences.classify.classifier import LABELS, Opinion
from mnemic_language.skip_reason_codes import (
    HYPOTHETICAL,
    JOKE,
    NOT_DURABLE,
    NOT_UNDERSTOOD,
    OPINION,
    QUOTED,
    THIRD_PARTY,
    TRANSIENT,
)

UNSURE_FROM = 0.35
"""Probability of being worth keeping below which a statement is left out by the classifier's label alone."""
NAMED_FROM = 0.27
"""Probability from which a label says why a statement is left out; of another it is only known that it is not worth
keeping. In a table of 92 sentences in seven languages most wrong labels were below, when this was chosen.
"""
_OF_LABELS: Mapping[str, str] = MappingProxyType(
    {
        "question": TRANSIENT,
        "request": TRANSIENT,
        "transient": TRANSIENT,
        "opinion": OPINION,
        "chat": NOT_DURABLE,
        "dangling": NOT_UNDERSTOOD,
        "hypothetical": HYPOTHETICAL,
        "gossip": THIRD_PARTY,
        "joke": JOKE,
        "quoted": QUOTED,
    }
)
_TOLD_APART = frozenset({OPINION, TRANSIENT, THIRD_PARTY})
"""Reasons that the classifier may give for a statement which it nearly kept."""
_UNLIKELY = frozenset({OPINION, QUOTED, THIRD_PARTY})
"""Reasons that take more than the likeliest of weak labels."""


def label_reason(opinion: Opinion) -> str:
    """Return the reason that belongs to the likeliest label, however likely it is."""
    return _OF_LABELS[opinion.left_as]


def is_unsure(opinion: Opinion) -> bool:
    """Return True if the classifier nearly kept a statement, or has no reason against it but that it says little."""
    return opinion.keep >= UNSURE_FROM or label_reason(opinion) in (NOT_UNDERSTOOD, NOT_DURABLE)


def reason_of(opinion: Opinion) -> str:
    """Return the reason why a statement is left out: that of its likeliest label, or `not_understood` where no label
    is likely enough to say why, or a statement that was nearly kept is rather worth keeping than that.
    """
    reason, share = label_reason(opinion), opinion.shares[LABELS.index(opinion.left_as)]
    if opinion.keep < UNSURE_FROM:
        return NOT_UNDERSTOOD if reason in _UNLIKELY and share < NAMED_FROM else reason
    if reason in _TOLD_APART and share >= (opinion.keep if reason == TRANSIENT else NAMED_FROM):
        return reason
    return NOT_UNDERSTOOD
