"""Content words of a text, each with its form for comparison and its value class."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from mnemic.language.frames.word_lists import (
    BEFORE_AMOUNTS,
    BEFORE_NAMES,
    EMPTY_WORDS,
    NEGATIONS,
    NUMBER_WORDS,
    VALUE_CLASSES,
)
from mnemic.language.text.analyse import analyse

_FULL_FORM = {"can't": "can", "won't": "will", "shan't": "will", "ain't": "is"}
_CLITICS = frozenset("s m re ve d ll".split())
_CLASS = {"label": "number", "person": "name"}
_TELLING = BEFORE_AMOUNTS | BEFORE_NAMES
"""Words that determine the class of the word after them."""
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_INFLECTION = re.compile(r"(?:ies|es|s|ing|e|y)$")
_BETWEEN, _ENDS = " \"'(", ".!?:\n"


class Word(NamedTuple):
    """Content word.

    `form` is the word without its plural, third person or -ing, so that unlike the `stem` it distinguishes tenses.
    `value` is its value class (`number`, `name`, `weekday`, ...) or None.
    """

    stem: str
    form: str
    value: str | None

    def says(self, other: Word) -> bool:
        """Return True if both are the same word, in inflections of the same meaning."""
        return (self.stem, self.form) == (other.stem, other.form)


def value_class(word: Word) -> str:
    """Return the exclusive value class of a word; empty for a word without one."""
    return _CLASS.get(word.value or "", word.value or "")


@lru_cache(maxsize=8192)
def parts_of(token: str) -> tuple[str, ...]:
    """Return a token without its clitics: "doesn't" is "does not", "user's" is "user"."""
    low = token.casefold()
    if "'" not in token:
        return ("can", "not") if low == "cannot" else (token,)
    if low == "n't":
        return ("not",)
    if low.endswith("n't"):
        return _FULL_FORM.get(low, token[:-3]), "not"
    return (token.split("'", maxsplit=1)[0],) if low.rpartition("'")[2] in _CLITICS else (token,)


def words_of(token: str, before: str = "", *, initial: bool = True) -> tuple[Word, ...]:
    """Return the content words of one token that follows `before`: none if it has no content. A capital marks a name,
    unless the token is `initial`.
    """
    return _words_behind(token, before if before in _TELLING else "", initial)


@lru_cache(maxsize=16384)
def _words_behind(token: str, before: str, initial: bool) -> tuple[Word, ...]:
    if token[0] == "[":
        return (Word(token, token, token.split("#", maxsplit=1)[0]),)
    low = token.casefold()
    number = _THOUSANDS.sub("", token) if token[0].isdigit() else NUMBER_WORDS.get(low)
    if number is not None:
        return (Word(number, number, "number" if before in BEFORE_AMOUNTS else "label"),)
    if low in EMPTY_WORDS:
        return ()
    named = None
    if not initial and token[0].isupper():
        named = "month" if low == "may" else "name" if before in BEFORE_NAMES else "person"
    return _words(low, named)


@lru_cache(maxsize=8192)
def _words(low: str, named: str | None) -> tuple[Word, ...]:
    return tuple(_word(stem, low, named) for stem in analyse(low).sequence)


def _word(stem: str, low: str, named: str | None) -> Word:
    return Word(stem, _INFLECTION.sub("", low), VALUE_CLASSES.get(stem, named))


@lru_cache(maxsize=16384)
def glance(token: str) -> tuple[tuple[str, ...], int]:
    """Return the stems of a token's content words, and the number of its negations, independent of the adjacent words,
    except that "one" does not count after "no".
    """
    parts = parts_of(token)
    said = [part for part in parts if part.casefold() not in NEGATIONS]
    return tuple(word.stem for part in said for word in words_of(part)), len(parts) - len(said)


def starts_sentence(text: str, at: int) -> bool:
    """Return True if a sentence begins at index `at` of `text`."""
    while at and text[at - 1] in _BETWEEN:
        at -= 1
    return not at or text[at - 1] in _ENDS
