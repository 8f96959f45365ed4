"""Memories that a query names: by the words of their key, or by an alias.

Similarity always finds something; a name is present or not. So a search by name can answer that nothing is known. Keys
and aliases are found by their words in a scope of any size. Among the memories found by other words or by similarity,
the name may be misspelt by one letter (left out, inserted, changed, or swapped with its neighbour) if it has five or
more letters and its first two are right: Lucene calls this fuzziness 1 with a prefix of 2.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mnemic.language.text.analyse import analyse
from mnemic.language.text.names import further_names
from mnemic.types import Memory

# Shorter names are one letter away from too many other words.
SHORTEST_MISSPELT = 5
PREFIX = 2
_WORD = re.compile(r"[^\W_]+")


def names_of(memory: Memory) -> list[str]:
    """Return the key of `memory`, spelled as words, and its further names."""
    return [*([memory.key.replace("_", " ")] if memory.key else []), *further_names(memory.data)]


class NameLookup:
    """One query, read for names."""

    def __init__(self, query: str) -> None:
        self._terms = analyse(query).sequence
        self._words = _WORD.findall(query.casefold())

    def names(self, memory: Memory) -> bool:
        """Return True if the query contains one of the memory's names, its words next to each other."""
        return any(self._holds(name) for name in names_of(memory) if name.strip())

    def _holds(self, name: str) -> bool:
        spelled, words = analyse(name).sequence, _WORD.findall(name.casefold())
        return _contains_name(spelled, self._terms) or (
            bool(words) and any(all(map(_alike, words, part)) for part in _parts(self._words, len(words)))
        )


def _contains_name(name: Sequence[str], terms: Sequence[str]) -> bool:
    return bool(name) and any(list(part) == list(name) for part in _parts(terms, len(name)))


def _parts(words: Sequence[str], length: int) -> list[Sequence[str]]:
    return [words[start : start + length] for start in range(len(words) - length + 1)]


def _alike(word: str, said: str) -> bool:
    if word == said:
        return True
    return len(word) >= SHORTEST_MISSPELT and word[:PREFIX] == said[:PREFIX] and one_slip(word, said)


def one_slip(word: str, said: str) -> bool:
    """Return True if one deletion, insertion, substitution or swap of neighbouring letters turns `word` into `said`."""
    if abs(len(word) - len(said)) > 1:
        return False
    start = next((at for at, (one, other) in enumerate(zip(word, said, strict=False)) if one != other), None)
    if start is None:
        return True
    rest, other = word[start:], said[start:]
    if len(word) != len(said):
        return rest[1:] == other if len(word) > len(said) else rest == other[1:]
    swapped = rest[:2] == other[1::-1] and rest[2:] == other[2:]
    return rest[1:] == other[1:] or swapped
