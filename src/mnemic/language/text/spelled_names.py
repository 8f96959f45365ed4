"""Possible names in a text: every run of a few of its words, in the form used for names in keys."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from mnemic.language.text.analyse import UNSPACED
from mnemic.language.text.names import slug
from mnemic.language.text.pattern import Pattern

MAX_WORDS = 4
MAX_SIGNS = 8
MAX_RUNS = 256
"""Maximum number of runs of a text."""

_BETWEEN = r"\s'’‘.,&_/‐–\-"
_APART = r"?!;:()\[\]{}\"“”„«»¿¡…*<>|=~^%$@\\、。，？！「」『』（）：；"
_WORD = Pattern(rf"[{UNSPACED}]+|[^{UNSPACED}{_BETWEEN}{_APART}]+")
_ASCII_WORD = re.compile(rf"[^{_BETWEEN}{_APART}]+")
_JOINING = re.compile(rf"[{_BETWEEN}]+")
_UNSPACED = Pattern(rf"[{UNSPACED}]")
_GENITIVE = re.compile(r"\A[^\W\d_]{3,}s")
_SIMPLE = re.compile(r"[a-z0-9]+(?:[ '.&/-][a-z0-9]+)*")
_SEPARATOR = re.compile(r"[ '.&/-]")
_LONGEST_SIMPLE = 28


def spelled_names(text: str, *, common: Collection[str] = ()) -> list[str]:
    """Return the slugs (`mnemic.language.text.names.slug`) of all possible names in `text`, each once, in order.

    Names are one to four words, or two to eight signs in scripts that do not separate words. None begins or ends with
    one of the `common` words, unless it is capitalised ("Will"). The s of a genitive is also removed ("Anas Chef").
    """
    text = unicodedata.normalize("NFKC", text)
    words = list(islice((_ASCII_WORD if text.isascii() else _WORD).finditer(text), MAX_RUNS))
    runs = (run for first in range(len(words)) for run in _runs(text, words[first : first + MAX_WORDS], common))
    return list(dict.fromkeys(map(_slug, islice(runs, MAX_RUNS))))


def _runs(text: str, words: Sequence[re.Match[str]], common: Collection[str]) -> Iterator[str]:
    """Yield the runs that begin with the first of these words."""
    begin, first = words[0].start(), words[0].group()
    if not first.isascii() and _UNSPACED.match(first):
        yield from (first[at : at + length] for at in range(len(first)) for length in _lengths(len(first) - at))
        return
    if first in common:
        return
    before = begin
    for word in words:
        if word.start() > begin and not _JOINING.fullmatch(text, before, word.start()):
            return
        before, last = word.end(), word.group()
        if last not in common:
            yield text[begin:before]
        if _GENITIVE.fullmatch(last):
            yield text[begin : before - 1]


def _lengths(left: int) -> range:
    return range(2, min(left, MAX_SIGNS) + 1)


def _slug(run: str) -> str:
    """Return the result of `slug`, faster for plain text: a question has dozens of runs."""
    plain = run.lower()
    if len(plain) <= _LONGEST_SIMPLE and _SIMPLE.fullmatch(plain):
        return _SEPARATOR.sub("-", plain)
    return slug(run, "thing")
