"""Lists of expressions, looked for only in a text that has a word which one of them cannot do without.

Most texts have few such words, and a list of a hundred alternatives is tried at every place of a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from mnemic_language.text.pattern import Pattern

_RUN = re.compile(r"\w+")
_LITERAL = re.compile(r"[a-z]+(?:[ '-][a-z]+)*")
_WORD_ENDS = re.compile(r"[ '-]")
_DIGIT = "0"
"""Placeholder for every word that begins with a digit."""
_ANYWHERE = ""
"""Placeholder for every word, for expressions without a literal word."""


class Mark(NamedTuple):
    """Letters of a word that an expression cannot do without, all of them if it is `whole`, else the first ones."""

    letters: str
    whole: bool = False


class Lexicon:
    """Expressions by name, each with a mark of every alternative: one that has none is looked for in every text."""

    def __init__(self, expressions: Mapping[str, Pattern], marks: Mapping[str, Iterable[Mark]]) -> None:
        self.expressions = expressions
        self._named = lru_cache(maxsize=16384)(self._marked)
        self._always: set[str] = set()
        self._digits: set[str] = set()
        self._whole: dict[str, set[str]] = {}
        self._beginning: dict[str, list[tuple[str, str]]] = {}
        for name, result in marks.items():
            for letters, whole in result:
                if letters in (_ANYWHERE, _DIGIT):
                    (self._digits if letters else self._always).add(name)
                elif whole:
                    self._whole.setdefault(letters, set()).add(name)
                else:
                    self._beginning.setdefault(letters[:3], []).append((letters, name))

    def likely(self, text: str) -> set[str]:
        """Return the names of those that may be in `text`, and perhaps of some that are not."""
        return self._always.union(*map(self._named, set(_RUN.findall(text))))

    def _marked(self, run: str) -> frozenset[str]:
        """Return the names of those that have a mark in this word."""
        found = self._whole.get(run, set()) | (self._digits if run[0].isdigit() else set())
        for key in {run[:3], run[:2], run[:1]} & self._beginning.keys():
            found |= {name for letters, name in self._beginning[key] if run.startswith(letters)}
        return frozenset(found)

    def found(self, text: str) -> frozenset[str]:
        """Return the names of those that are in `text`."""
        return frozenset([name for name in self.likely(text) if self.expressions[name].search(text)])


def mark_of_phrase(phrase: str) -> Mark:
    """Return the longest word that every match of a phrase with wildcards contains (`give* up`, `* not`)."""
    marks = [Mark(run, whole=not word.endswith(f"{run}*")) for word in phrase.split(" ") for run in _RUN.findall(word)]
    return max(marks, key=lambda mark: len(mark.letters), default=Mark(_ANYWHERE))


def marks_of_pattern(pattern: str) -> Iterator[Mark]:
    """Yield a mark for each alternative of a regular expression, as far as it is written in the simple way of the lists
    here: it begins at the edge of a word, with letters, digits or a group of such.
    """
    for branch in _alternatives(pattern):
        bare = branch.removeprefix(r"(?<!\d )")
        if bare.startswith(r"\b"):
            yield from _marks(bare[2:])
        else:
            yield Mark(_ANYWHERE)


def _marks(part: str) -> Iterator[Mark]:
    if part.startswith("(?:"):
        end = _closing(part)
        if part[end + 1 : end + 2] in ("?", "*", "{"):
            yield Mark(_ANYWHERE)
        for alternative in _alternatives(part[3:end]):
            yield from _marks(alternative)
        return
    if part.startswith(r"\d") or part[:1].isdigit():
        yield Mark(_DIGIT)
        return
    found = _LITERAL.match(part)
    letters = found[0] if found else ""
    rest = part[len(letters) :]
    if rest[:1] in ("?", "*", "{"):
        letters, rest = letters[:-1], "?"
    *words, last = _WORD_ENDS.split(letters)
    marks = [Mark(word, whole=True) for word in words] + [Mark(last, whole=rest.startswith((" ", r"\b")))]
    yield max(marks, key=lambda mark: len(mark.letters))


def _closing(part: str) -> int:
    """Return the place of the bracket that closes the one at the start."""
    depth = 0
    for place, letter in enumerate(part):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return place
    raise ValueError(part)


def _alternatives(pattern: str) -> list[str]:
    """Return the alternatives of `pattern`: its parts between bars outside brackets."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(pattern):
        depth += (letter in "([") - (letter in ")]")
        if letter == "|" and depth == 0:
            parts.append(pattern[start:place])
            start = place + 1
    return [*parts, pattern[start:]]
