"""Knowledge of the rules, as data: patterns, and the spelling of values.

`english` and `spanish` have typed facts with keys, `other_languages` plain statements of eight more languages, `values`
the spelling of values. A new language starts with a row in `other_languages`; its words for comparison
are in `mnemic.language.lexicon`, and those that distinguish it in `mnemic.language.text.language`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from mnemic.language.text.pattern import Pattern

_APOSTROPHES = str.maketrans({"’": "'", "‘": "'"})


def pattern(text: str, *, case: bool = False) -> Pattern:
    """Return a pattern in which a space matches any run of white space; case is ignored unless `case`."""
    return Pattern(text.replace(" ", r"\s{1,3}"), 0 if case else re.IGNORECASE)


def straight(text: str) -> str:
    """Return `text` with straight apostrophes, character for character, so that indexes stay the same."""
    return text.translate(_APOSTROPHES)


def tidy(value: str) -> str:
    """Return a value without its article, quotes and closing punctuation."""
    text = " ".join(value.split()).strip(" .,;:!?\"'“”()")
    return re.sub(r"^(?:an?|the|my|our|el|la|los|las|un|una) ", "", text, flags=re.IGNORECASE)


def lower(value: str) -> str:
    """Return a tidy value in lower case."""
    return tidy(value).lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Wording of a statement worth storing.

    `pattern` finds it in a clause; its group `v` is the value, which `spell` normalises (None rejects the match). With
    a `key` the value is stored under that key; without one the whole clause is stored under `category`. `many`: the key
    has several values, so the rule applies only if the policy accumulates them. `lasting`: only with a word that makes
    the statement valid from now on. `wish`: only in a clause that states a preference, and not in its negation.
    """

    pattern: Pattern
    category: str
    key: str | None = None
    confidence: float = 0.9
    spell: Callable[[str], str | None] = tidy
    many: bool = False
    lasting: bool = False
    wish: bool = False
