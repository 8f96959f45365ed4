"""Lists of expressions, each searched for only in texts that contain a word required by one of its alternatives.

Most texts contain few such words, and a list of a hundred alternatives is tried at every position of a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from mnemic.language.text.pattern import Pattern, WordCache

_RUN = re.compile(r"\w+")
_LITERAL = re.compile(r"[a-z]+(?:[ '-][a-z]+)*")
_WORD_ENDS = re.compile(r"[ '-]")
_DIGIT = "0"
"""Placeholder for every word that begins with a digit."""
_ANYWHERE = ""
"""Placeholder for every word, for expressions without a literal word."""


class Mark(NamedTuple):
    """Letters of a word that every match contains: the whole word if `whole`, else its beginning."""

    letters: str
    whole: bool = False


class Branch(NamedTuple):
    """One alternative of an expression: it can match only a text that contains one of its marks."""

    marks: Sequence[Mark]
    pattern: Pattern
    letters: Sequence[str] = ()
    """Letters that every match contains, all of them: checked first, which costs a fraction of the search."""


_Place = tuple[str, int]
"""Name of an expression, and the index of one of its alternatives."""


@lru_cache(maxsize=256)
def _runs(text: str) -> frozenset[str]:
    """Return the words of a text, for several lists."""
    return frozenset(_RUN.findall(text))


class Lexicon:
    """Expressions by name, each with its alternatives: one without a mark is searched for in every text."""

    def __init__(self, expressions: Mapping[str, Pattern], branches: Mapping[str, Sequence[Branch]]) -> None:
        self.expressions = expressions
        self._branches = branches
        self._named = WordCache(self._marked)
        self._always: set[_Place] = set()
        self._digits: set[_Place] = set()
        self._whole: dict[str, set[_Place]] = {}
        self._beginning: dict[str, list[tuple[str, _Place]]] = {}
        for name, listed in branches.items():
            for number, branch in enumerate(listed):
                for mark in branch.marks:
                    self._note(mark, (name, number))

    def _note(self, mark: Mark, place: _Place) -> None:
        if mark.letters in (_ANYWHERE, _DIGIT):
            (self._digits if mark.letters else self._always).add(place)
        elif mark.whole:
            self._whole.setdefault(mark.letters, set()).add(place)
        else:
            self._beginning.setdefault(mark.letters[:3], []).append((mark.letters, place))

    def likely(self, text: str) -> set[str]:
        """Return the names of the expressions that may match in `text`: all that do, and perhaps others."""
        places, has = self._places(text), text.__contains__
        return {name for name, number in places if all(map(has, self._branches[name][number].letters))}

    def _places(self, text: str) -> set[_Place]:
        return self._always.union(*map(self._named.__getitem__, _runs(text)))

    def _marked(self, run: str) -> frozenset[_Place]:
        """Return the alternatives with a mark in this word."""
        found = self._whole.get(run, set()) | (self._digits if run[0].isdigit() else set())
        for key in {run[:3], run[:2], run[:1]} & self._beginning.keys():
            found |= {place for letters, place in self._beginning[key] if run.startswith(letters)}
        return frozenset(found)

    def found(self, text: str) -> frozenset[str]:
        """Return the names of the expressions that match in `text`. Only alternatives with a mark in it are tried: one
        by one they cost a fraction of the whole expression at every position of the text.
        """
        found: set[str] = set()
        for name, number in self._places(text):
            if name in found:
                continue
            _, pattern, letters = self._branches[name][number]
            if all(map(text.__contains__, letters)) and pattern.search(text):
                found.add(name)
        return frozenset(found)


def mark_of_phrase(phrase: str) -> Mark:
    """Return the longest word that every match of a phrase with wildcards contains (`give* up`, `* not`)."""
    marks = [Mark(run, whole=not word.endswith(f"{run}*")) for word in phrase.split(" ") for run in _RUN.findall(word)]
    return max(marks, key=lambda mark: len(mark.letters), default=Mark(_ANYWHERE))


def letters_of_phrase(phrase: str) -> list[str]:
    """Return the letters that every match of a phrase with wildcards contains, word by word."""
    return [letters for word in phrase.split(" ") if (letters := word.removesuffix("*"))]


def branches_of_pattern(pattern: str) -> list[Branch]:
    """Return the alternatives of a regular expression, with marks if they have the simple form of the lists here: a
    word boundary, then letters, digits or a group of these.
    """
    return [Branch(list(_marks_of_branch(branch)), Pattern(branch)) for branch in _alternatives(pattern)]


def _marks_of_branch(branch: str) -> Iterator[Mark]:
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
    """Return the index of the bracket that closes the first one."""
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
