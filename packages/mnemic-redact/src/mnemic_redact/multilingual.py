"""Words of many languages as one expression, and what a text must hold for any of them to be in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from mnemic_redact.search import holds

_CLASS = re.compile(r"\A\[([^\]\\]+)\]")
_PIECE = re.compile(r"\A(?:\[[^\]\\]+\]|[^\\(\[{?*+|.])")
_MAYBE = frozenset("?*{")


class Spoken:
    """Expressions in lower case, separated by whitespace, `~` for a blank, each beginning with a letter or a class of
    letters. Those of `joined` stand anywhere, the others begin where a word begins.

    `expression` is that for any of them; it looks at the first letter before anything else. `stems`: what is behind
    them may be more letters.
    """

    def __init__(self, *words: str, joined: str = "", stems: bool = False) -> None:
        apart, within = _listed(" ".join(words)), _listed(joined)
        either = [headed(apart) + ("" if stems else r"(?![^\W\d_])"), *([headed(within, start="")] if within else [])]
        self.expression = f"(?:{'|'.join(either)})"
        self._words = (*apart, *within)

    @cached_property
    def _signs(self) -> list[str]:
        return _fewest(literal for word in self._words for literal in _literals(word))

    @cached_property
    def _plain(self) -> tuple[str, ...]:
        return tuple(filter(str.isascii, self._signs))

    @cached_property
    def _others(self) -> tuple[str, ...]:
        return tuple(sign for sign in self._signs if not sign.isascii())

    def may_be_in(self, text: str) -> bool:
        """Return True if `text` contains what any of the words has; true for every text that one of them is in."""
        return holds(text, self._plain) or (not text.isascii() and holds(text, self._others))


def _listed(words: str) -> list[str]:
    return [word.replace("~", " ") for word in words.split()]


def headed(words: Iterable[str], *, start: str = r"(?<![^\W_].)") -> str:
    """Return an expression for any of `words` that tests the first letter before anything else. `start` is a lookbehind
    tested after that letter; by default no letter or digit may precede it.
    """
    tails: dict[str, list[str]] = {}
    for word in words:
        first = _CLASS.match(word)
        for head in first.group(1) if first else word[0]:
            tails.setdefault(head, []).append(word[first.end() if first else 1 :])
    behind = "|".join(f"(?<={head})(?:{'|'.join(tail)})" for head, tail in tails.items())
    return rf"[{''.join(tails)}]{start}(?:{behind})"


def _literals(word: str) -> list[str]:
    """Return the beginning of `word`, as far as that is letters and classes of letters, for each choice of these."""
    begun = [""]
    rest = word
    while match := _PIECE.match(rest):
        rest = rest[match.end() :]
        if rest[:1] in _MAYBE:
            break
        begun = [one + letter for one in begun for letter in match.group().strip("[]")]
    return begun


def _fewest(literals: Iterable[str]) -> list[str]:
    """Those that hold no other one of them."""
    kept: list[str] = []
    for literal in sorted(set(literals), key=len):
        if not any(short in literal for short in kept):
            kept.append(literal)
    return kept
