"""Building blocks of a detector: searches over the folded text, each linear in its length.

In a mask each character is replaced by its class. Looking for "three digits, a separator, four digits" there is a
search for the bytes `000 0000`, which takes some microseconds for 8 KiB; the expression that finds the number itself
takes a hundred times as long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import cast

from mnemic.redact.lazy_pattern import Pattern
from mnemic.redact.types import PLACEHOLDER, Found

_HEX = bytes(ord("f") if chr(code) in "0123456789abcdefABCDEF" else code for code in range(256))


def _class(code: int) -> int:
    character = chr(code)
    if character in "0123456789":
        return ord("0")
    if character in " .-":
        return ord(" ")
    return ord("a") if character.isascii() and character.isalpha() else code


_CLASSES = bytes(map(_class, range(256)))


@lru_cache(maxsize=1)
def character_mask(text: str) -> bytes:
    """`text` with `0` for each digit, `a` for each letter of ASCII, a blank for each blank, full stop and hyphen; the
    other signs unchanged, and `?` for characters outside Latin-1.
    """
    return text.encode("latin-1", "replace").translate(_CLASSES)


@lru_cache(maxsize=1)
def hexadecimal(text: str) -> bytes:
    """Return the text with `f` for each hexadecimal digit, and everything else unchanged."""
    return text.encode("latin-1", "replace").translate(_HEX)


def drawn(*shapes: bytes, of: Callable[[str], bytes] = character_mask) -> Callable[[str], bool]:
    """Return a check whether one of `shapes` is anywhere in the mask of a text."""

    def check(text: str) -> bool:
        lines = of(text)
        for shape in shapes:  # noqa: SIM110 - a generator would cost more than the search
            if shape in lines:
                return True
        return False

    return check


Search = Callable[[str], Iterable[Found]]


@dataclass(frozen=True, slots=True)
class Finder:
    """A detector made of functions."""

    entity: str
    searches: tuple[Search, ...]

    def find(self, text: str) -> Iterable[Found]:
        """Yield the finds of all searches."""
        for search in self.searches:
            yield from search(text)


_SIGN = re.compile(r"\\.|\[\^?|.", re.DOTALL)


def for_folded(expression: str) -> str:
    r"""Return the expression for texts whose digits are all ASCII: comparing with `[0-9]` takes half as long as
    Unicode's `\d`. A bracket inside a class must be escaped.
    """
    signs = []
    inside = False
    for sign in _SIGN.findall(expression):
        if sign == r"\d":
            signs.append("0-9" if inside else "[0-9]")
            continue
        inside = sign[0] == "[" or (inside and sign != "]")
        signs.append(sign)
    return "".join(signs)


class Folded(Pattern):
    """An expression for texts as detectors read them (`mnemic.redact.normalised_text.fold`)."""

    def __init__(self, text: str, flags: int = 0) -> None:
        super().__init__(for_folded(text), flags)


class AnyCase:
    """A case-insensitive expression for words, itself in lower case.

    If lower-casing a text leaves every character in its place, it is compared with the lower-cased text, letter by
    letter, in a third of the time of a case-insensitive comparison.
    """

    def __init__(self, expression: str) -> None:
        self._expression = expression

    @cached_property
    def _small(self) -> Folded:
        return Folded(self._expression)

    @cached_property
    def _any(self) -> Folded:
        return Folded(f"(?i){self._expression}")

    def on(self, text: str) -> tuple[re.Pattern[str], str]:
        """Return the expression to search with, and the text to search in; places are those of `text`."""
        return (self._small.compiled, lower_text(text)) if _plain(text) else (self._any.compiled, text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Every match, in order; places are those of `text`."""
        expression, where = self.on(text)
        return expression.finditer(where)


def pattern(
    expression: str | AnyCase,
    *,
    needs: tuple[str, ...] | Callable[[str], bool] = (),
    fits: Callable[[str], bool] | None = None,
    accept: Callable[[re.Match[str]], bool] | None = None,
    spell: Callable[[str], str] = str,
    group: int = 0,
) -> Search:
    """Return a search with one expression. `needs`: lower-case texts of which every match contains one (or a function):
    checking them first keeps long texts without them cheap. `fits` decides by the match's text alone, `accept` by the
    whole match. `spell` normalises spellings, so that the same thing always has the same value.
    """
    compiled = Folded(expression) if isinstance(expression, str) else expression

    def search(text: str) -> Iterator[Found]:
        if needs and not (needs(text) if callable(needs) else holds(text, needs)):
            return
        spellings: dict[str, str | None] = {}
        for match in compiled.finditer(text):
            start, end = match.span(group)
            value = text[start:end]
            try:
                spelling = spellings[value]
            except KeyError:
                spelling = spellings[value] = spell(value) if fits is None or fits(value) else None
            if spelling is not None and (accept is None or accept(match)):
                yield found((start, end, spelling))

    return search


found = partial(cast("Callable[[type[Found], tuple[int, int, str]], Found]", tuple.__new__), Found)
"""A find of its three fields; a text may have a thousand, and this takes a third of the time."""


def holds(text: str, words: tuple[str, ...]) -> bool:
    """Return True if one of `words`, which are in lower case, is anywhere in `text`."""
    lower = lower_text(text)
    for word in words:  # noqa: SIM110 - a generator would cost more than the search
        if word in lower:
            return True
    return False


_LETTER = Pattern("[a-z]")


def holds_signed(text: str, signed: Mapping[str, tuple[str, ...]]) -> bool:
    """Do the same for words by a sign that each of them contains ("" for those without): if the text lacks the sign,
    its words are not searched.
    """
    return _LETTER.search(lower_text(text)) is not None and any(
        sign in text and holds(text, words) for sign, words in signed.items()
    )


@lru_cache(maxsize=2)
def _plain(text: str) -> bool:
    return text.isascii() or text.replace(PLACEHOLDER, "").isascii()


@lru_cache(maxsize=2)
def lower_text(text: str) -> str:
    """Return `text` in lower case, computed once for all searches of one text."""
    # All searches of one text, and of a part of it between them, run before the next text.
    return text.lower()


_NUMBERED = Folded(r"\d(?<!\d\d)(?:[ ().\-/]{0,3}\d){6}")


@lru_cache(maxsize=2)
def is_numbered(text: str) -> bool:
    """Return True if a number of seven digits, in any grouping, is anywhere in `text`."""
    return _NUMBERED.search(text) is not None


def require_long_number(searches: Iterable[Search]) -> Search:
    """Return the searches, restricted to texts that contain a number of seven digits."""

    def search(text: str) -> Iterator[Found]:
        if is_numbered(text):
            for one in searches:
                yield from one(text)

    return search


_NO_DIGITS = {code: None for code in range(128) if not chr(code).isdigit()}


def digits(value: str) -> str:
    """Return the digits of `value` and nothing else."""
    return value.translate(_NO_DIGITS) if value.isascii() else "".join(filter(str.isdigit, value))
