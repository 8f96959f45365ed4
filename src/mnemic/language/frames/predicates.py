"""Predicates of a list: "I'm allergic to nuts and milk" applies "allergic to" to each item."""

from __future__ import annotations

import re

from mnemic.language.frames.vocabulary import plain

_PREPOSITIONS = (
    r"(?:in|at|on|to|for|from|by|near|into|of|an|am|auf|bei|beim|für|gegen|zu|zum|zur|nach|von|aus|um|à|au|aux|chez|dans"
    r"|en|de|du|pour|sur|a|al|alla|alle|allo|agli|ai|para|por|del|da|dal|di|nel|nella|per|su|em|no|na|ao|op|naar|van"
    r"|voor|bij|te)"
)
PREPOSITION = re.compile(rf"(?i){_PREPOSITIONS}\s+")
_PREDICATE = re.compile(rf"(?i)\s{{0,3}}(?P<what>[^\W\d_]{{4,20}})\s{{1,3}}(?={_PREPOSITIONS}\s)")
_IS = frozenset("am are is bin ist sind sommes suis est soy es somos sono e siamo sou ben zijn".split())


def predicate_of(sentence: str, lead: str) -> str:
    """Return the adjective after "I am", the `lead` of a sentence, if a preposition follows it ("allergic to"); else an
    empty string.
    """
    verb = plain(lead).replace("'m", " am").rsplit(" ", 1)[-1]
    found = _PREDICATE.match(sentence, len(lead)) if verb in _IS else None
    return found["what"] if found is not None else ""
