"""Two forms of one word: "seat" and "seats", "book" and "booking", but not "universe" and "university"."""

from __future__ import annotations

from functools import lru_cache

from mnemic.language.text.analyse import terms

SHORTEST_STEM = 3
_ENDINGS = frozenset(
    {"", "e", "s", "es", "d", "ed", "ing", "y", "ies", "ied", "ying"}
    | {ending for letter in "bdglmnprt" for ending in (f"{letter}ing", f"{letter}ed")}
)
"""Endings of an English word that do not change its identity. A stemmer alone removes more: it maps "universe" and
"university" to the same stem.
"""


@lru_cache(maxsize=8192)
def same_word(one: str, other: str) -> bool:
    """Return True if two words in lower case differ at most by an ending of number, person or tense."""
    if one == other:
        return True
    if min(len(one), len(other)) < SHORTEST_STEM or not (one.isalpha() and other.isalpha()):
        return False
    if terms(one)[:1] != terms(other)[:1]:
        return False
    stem = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return stem >= SHORTEST_STEM - 1 and {one[stem:], other[stem:]} <= _ENDINGS
