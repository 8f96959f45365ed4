"""Words of which every match of a regular expression has one, read off its syntax.

The analysis follows Russ Cox, "Regular Expression Matching with a Trigram Index" (2012): of each part of an expression
the strings that it matches exactly, as long as these are few, else a set of words of which every match has one. Words
instead of trigrams, because a text has fewer of them, and results for a word can be cached.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from itertools import product
from math import fsum
from typing import Any, NamedTuple

MOST = 64
"""Maximum exact strings of one part; the answer for a whole expression may have twice that many words."""
_EDGE = "\b"
"""The edge of a word, in a string that is matched exactly."""
_RUN = re.compile(r"\w+")
_EXOTIC = re.compile(r"(?![a-z\xdf-\xf6\xf8-\u012f\u0132-\u017e\u0180-\u024f])[^\W\d_]")
"""Small letters that may have other forms than one small and one capital letter."""
_COMMON = frozenset("a i in is it my of on or the to was we and at be by for that this with you".split())
_COSTS = (0.5, 0.1, 0.02, 0.004, 0.001)
_SIGN = 0.2
_COMMON_SIGNS = frozenset(".,-'")
"""Share of texts that have a word of so many letters, or a sign, roughly; the words above are in every text."""


_Item = tuple[Any, Any]
"""A part as `re` parses it: its kind and its arguments."""
_PLAIN = frozenset({"LITERAL", "IN", "AT", "ASSERT", "ASSERT_NOT"})


class _Part(NamedTuple):
    """Known facts about a part of an expression: the strings it matches, None if they are many; and words of which
    every match has one, None if there are none.
    """

    exact: frozenset[str] | None = None
    words: frozenset[str] | None = None


_NOTHING = frozenset({""})
_ANY = _Part()


def required(pattern: re.Pattern[str]) -> frozenset[str] | None:
    """Return words of which every match has one, in lower case and with `^` and `$` where the word of the text begins
    or ends there too, or signs; None if the expression may match without any.
    """
    if pattern.flags & re.ASCII:
        return None
    try:
        tree = import_module("re._parser").parse(pattern.pattern, pattern.flags)
    except (ImportError, AttributeError):  # no public interface, and only a matter of speed
        return None
    words = _words_of(_sequence(tree))
    return None if words is None or len(words) > 8 * MOST else words


def _sequence(items: Sequence[_Item], before: str = "", after: str = "") -> _Part:
    """Return the known facts about parts in a row. `before`, `after`: the edge of a word, if known to be there."""
    exact, words, whole = frozenset({before}), None, True
    for place, one in enumerate(items):
        left = _EDGE if all(string and not _RUN.match(string[-1]) for string in exact) else ""
        part = _part(*one, left, _edge_of(items[place + 1 :], after))
        words = _better(words, part.words)
        if part.exact is not None and len(exact) * len(part.exact) <= MOST:
            exact = frozenset([a + b for a, b in product(exact, part.exact)])
            continue
        whole = False
        words = _better(words, _words_of(_Part(exact)))
        exact = _NOTHING if part.exact is None else part.exact
    exact = frozenset([string + after for string in exact])
    return _Part(exact, words) if whole else _Part(None, _better(words, _words_of(_Part(exact))))


def _edge_of(items: Sequence[_Item], after: str) -> str:
    """Return the edge of a word if these parts certainly begin with one or behind one."""
    for op, value in items:
        if str(op) not in _PLAIN:
            return ""
        exact = _part(op, value, "", "").exact
        if exact != _NOTHING:
            ends = exact is not None and all(string and not _RUN.match(string[0]) for string in exact)
            return _EDGE if ends else ""
    return after


def _part(op: Any, value: Any, before: str, after: str) -> _Part:
    name = str(op)
    if name == "LITERAL":
        return _Part(frozenset({chr(value)}))
    if name == "IN":
        return _class(value)
    if name == "BRANCH":
        return _either([_sequence(branch, before, after) for branch in value[1]])
    if name in ("SUBPATTERN", "ATOMIC_GROUP"):
        return _sequence(value[3] if name == "SUBPATTERN" else value, before, after)
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, most, repeated = value
        return _repeated(least, most, repeated, before, after)
    if name == "AT":
        return _Part(frozenset({"" if "NON" in str(value) else _EDGE}))
    if name in ("ASSERT", "ASSERT_NOT"):
        return _around(value[1], positive=name == "ASSERT")
    return _ANY


def _class(members: Sequence[_Item]) -> _Part:
    """Return the characters of a class; a blank for white space, since only the separation of words counts."""
    found: set[str] = set()
    for op, value in members:
        if str(op) == "LITERAL":
            found.add(chr(value))
        elif str(op) == "RANGE" and value[1] - value[0] < MOST // 8:
            found.update(map(chr, range(value[0], value[1] + 1)))
        elif str(value) in ("CATEGORY_SPACE", "CATEGORY_NOT_WORD") and str(op) == "CATEGORY":
            found.add(" ")
        else:
            return _ANY
    return _Part(frozenset(found))


def _repeated(least: int, most: Any, items: Sequence[_Item], before: str, after: str) -> _Part:
    once = most == 1
    part = _sequence(items, before if once else "", after if once else "")
    # A row of blanks separates words as one does.
    blank = part.exact is not None and all(string and not _RUN.search(string) for string in part.exact)
    if least == 0:
        return _Part(part.exact | _NOTHING) if (once or blank) and part.exact is not None else _ANY
    return part if once or blank else _Part(None, _words_of(part))


def _around(items: Sequence[_Item], *, positive: bool) -> _Part:
    """Return the words of a lookaround, or the edge of a word, if an expression looks for one of these."""
    if positive:
        return _Part(_NOTHING, _words_of(_sequence(items)))
    members: Sequence[Any] = items[0][1] if len(items) == 1 and str(items[0][0]) == "IN" else ()
    edge = any(str(value) == "CATEGORY_WORD" for _, value in members) and str(members[0][0]) != "NEGATE"
    return _Part(frozenset({_EDGE}) if edge else _NOTHING)


def _either(parts: Sequence[_Part]) -> _Part:
    words = [_words_of(part) for part in parts]
    exact = [part.exact for part in parts]
    together = _union(exact)
    return _Part(together if together is not None and len(together) <= MOST else None, _union(words))


def _union(sets: Sequence[frozenset[str] | None]) -> frozenset[str] | None:
    """Return the union of these sets, None if one of them is unknown."""
    known = [one for one in sets if one is not None]
    return frozenset().union(*known) if len(known) == len(sets) else None


def _words_of(part: _Part) -> frozenset[str] | None:
    """Return the better of the known words and those of the exact strings."""
    if part.exact is None:
        return part.words
    marks = [_mark(string) for string in part.exact]
    return _better(part.words, None if None in marks else frozenset(mark for mark in marks if mark))


def _mark(string: str) -> str | None:
    """Return the most selective word of a string, else a sign of it."""
    low = string.lower()
    if _EXOTIC.search(low):
        return None
    marks = []
    for run in _RUN.finditer(low):
        begins = run.start() > 0
        ends = run.end() < len(low)
        marks.append("^" * begins + run[0] + "$" * ends)
    signs = [sign for sign in low if not _RUN.match(sign) and sign not in " \n\b^$"]
    return min(marks or signs, key=_cost, default=None)


def _cost(mark: str) -> float:
    """Return the approximate share of texts that have a word."""
    bare = mark.strip("^$")
    if not _RUN.match(bare):
        return 1.0 if bare in _COMMON_SIGNS else _SIGN
    if bare in _COMMON:
        return 1.0
    cost = _COSTS[min(len(bare), len(_COSTS)) - 1]
    return cost * (1 if mark[0] == "^" else 3) * (1 if mark[-1] == "$" else 3)


def _better(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    if one is None or other is None:
        return one or other
    return min(one, other, key=lambda words: fsum(map(_cost, words)))  # in any order of a set
