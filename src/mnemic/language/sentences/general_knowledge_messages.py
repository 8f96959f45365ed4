"""Messages that are mostly about the world: works and their heroes, places, sports, instructions and general advice.

A person who describes a film in six sentences writes "he has to leave his brother" without meaning a brother. Only
statements about its writer are stored from such a message. The signs are those of the classifier, in any language.
"""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.language.sentences.tables import pattern
from mnemic.language.text.pattern import Pattern

LONG = 25
"""Minimum number of words of a message that may be about something else than its writer."""
EXPOUNDS = 0.4
"""Minimum mean probability of world talk of the sentences of a long message about the world. When it was chosen, 79 of
84 statements without a word for their speaker that were wrongly stored from such messages between people were in
messages above it, and one of 19 that were rightly stored from messages to an assistant.
"""
CERTAIN = 0.7
"""Probability of world talk from which a statement without a word for its speaker must be clearly worth storing."""
NOTE = 7
"""Minimum number of words of a statement that may count as world talk without its context."""
_ALONE = (
    r"i|i'm|i've|i'd|i'll|im|ive|me|my|mine|ich|mir|mich|mein\w{0,2}|je|j'\w+|moi|mon|ma|mes|"
    r"yo|mi|mis|mí|tengo|soy|estoy|vivo|trabajo|io|mio|mia|miei|mie|ho|sono|lavoro|"
    r"eu|meu|minha|meus|minhas|tenho|sou|estou|moro|trabalho|ik|mijn"
)
_WITH_OTHERS = (
    r"we|we're|we've|us|our|ours|wir|uns|unser\w{0,2}|nous|notre|nos|nosotr[oa]s|nuestr[oa]s?|tenemos|somos|"
    r"noi|nostr[oaie]|abbiamo|siamo|nós|noss[oa]s?|temos|wij|ons|onze"
)
_OF_SELF_ALONE = pattern(rf"\b(?:{_ALONE})\b")
_OF_SELF = pattern(rf"\b(?:{_ALONE}|{_WITH_OTHERS})\b")

NAMED = Pattern(r"\d|(?<=[a-z,'] )[A-Z][a-z]")
"""Matches a number, or a name after the beginning of its sentence."""

_SINGLED_OUT = pattern(
    r"\b(?:key|main|important|only|one) (?:thing|point|bit|news|part|takeaway)\b[^:]{0,30}(?::| is\b)|"
    r"^\W{0,3}(?:important|bottom line|tl;?dr|in short|wichtig|important|importante|belangrijk)\W{0,2}:|"
    r"\b(?:das wichtigste|l'important|le principal|lo importante|l'importante|o importante|het belangrijkste)\b"
)
"""Words that mark the important part of a message."""


def is_about_the_world(text: str, probability: float) -> bool:
    """Return True if a statement is likely world talk, judged without its context. A short note ("Prod is 600 per
    minute") looks like world talk but is not.
    """
    return probability >= CERTAIN and len(text.split()) >= NOTE


def is_singled_out(text: str) -> bool:
    """Return True if a statement is marked as the important one ("Key thing: they signed off")."""
    return _SINGLED_OUT.search(text) is not None


def speaks_of_self(text: str) -> bool:
    """Return True if a statement has a word for its speaker, alone or with others."""
    return _OF_SELF.search(text) is not None


def speaks_of_self_alone(text: str) -> bool:
    """Return True if a statement has a word for its speaker and nobody else."""
    return _OF_SELF_ALONE.search(text) is not None


def expounds(text: str, shares: Sequence[float]) -> bool:
    """Return True if a message is about the world, by its length and the probability of each of its sentences."""
    return len(text.split()) >= LONG and sum(shares) >= EXPOUNDS * len(shares)
