"""How a detector is made: searches over the folded text, each linear in its length."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from mnemic.text.pattern import Pattern
from mnemic.types import Found

Search = Callable[[str], Iterable[Found]]


@dataclass(frozen=True, slots=True)
class Finder:
    """A detector made of functions."""

    entity: str
    searches: tuple[Search, ...]

    def find(self, text: str) -> Iterable[Found]:
        """What any of the searches finds."""
        for search in self.searches:
            yield from search(text)


def pattern(
    expression: str,
    *,
    needs: tuple[str, ...] = (),
    accept: Callable[[re.Match[str]], bool] | None = None,
    group: int = 0,
) -> Callable[[str], Iterator[Found]]:
    """A search by one expression. `needs`: lower-case texts of which every match holds one; looking for them first is
    what keeps a long text without them cheap.
    """
    compiled = Pattern(expression)

    def search(text: str) -> Iterator[Found]:
        if needs and not holds(text, needs):
            return
        for match in compiled.finditer(text):
            if accept is None or accept(match):
                yield Found(match.start(group), match.end(group), match.group(group))

    return search


def holds(text: str, words: tuple[str, ...]) -> bool:
    """Whether one of `words`, which are in lower case, is anywhere in `text`."""
    lower = _lower(text)
    for word in words:  # noqa: SIM110 - a generator would cost more than the search
        if word in lower:
            return True
    return False


@lru_cache(maxsize=1)
def _lower(text: str) -> str:
    # All searches look at one text after the other.
    return text.lower()


_NUMBERED = Pattern(r"\d(?:[ ().\-/]{0,3}\d){6}")


def numbered(searches: Iterable[Search]) -> Search:
    """The searches, in texts that hold a number of seven digits at all."""

    def search(text: str) -> Iterator[Found]:
        if _NUMBERED.search(text):
            for one in searches:
                yield from one(text)

    return search


def spelled(spell: Callable[[str], str], *searches: Search) -> tuple[Search, ...]:
    """The searches, with what they find spelled so that the same thing is always the same value."""

    def respelled(search: Search) -> Search:
        return lambda text: (Found(start, end, spell(value)) for start, end, value in search(text))

    return tuple(respelled(search) for search in searches)


def digits(value: str) -> str:
    """The digits of `value` and nothing else."""
    return value if value.isdigit() else "".join(filter(str.isdigit, value))
