"""Messages that mostly tell of the world: of works and their heroes, places, sports, how something is made or what is
good for everybody.

A person who talks of a film for six sentences says "he has to leave his brother" without meaning a brother. Nothing
is kept of such a message but what speaks of its writer. The signs are those of the classifier, in any language.
"""

from __future__ import annotations

from collections.abc import Sequence

from mnemic_language.sentences.tables import pattern

LONG = 25
"""Words of a message from which on it may be about something else than its writer."""
EXPOUNDS = 0.4
"""The mean probability of world talk of the sentences of a long message that tells of the world. Of 84 statements
without a word for their speaker that were wrongly kept of such messages between people, 79 were in messages from here
on, and one of 19 that were rightly kept of messages to an assistant, when this was chosen.
"""
CERTAIN = 0.7
"""The probability from which a statement without a word for its speaker must be worth keeping beyond doubt."""
NOTE = 7
"""Minimum number of words of a statement that may count as world talk without its context."""
_OF_SELF = pattern(
    r"\b(?:i|i'm|i've|i'd|i'll|im|ive|me|my|mine|we|we're|we've|us|our|ours|"
    r"ich|mir|mich|mein\w{0,2}|wir|uns|unser\w{0,2}|je|j'\w+|moi|mon|ma|mes|nous|notre|nos|"
    r"yo|mi|mis|mí|nosotr[oa]s|nuestr[oa]s?|tengo|soy|estoy|vivo|trabajo|tenemos|somos|"
    r"io|mio|mia|miei|mie|noi|nostr[oaie]|ho|sono|abbiamo|lavoro|siamo|"
    r"eu|meu|minha|meus|minhas|nós|noss[oa]s?|tenho|sou|estou|moro|trabalho|temos|ik|mijn|wij|ons|onze)\b"
)

_SINGLED_OUT = pattern(
    r"\b(?:key|main|important|only|one) (?:thing|point|bit|news|part|takeaway)\b[^:]{0,30}(?::| is\b)|"
    r"^\W{0,3}(?:important|bottom line|tl;?dr|in short|wichtig|important|importante|belangrijk)\W{0,2}:|"
    r"\b(?:das wichtigste|l'important|le principal|lo importante|l'importante|o importante|het belangrijkste)\b"
)
"""Words by which a message says which part of it matters."""


def is_about_the_world(text: str, probability: float) -> bool:
    """Return True if a statement is likely world talk, judged without its context. A short note ("Prod is 600 per
    minute") looks like world talk but is not.
    """
    return probability >= CERTAIN and len(text.split()) >= NOTE


def is_singled_out(text: str) -> bool:
    """Return True if a statement says of itself that it is what matters ("Key thing: they signed off")."""
    return _SINGLED_OUT.search(text) is not None


def speaks_of_self(text: str) -> bool:
    """Return True if a statement has a word for its speaker, alone or with others."""
    return _OF_SELF.search(text) is not None


def expounds(text: str, shares: Sequence[float]) -> bool:
    """Return True if a message tells of the world, by its length and the probability of each of its sentences."""
    return len(text.split()) >= LONG and sum(shares) >= EXPOUNDS * len(shares)
