"""Words of many languages as one regular expression, and substrings by which a text without any of them is skipped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from mnemic.redact.search_primitives import holds

_CLASS = re.compile(r"\A\[([^\]\\]+)\]")
_PIECE = re.compile(r"\A(?:\[[^\]\\]+\]|[^\\(\[{?*+|.])")
_MAYBE = frozenset("?*{")


class Spoken:
    """Expressions in lower case, separated by whitespace, with `~` for a blank; each begins with a letter or a class of
    letters. Those of `joined` match anywhere, the others at the beginning of a word.

    `expression` matches any of them and tests the first letter first. With `stems`, further letters may follow.
    """

    def __init__(self, *words: str, joined: str = "", stems: bool = False) -> None:
        apart, within = _split_list(" ".join(words)), _split_list(joined)
        either = [
            expression_of_words(apart) + ("" if stems else r"(?![^\W\d_])"),
            *([expression_of_words(within, start="")] if within else []),
        ]
        self.expression = f"(?:{'|'.join(either)})"
        self._words = (*apart, *within)

    @cached_property
    def _signs(self) -> list[str]:
        return fewest(literal for word in self._words for literal in _literals(word))

    @cached_property
    def _plain(self) -> tuple[str, ...]:
        return tuple(filter(str.isascii, self._signs))

    @cached_property
    def _others(self) -> tuple[str, ...]:
        return tuple(sign for sign in self._signs if not sign.isascii())

    def may_be_in(self, text: str) -> bool:
        """Return True if `text` contains a substring of one of the words. There are false positives, but no false
        negatives.
        """
        return holds(text, self._plain) or (not text.isascii() and holds(text, self._others))


def _split_list(words: str) -> list[str]:
    return [word.replace("~", " ") for word in words.split()]


def expression_of_words(words: Iterable[str], *, start: str = r"(?<![^\W_].)") -> str:
    """Return an expression for any of `words` that tests the first letter before anything else. `start` is a lookbehind
    tested after that letter; by default no letter or digit may precede it.
    """
    tails: dict[str, list[str]] = {}
    for word in words:
        first = _CLASS.match(word)
        for head in first.group(1) if first else word[0]:
            tails.setdefault(head, []).append(word[first.end() if first else 1 :])
    # A leading character class lets the engine skip to candidates with one table look-up per character. An alternation
    # of words would try each word at each character.
    behind = "|".join(f"(?<={head})(?:{'|'.join(tail)})" for head, tail in tails.items())
    return rf"[{''.join(tails)}]{start}(?:{behind})"


def _literals(word: str) -> list[str]:
    """Return the literal prefixes of `word`: its leading letters and classes of letters, one prefix for each choice of
    these.
    """
    begun = [""]
    rest = word
    while match := _PIECE.match(rest):
        rest = rest[match.end() :]
        if rest[:1] in _MAYBE:
            break
        # A letter that may be missing ends the prefix, because a text may contain the word without it.
        begun = [one + letter for one in begun for letter in match.group().strip("[]")]
    return begun


def fewest(literals: Iterable[str]) -> list[str]:
    """Return the literals that contain no other one of them."""
    kept: list[str] = []
    for literal in sorted(set(literals), key=len):
        if not any(short in literal for short in kept):
            kept.append(literal)
    return kept
