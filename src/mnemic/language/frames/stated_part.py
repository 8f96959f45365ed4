"""The statement in a sentence: the part before a question, wish, supposition or joke."""

from __future__ import annotations

import re
from functools import lru_cache

from mnemic.language.frames.frame_expressions import (
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
from mnemic.language.frames.vocabulary import cue_words_for, plain, unreal_words
from mnemic.language.text.pattern import WordPatterns

LONGEST_JEST = 5
"""Maximum words of a sentence that only retracts the one before it."""
SHORTEST_REAL = 3
"""Minimum words before a wish ("I drink wine again, a Rioja would be nice") for a statement."""


def stated_until(text: str) -> int:
    """Return the number of characters of `text` before a question begins."""
    said = stated(text.rstrip())
    return len(said) if text.startswith(said) else 0


@lru_cache(maxsize=1024)
def states_all(text: str) -> bool:
    """Return True if a text consists of statements only: without question, joke, quotation, call to somebody or unreal
    mood. One look at its words; False for a text beyond ASCII, which needs the check step by step. Cached: it is asked
    when a statement is written, and again when a later one meets its parts.
    """
    if "?" in text or not text.isascii() or _QUOTES.search(text) is not None or CALLED_OUT.search(text) is not None:
        return False
    low = text.lower()
    return _OTHERWISE.are_absent(low) and not unreal_words().likely(low)


_QUOTES = re.compile("[\"`]|'(?<![\\w']')")
"""Characters of which every ASCII quotation contains one: an apostrophe inside a word is none."""
_OTHERWISE = WordPatterns((GREETED, ASIDE, JEST, UNREAL_MOOD, STANDING_WISH, GERMAN_PAST, NIECE))
"""Expressions for text that is not a statement, or is one in other words."""
_UNREALLY = WordPatterns((JEST, UNREAL_MOOD, STANDING_WISH, GERMAN_PAST))
_ASIDE_OR_UNREAL = WordPatterns((ASIDE, JEST, UNREAL_MOOD, STANDING_WISH, GERMAN_PAST, NIECE))
_SPOKEN_OTHERWISE = WordPatterns((JEST, UNREAL_MOOD, STANDING_WISH, GERMAN_PAST, NIECE))


def sentences_of(text: str) -> tuple[str, ...]:
    """Return the sentences of a text."""
    parts = (ASCII_SENTENCE if text.isascii() else SENTENCE).split(text)
    return tuple([one for part in parts if part and (one := part.strip())])


def said_in(text: str) -> tuple[str, ...]:
    """Return the statements in the sentences of a text. A joke as a sentence ("Just kidding!") retracts the one before
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
    """Return True if an ASCII text has no joke, comment or unreal mood; it may quote, greet and ask. Its parts, and
    sentences made of its words, have none either. A text with a French "j'" is excluded: its parts begin with "Je", a
    word not in it.
    """
    low = text.lower()
    return text.isascii() and "j'" not in low and _ASIDE_OR_UNREAL.are_absent(low) and not unreal_words().likely(low)


def asserted_in(text: str) -> tuple[str, ...]:
    """Return the statements in a text without joke or unreal mood: its sentences without their questions."""
    return tuple([part for sentence in sentences_of(text) if (part := stated(sentence))])


def is_serious(low: str) -> bool:
    """Return True if an ASCII text in lower case has no joke, wish or unreal mood: neither has a sentence of it, which
    has no other words.
    """
    return _SPOKEN_OTHERWISE.are_absent(low) and not unreal_words().likely(low)


def stated(sentence: str) -> str:
    """Return the statement in a sentence before its question; empty if all of it is a question. A wish for a change in
    the form of a question is a statement.
    """
    if not sentence.endswith("?") or ORDERS.search(sentence):
        return sentence
    asks = ASKS.search(sentence)
    return sentence[: asks.start()].strip(" ,") if asks else ""


def real(sentence: str) -> str:
    """Return the statement in a sentence before its wish or hypothesis; empty if it begins with one."""
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
