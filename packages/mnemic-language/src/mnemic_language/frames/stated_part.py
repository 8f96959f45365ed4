"""The part of a sentence that states something: before it asks, wishes, supposes or jests."""

from __future__ import annotations

import re

from mnemic_language.frames.frame_expressions import (
    ASCII_SENTENCE,
    ASIDE,
    ASKS,
    CALLED_OUT,
    CLAUSE,
    GERMAN_PAST,
    GREETED,
    JEST,
    NIECE,
    ORDERS,
    SENTENCE,
    STANDING_WISH,
    UNREAL_MOOD,
)
from mnemic_language.frames.vocabulary import cue_words_for, plain, unreal_words
from mnemic_language.text.pattern import WordPatterns

LONGEST_JEST = 5
"""Words of a sentence that does nothing but take back the one before it."""
SHORTEST_REAL = 3
"""Words before a wish ("I drink wine again, a Rioja would be nice") that state something."""


def stated_until(text: str) -> int:
    """Return the number of characters of `text` that state something, before it begins to ask."""
    said = stated(text.rstrip())
    return len(said) if text.startswith(said) else 0


def states_all(text: str) -> bool:
    """Return True if every sentence of a text states something, and all of it: no word of it asks, jests, quotes, calls
    somebody or says what is unreal. A look at its words at once; False for a text beyond ASCII, which is looked at
    step by step.
    """
    if "?" in text or not text.isascii() or _QUOTES.search(text) is not None or CALLED_OUT.search(text) is not None:
        return False
    low = text.lower()
    return _OTHERWISE.are_absent(low) and not unreal_words().likely(low)


_QUOTES = re.compile("[\"`]|'(?<![\\w']')")
"""Signs of which a quotation in ASCII has one: an apostrophe inside a word is none."""
_OTHERWISE = WordPatterns((GREETED, ASIDE, JEST, UNREAL_MOOD, STANDING_WISH, GERMAN_PAST, NIECE))
"""Expressions for what is not stated, or not in these words."""
_UNREALLY = WordPatterns((JEST, UNREAL_MOOD, STANDING_WISH, GERMAN_PAST))
_ASIDE_OR_UNREAL = WordPatterns((ASIDE, JEST, UNREAL_MOOD, STANDING_WISH, GERMAN_PAST, NIECE))
_SPOKEN_OTHERWISE = WordPatterns((JEST, UNREAL_MOOD, STANDING_WISH, GERMAN_PAST, NIECE))


def sentences_of(text: str) -> tuple[str, ...]:
    """Return the sentences of a text."""
    parts = (ASCII_SENTENCE if text.isascii() else SENTENCE).split(text)
    return tuple([one for part in parts if part and (one := part.strip())])


def said_in(text: str) -> tuple[str, ...]:
    """Return what the sentences of a text state. One that is but a jest ("Just kidding!") takes back the one before
    it.
    """
    if text.isascii() and is_serious(text.lower()):
        return asserted_in(text)
    found: list[str] = []
    for sentence in sentences_of(text):
        if len(sentence.split()) <= LONGEST_JEST and JEST.search(plain(sentence)):
            found = found[:-1]
        elif (part := stated(sentence)) and (said := real(part)):
            found.append(NIECE.sub(r"\1 nichtje", said))
    return tuple(found)


def speaks_plainly(text: str) -> bool:
    """Return True if no word of a text in ASCII jests, comments or says what is unreal: it may quote, greet and ask. A
    part of it, and a sentence made of its words, has no such word either. What has a French "j'" is left out: its parts
    begin with "Je", which is no word of the text.
    """
    low = text.lower()
    return text.isascii() and "j'" not in low and _ASIDE_OR_UNREAL.are_absent(low) and not unreal_words().likely(low)


def asserted_in(text: str) -> tuple[str, ...]:
    """Return what the sentences of a text state that neither jests nor says what is unreal: all but what they ask."""
    return tuple([part for sentence in sentences_of(text) if (part := stated(sentence))])


def is_serious(low: str) -> bool:
    """Return True if no word of a text in ASCII and small letters jests, wishes or says what is unreal: neither does a
    sentence of it, which has no other words.
    """
    return _SPOKEN_OTHERWISE.are_absent(low) and not unreal_words().likely(low)


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
    if sentence.isascii() and _UNREALLY.are_absent(low := sentence.lower()) and not unreal_words().likely(low):
        return sentence
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
