"""Stems of words: the common part of a word's inflections, approximate and for all the languages."""

from __future__ import annotations

from functools import lru_cache

from mnemic.language.frames.frame_expressions import ENDINGS
from mnemic.language.frames.vocabulary import person_words, same_relation


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return the common part of a word's inflections, approximate and for all the languages."""
    word = same_relation().get(word := word.removesuffix("'s"), word)
    if not person_words()["relations"].isdisjoint((word, word.removesuffix("s"))):  # "hermano" is not "hermana"
        return word.removesuffix("s")
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    else:
        return word[:7]
    if ending == "s" and len(word) > 3 and word[-1] in "aeio":  # "emojis" as "emoji"
        word = word[:-1]
    if len(word) >= 4 and word[-1] == word[-2]:
        word = word[:-1]
    return word[:7]


@lru_cache(maxsize=1)
def relation_stems() -> frozenset[str]:
    """Return the stems of the words for people by their relation to the speaker."""
    return frozenset(map(stem, person_words()["relations"]))
