"""Conversion of text to search terms: the units that two texts must share to match.

Words are those of Unicode Standard Annex 29, case-folded, without diacritics, stemmed as English (Snowball); queries
also get the stems of the text's own language. `snake_case` is split; `CamelCase` and dotted names match as a whole and
in parts. Runs of scripts that do not separate words (Chinese, Japanese, Thai, Lao, Khmer, Myanmar) or build them from
many parts (Korean) become overlapping pairs.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import Stemmer
from apsw.unicode import word_iter

from mnemic.language.text.language import UNSPACED, stems_of

_SCRIPTS = f"((?:([{UNSPACED}])[{UNSPACED}]*)|[^{UNSPACED}]+)"
_HAN = "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
_PICTOGRAPH = re.compile("[\u2600-\u27bf\U0001f000-\U0001faff]")
_NAMED_BY_SIGNS = re.compile(r"(?<![^\W_])[A-Za-z](?:\+\+|#)(?![\w+#])")
_HUMPS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_]+|\d+")
_HUMPED = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_QUOTED = re.compile(r"\"([^\"]*)\"|“([^“”]*)”")
_ENGLISH = re.compile(r"\b(?:the|and|my|i|you|of)\b", re.IGNORECASE)
"""Words that mark an ASCII text as English without a further check."""
_LONGEST_TERM = 64

_local = threading.local()


class Analysis(NamedTuple):
    """The terms of a text: `sequence` in the order of its words, `extras` further spellings that also match it."""

    sequence: list[str]
    extras: list[str]


class Query(NamedTuple):
    """Terms of a keyword query: `terms`, each once, and `phrases`: terms that must be adjacent."""

    terms: list[str]
    phrases: list[tuple[str, ...]]


def terms(text: str) -> list[str]:
    """Return the search terms of `text`, with repetitions; never empty for text that is not blank."""
    sequence, extras = analyse(text)
    return sequence + extras


def analyse(text: str, *, stems: bool = False) -> Analysis:
    """Return the terms of `text`, those with a position separate from those without. `stems` adds the stems of the
    text's language as further spellings if it is not English; texts stored before this option existed match by the
    other terms.
    """
    if text.isascii() and text.isalpha():  # one word, as in the thousands in the word lists, read at every start
        found = _word(text)
        return Analysis([*found.sequence], [*found.extras])
    sequence: list[str] = []
    plain = text.isascii()
    if not plain:  # composed first: a separate accent does not end a word
        text = unicodedata.normalize("NFKC", text).replace("’", "'")
    extras = [name.lower() for name in _NAMED_BY_SIGNS.findall(text)]
    if not plain:
        extras += _PICTOGRAPH.findall(text)
    for run, unspaced in [(text, False)] if plain or max(text) < UNSPACED[0] else _runs(text):
        if unspaced:
            sequence += _pairs(run)
            extras += _compile_expression(_HAN).findall(run) if len(run) > 1 else []
        else:
            for word in word_iter(run):
                found = _word(word)
                sequence += found.sequence
                extras += found.extras
    if stems and text and not (text.isascii() and _ENGLISH.search(text)):
        extras += stems_of(text, known={*sequence, *extras})
    if not sequence and not extras:
        sequence = [chunk[:_LONGEST_TERM] for chunk in text.casefold().split()]
    return Analysis(sequence, extras)


def parse_query(query: str) -> Query:
    """Return the terms of a query, and its phrases in double quotes; it has no other syntax."""
    quoted = dict.fromkeys(first or second for first, second in _QUOTED.findall(query))
    phrases = [tuple(analyse(phrase).sequence) for phrase in quoted if phrase]
    once = " ".join(dict.fromkeys(query.split()))
    sequence, extras = analyse(once, stems=True)
    return Query(list(dict.fromkeys([*sequence, *extras])), [phrase for phrase in phrases if phrase])


def _runs(text: str) -> list[tuple[str, str]]:
    """Return the runs of one sort of script, and their first letter if it is of a script without separate words."""
    return _compile_expression(_SCRIPTS).findall(text)


@lru_cache(maxsize=2)
def _compile_expression(expression: str) -> re.Pattern[str]:
    """Return the expression; a program that never meets such letters does not wait for it."""
    return re.compile(expression)


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for first, second in pairwise(run):
        yield first + second


@lru_cache(maxsize=8192)
def _word(word: str) -> Analysis:
    """Return the terms of one word: its parts if it is snake_case, itself and its parts if CamelCase or dotted."""
    sequence: list[str] = []
    extras: list[str] = []
    for part in filter(None, word.split("_")):
        sequence.append(_term(part))
        pieces = _HUMPS.findall(part) if _HUMPED.search(part) else part.split(".")
        if len(pieces) > 1:
            extras += [_term(piece) for piece in pieces if piece and not piece.isdigit()]
    return Analysis(sequence, extras)


def _term(word: str) -> str:
    folded = word.casefold()
    if not folded.isascii():
        folded = "".join(c for c in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(c)).casefold()
    if folded.isascii():
        # A stemmer must not be shared between threads.
        stemmer = getattr(_local, "stemmer", None)
        if stemmer is None:
            stemmer = _local.stemmer = Stemmer.Stemmer("english", 0)
        folded = stemmer.stemWord(folded)
    return folded[:_LONGEST_TERM]
