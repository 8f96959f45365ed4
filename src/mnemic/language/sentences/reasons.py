"""Reasons for not storing a statement without an objection by a rule, by the classifier's opinion of it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from mnemic.language.sentences.classify.classifier import LABELS, Opinion
from mnemic.language.skip_reason_codes import (
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
"""Probability of being worth storing below which the classifier's label alone excludes a statement."""
NAMED_FROM = 0.27
"""Minimum probability for a label to be the reason; below it, the only known reason is that the statement is not worth
storing. In a table of 92 sentences in seven languages most wrong labels were below, when this was chosen.
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
"""Reasons that the classifier may give for a statement that it nearly stored."""
_UNLIKELY = frozenset({OPINION, QUOTED, THIRD_PARTY})
"""Reasons that need more than the likeliest of weak labels."""


def label_reason(opinion: Opinion) -> str:
    """Return the reason of the likeliest label, whatever its probability."""
    return _OF_LABELS[opinion.left_as]


def reason_of(opinion: Opinion) -> str:
    """Return the reason for not storing a statement: that of its likeliest label, or `not_understood` if no label is
    likely enough, or if a nearly stored statement is more likely worth storing than covered by that label.
    """
    reason, share = label_reason(opinion), opinion.shares[LABELS.index(opinion.left_as)]
    if opinion.keep < UNSURE_FROM:
        return NOT_UNDERSTOOD if reason in _UNLIKELY and share < NAMED_FROM else reason
    if reason in _TOLD_APART and share >= (opinion.keep if reason == TRANSIENT else NAMED_FROM):
        return reason
    return NOT_UNDERSTOOD
