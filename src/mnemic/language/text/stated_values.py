"""Values that a text states: numbers, times (days and months) and names, in seven languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from mnemic.language.text.language import language_of
from mnemic.language.text.normalise import plain
from mnemic.language.text.time_words import DAYS, MONTH_NUMBERS, MONTHS, NUMBERS

Sort = Literal["number", "time", "name"]

_TOKEN = re.compile(r"\d+(?:[.,:/]\d+)*|[^\W\d_]+(?:['’-][^\W\d_]+)*")
_STARTS = re.compile(r"(?:\A|[.!?…:\n])[\W_]*\Z")
_ARTICLES = frozenset("ein eine einen einem einer un une uno una um uma een one".split())
"""Words for one, which are mostly articles."""
_SPEAKER = frozenset("i i'm i've i'd i'll im ive ok lol omg tv pc".split())
_TOLD_BEFORE = re.compile(
    r"(?i)(?:\b(?:in|since|until|till|by|from|of|early|late|mid|next|last|this|before|after)|\d(?:st|nd|rd|th)?)\W*\Z"
)
_AMBIGUOUS = frozenset({"may", "march", "mars", "mai", "mei"})
"""Months that are other words, too: they count after a preposition or a number."""
LONGEST_ACRONYM = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedValue:
    """A value in a text: its `sort`, its normal form (a time in English, a number in digits) and its place."""

    sort: Sort
    normal: str
    start: int
    end: int


@lru_cache(maxsize=512)
def values_in(text: str) -> tuple[StatedValue, ...]:
    """Return the values in `text`, in order. Names are capitalised words within a sentence, which German nouns are,
    too: none is read in German.
    """
    return tuple(_values(text))


def _values(text: str) -> Iterator[StatedValue]:
    german = language_of(text) == "german"
    for token in _TOKEN.finditer(text):
        found = _value(token, text, german=german)
        if found is not None:
            yield StatedValue(sort=found[0], normal=found[1], start=token.start(), end=token.end())


def _value(token: re.Match[str], text: str, *, german: bool) -> tuple[Sort, str] | None:
    word = plain(token[0])
    if word[0].isdigit():
        return "number", word.lstrip("0") or "0"
    if word in _numbers() and word not in _ARTICLES:
        return "number", _numbers()[word]
    if word in _times() and (word not in _AMBIGUOUS or _TOLD_BEFORE.search(text, 0, token.start())):
        return "time", _times()[word]
    if german or word in _SPEAKER or not _is_capital(token[0]) or _STARTS.search(text[: token.start()]):
        return None
    return "name", word.removesuffix("'s")


def _is_capital(word: str) -> bool:
    shouted = word.isupper() and len(word) > LONGEST_ACRONYM
    return word[0].isupper() and not shouted


@lru_cache(maxsize=1)
def _numbers() -> dict[str, str]:
    """Return the digits of each number in words."""
    digits = {name: str(value) for value, name in enumerate(_UP_TO_TWENTY)}
    spoken = {plain(word): digits.get(name, name) for name, words in NUMBERS.items() for word in words.split()}
    return {word: number for word, number in (digits | spoken).items() if number.isdigit()}


_UP_TO_TWENTY = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()


@lru_cache(maxsize=1)
def _times() -> dict[str, str]:
    """Return the English name of each day and month, also for its plural ("Mondays")."""
    months = {plain(name): MONTHS[number] for name, number in MONTH_NUMBERS.items()}
    days = {plain(word): day for day, words in DAYS.items() for word in (day, f"{day}s", *words.split())}
    return {name: name for name in MONTHS if name} | months | days
