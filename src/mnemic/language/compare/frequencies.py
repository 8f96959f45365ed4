"""Frequencies: if two statements differ only in their frequency, the later one replaces the earlier.

"I rarely go out", "I often go out now". The words are of seven languages, each with its degree, from never (0) to
always.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from mnemic.language.frames.statement_frame import Frame
from mnemic.language.text.pattern import WordPattern

_NEVER = "never|nie|niemals|jamais|nunca|jamas|non (?P<never>[^.]{0,30}?) ?mai|nooit"
_NEARLY_NEVER = (
    "rarely|seldom|hardly ever|scarcely ever|barely ever|almost never|selten|fast nie|so gut wie nie|rarement"
    "|presque jamais|rara vez|raras vezes|raramente|casi nunca|quasi mai|quase nunca|zelden|bijna nooit"
)
_SOMETIMES = (
    "sometimes|occasionally|now and then|once in a while|from time to time|manchmal|ab und zu|gelegentlich|parfois"
    "|quelquefois|de temps en temps|a veces|de vez en cuando|a volte|qualche volta|ogni tanto|as vezes"
    "|de vez em quando|soms|af en toe"
)
_OFTEN = (
    "often|frequently|oft|haufig|souvent|frequemment|a menudo|con frecuencia|muchas veces|spesso|muitas vezes"
    "|frequentemente|vaak"
)
_AS_A_RULE = (
    "usually|normally|most of the time|almost always|meistens|meist|normalerweise|fast immer|d'habitude"
    "|habituellement|presque toujours|normalmente|por lo general|casi siempre|di solito|quasi sempre|geralmente"
    "|quase sempre|meestal|bijna altijd"
)
_ALWAYS = "always|immer|stets|toujours|siempre|sempre|altijd"
_WORDS = (_NEVER, _NEARLY_NEVER, _SOMETIMES, _OFTEN, _AS_A_RULE, _ALWAYS)
_NOW = frozenset("now jetzt maintenant ahora adesso agora nu".split())
_DEGREES = tuple(re.compile(rf"\b(?:{words})\b") for words in _WORDS)
_ANY = WordPattern("|".join(f"(?:{one.pattern.replace('?P<never>', '')})" for one in _DEGREES))
_NE = re.compile(r"\b(?:ne |n')")
_NEARLY = re.compile(r"\b(?:hardly|scarcely|barely|almost|fast|so gut wie|presque|casi|quasi|quase|bijna) ")
"""Words that change the degree of the following word."""


class Frequency(NamedTuple):
    """Degree of a frequency, and the statement without it."""

    degree: int
    rest: str


@lru_cache(maxsize=1024)
def frequency_of(text: str) -> Frequency | None:
    """Return the frequency of a statement (in lower case, without accents); None if it has none, or several."""
    if _ANY.search(text) is None:
        return None
    found = [
        (degree, one)
        for degree, words in enumerate(_DEGREES)
        for one in words.finditer(text)
        if not _NEARLY.search(text[: one.start()][-12:])
    ]
    if len(found) != 1:
        return None
    degree, one = found[0]
    between = (one.groupdict().get("never") or "") if degree == 0 else ""
    return Frequency(degree, _NE.sub(" ", f"{text[: one.start()]} {between} {text[one.end() :]}"))


def tells_frequency(new: Frame) -> bool:
    """Return True if a statement gives a frequency."""
    return frequency_of(new.plain) is not None


def another_frequency(old: Frame, new: Frame) -> bool:
    """Return True if the two differ only in their frequency."""
    now = frequency_of(new.plain)  # computed first: it is the same for all earlier statements
    before = frequency_of(old.plain) if now is not None else None
    if before is None or now is None or before.degree == now.degree:
        return False
    if old.subject != new.subject or "past" in old.cues | new.cues or old.numbers != new.numbers:
        return False
    mine, theirs = Frame(before.rest), Frame(now.rest)
    return mine.negated == theirs.negated and _content(mine) == _content(theirs)


def _content(frame: Frame) -> frozenset[str]:
    """Return the stems of a statement, or its words if it has no content words ("I go out")."""
    return frame.stems or frozenset(frame.tokens) - _NOW
