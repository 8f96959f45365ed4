"""Forms of the past in questions: "did", "wohnte", "habitais", and words for an earlier state."""

from __future__ import annotations

import re
from functools import lru_cache

from mnemic.language.text.pattern import Pattern

_WAS = Pattern(
    r"\b(?:did|were|had|used to|lived|worked|wohnte\w*|arbeitete\w*|lebte\w*|mochte\w*|trank\w*|aß\w*|fuhr\w*|hieß\w*"
    r"|warst|waren|hatte\w*|étais|était|étaient|avais|avait|\w{3,20}(?<!jam)(?<!franç)(?<!angl)(?<!port)ais(?=-| |\?)"
    r"|\w{1,20}(?:[^aeiou]aba|abas|ábamos|[^aeiou]ías?|íamos)(?<!todavía)(?<!policía)(?<!compañía)(?<!energía)"
    r"|tenías?|era|eras|viví|trabajé|fui|tuve|vivi|abitav[oai]|vivev[oai]|avev[oai]|lavorav[oai]|er[oi]|bevev[oai]"
    r"|mangiav[oai]|guidav[oai]|usav[oai]|preferiv[oai]|morava|vivia|tinha|trabalhava|bebia|comia|preferia|usava|conduzia"
    r"|dirigia|morei|trabalhei|woonde\w*|werkte\w*|leefde\w*|dronk\w*|gebruikte\w*|heette)\b"
    r"|\b(?:habe|hast|hat|haben|bin|heb|hebben|heeft|ben)\b.{1,60}?\b(?:ge\w{2,20}(?:t|en|d)|\w{3,20}iert)\b"
    r"|\b(?:ai-je|as-tu|a-t-(?:il|elle|on)|avons-nous|j'ai|tu as|on a) \w{2,20}(?:é|ée|i|u)\b"
    r"|\b(?:he|has|hemos|ho|hai|abbiamo) \w{2,20}(?:ado|ido|ato|uto|ito|sto|tto)\b",
    re.IGNORECASE,
)
_ENGLISH_WAS = Pattern(r"\bwas\b", re.IGNORECASE)
_GERMAN_WAR = Pattern(r"\bwar\b", re.IGNORECASE)
"""Past of "sein", and an English noun."""
_GERMAN = Pattern(
    r"\b(?:ich|du|wir|mein\w*|unser\w*|ist|sind|habe|hast|hat|trinke|esse|mag|heißt|für|nicht|der|das|den|weißt|soll|kann)\b",
    re.IGNORECASE,
)
"""Words of a German question, in which "was" means "what"."""
_BEFORE = Pattern(
    r"\b(?:before(?: that)?\W*$|before (?:now|i changed|the change)|previously|formerly|originally|used to|back then"
    r"|did (?:\w+ ){1,3}use to"
    r"|in the past|(?:my|our) (?:old|former|previous|ex)\b|früher|vorher|damals|zuvor|auparavant|autrefois|avant\W*$"
    r"|à l'époque|antes\W*$|anteriormente|antes de|prima\W*$|in passato|un tempo|antigamente|vroeger|voorheen"
    r"|eerder\W*$)",
    re.IGNORECASE,
)
_UNTIL = Pattern(r"\b(?:before|vor|bis|avant|antes de|prima di|antes|voor)\s+(?:\w+\s+){0,2}(?:\w+)", re.IGNORECASE)


@lru_cache(maxsize=64)
def tells_past(text: str) -> bool:
    """Return True if a verb of a question is in the past; cached, as a search calls it several times."""
    form = _GERMAN_WAR if _GERMAN.search(text) else _ENGLISH_WAS
    return bool(_WAS.search(text) or form.search(text))


@lru_cache(maxsize=64)
def asks_before(text: str) -> bool:
    """Return True if a question is about an earlier state."""
    return _BEFORE.search(text) is not None


def ends_before(text: str) -> bool:
    """Return True if a question is about the time before a date or an event."""
    return _UNTIL.search(text) is not None
