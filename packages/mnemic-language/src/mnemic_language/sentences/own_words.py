"""Words for the speaker, alone or with others, in seven languages."""

from __future__ import annotations

from mnemic_language.sentences.tables import pattern

_OF_SELF = pattern(
    r"\b(?:i|i'm|i've|i'd|i'll|im|ive|me|my|mine|we|we're|we've|us|our|ours|"
    r"ich|mir|mich|mein\w{0,2}|wir|uns|unser\w{0,2}|je|j'\w+|moi|mon|ma|mes|nous|notre|nos|"
    r"yo|mi|mis|mí|nosotr[oa]s|nuestr[oa]s?|tengo|soy|estoy|vivo|trabajo|tenemos|somos|"
    r"io|mio|mia|miei|mie|noi|nostr[oaie]|ho|sono|abbiamo|lavoro|siamo|"
    r"eu|meu|minha|meus|minhas|nós|noss[oa]s?|tenho|sou|estou|moro|trabalho|temos|ik|mijn|wij|ons|onze)\b"
)


def speaks_of_self(text: str) -> bool:
    """Return True if a statement has a word for its speaker, alone or with others."""
    return _OF_SELF.search(text) is not None
