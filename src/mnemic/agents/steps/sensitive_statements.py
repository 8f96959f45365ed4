"""Statements that people do not expect to be stored without being asked: about their health, and their identity papers.

Recognised by English words: an allergy or a food that a person will not eat is a preference here, not a diagnosis.
"""

from __future__ import annotations

from collections.abc import Collection

from mnemic.language.sentences.remember import asked_to_remember
from mnemic.language.text.pattern import Pattern

HEALTH, PAPERS = "health", "papers"
TOPICS = frozenset({HEALTH, PAPERS})

_HEALTH = Pattern(
    r"\b(?:diagnos(?:ed|is)|depress(?:ed|ion)|anxiety disorder|bipolar|schizophreni\w*|autis(?:m|tic)|adhd|ptsd"
    r"|diabet\w+|metformin|insulin|cancer|tumou?rs?|chemotherap\w+|hiv|aids|hepatitis|epilep\w+|asthma"
    r"|arthritis|multiple sclerosis|parkinson\w*|alzheimer\w*|dementia|stroke"
    r"|heart (?:attack|disease|condition)|blood pressure|pregnan\w+|miscarriage|abortion|ivf|surgery"
    r"|operated on|antidepressants?|prescri(?:bed|ption)s?|psychiatr\w+|psychotherap\w+|therapist|rehab"
    r"|alcoholi(?:c|sm)|addict(?:ed|ion)|disabilit(?:y|ies)|wheelchair|coeliac|celiac|crohn\w*"
    r"|blood (?:type|group)|chronic (?:pain|illness)|my (?:medication|medicine|doctor says|illness|condition))\b"
)
_PAPERS = Pattern(
    r"\b(?:passport|driv(?:ing|er'?s?) licen[cs]e|licen[cs]e plate|identity card|id card|national id"
    r"|social security|residence permit|visa|birth certificate|tax (?:id|number)|insurance (?:number|card)"
    r"|nhs)\b"
)
_NUMBER = Pattern(r"\d{5,}|\b(?=[a-z]*\d)[a-z0-9]{6,40}\b")
_BETWEEN_DIGITS = Pattern(r"(?<=\d)[ -](?=\d)")
_NUMBER_WORD = Pattern(r"\b(?:number|no\.|nr\.?|num)\b")


def special_topics(text: str) -> frozenset[str]:
    """Return the `TOPICS` of `text`. A paper counts if its number, or the fact that it is one, is stated."""
    said = text.casefold()
    found = {HEALTH} if _HEALTH.search(said) else set()
    if _PAPERS.search(said) and (_NUMBER.search(_BETWEEN_DIGITS.sub("", said)) or _NUMBER_WORD.search(said)):
        found.add(PAPERS)
    return frozenset(found)


def unexpected_topics(topics: Collection[str], quote: str | None) -> frozenset[str]:
    """Return those of the `topics` that users do not expect to be stored: not health, where the quoted words ask to
    remember it. The number of a paper is a key to more than the conversation, and stays.
    """
    asked = asked_to_remember(quote) if quote else None
    return frozenset(topics) - ({HEALTH} if asked is not None and asked[1] else frozenset())


def is_special(texts: Collection[str | None], topics: Collection[str]) -> bool:
    """Return True if one of the texts speaks of one of the topics."""
    return any(text and not special_topics(text).isdisjoint(topics) for text in texts)
