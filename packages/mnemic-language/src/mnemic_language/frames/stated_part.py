"""The part of a sentence that states something: before it asks, wishes, supposes or jests."""

from __future__ import annotations

from collections.abc import Iterable

from mnemic_language.frames.frame_expressions import (
    ASKS,
    CLAUSE,
    GERMAN_PAST,
    JEST,
    NIECE,
    ORDERS,
    STANDING_WISH,
    UNREAL_MOOD,
)
from mnemic_language.frames.vocabulary import cue_words_for, plain

LONGEST_JEST = 5
"""Words of a sentence that does nothing but take back the one before it."""
SHORTEST_REAL = 3
"""Words before a wish ("I drink wine again, a Rioja would be nice") that state something."""


def stated_until(text: str) -> int:
    """Return the number of characters of `text` that state something, before it begins to ask."""
    said = stated(text.rstrip())
    return len(said) if text.startswith(said) else 0


def said_in(sentences: Iterable[str]) -> tuple[str, ...]:
    """Return what sentences state. One that is but a jest ("Just kidding!") takes back the one before it."""
    found: list[str] = []
    for sentence in sentences:
        if len(sentence.split()) <= LONGEST_JEST and JEST.search(plain(sentence)):
            found = found[:-1]
        elif (part := stated(sentence)) and (said := real(part)):
            found.append(NIECE.sub(r"\1 nichtje", said))
    return tuple(found)


def stated(sentence: str) -> str:
    """Return what a sentence states before it asks something; empty if all of it asks. A wish for a change in the form
    of a question is a statement.
    """
    if not sentence.endswith("?") or ORDERS.search(sentence):
        return sentence
    asks = ASKS.search(sentence)
    return sentence[: asks.start()].strip(" ,") if asks else ""


def real(sentence: str) -> str:
    """Return what a sentence states before it turns to a wish or a hypothesis; empty if it begins with one."""
    said_plainly = STANDING_WISH.sub("i want", plain(GERMAN_PAST.sub("ward", sentence)))
    if JEST.search(said_plainly) or UNREAL_MOOD.match(said_plainly):
        return ""
    unreal = cue_words_for(said_plainly).expressions["unreal"]
    if unreal.search(said_plainly) is None:
        return sentence
    said: list[str] = []
    for clause in CLAUSE.split(sentence):
        if unreal.search(plain(GERMAN_PAST.sub("ward", clause))):
            break
        said.append(clause)
    return ", ".join(said) if sum(len(clause.split()) for clause in said) >= SHORTEST_REAL else ""
