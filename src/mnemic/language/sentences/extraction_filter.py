"""Filter for messages without anything to store, applied before a call of a language model."""

from __future__ import annotations

from mnemic.language.sentences.classify.classifier import weights
from mnemic.language.sentences.clauses import sentences
from mnemic.language.sentences.later_words import corrects_itself, tells_end

WORTH_FROM = 0.15
"""Minimum probability for a sentence to count. Two thirds of labelled small talk is below it, and one of 219 messages
with something to store.
"""
_SENTENCES = 64
_CHARS = 400


def has_nothing_to_keep(text: str) -> bool:
    """Return True if no sentence of `text` is likely to be worth storing, and none may end or correct
    something known.
    """
    parts = [text[start:end][:_CHARS] for start, end in sentences(text)]
    if len(parts) > _SENTENCES or any(tells_end(part) or corrects_itself(part) for part in parts):
        return False
    return all(opinion.keep < WORTH_FROM for opinion in weights().opinions(parts))
