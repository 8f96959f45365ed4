"""Query as lists and ranking read it: the text to embed, the keywords, the people and the time that it names.

A question about two things is read in parts, as their evidence is in different places and memories similar to both
concern neither. By rules, in English: two questions; "between A and B"; "A or B" after a comma or a colon; "the total
of A and B"; and "how many, how long, how much" with a clause after "when I", "since I", "before I" or "after I".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache

from mnemic.language.questions.attributes import asked_keys, plainly_asked
from mnemic.language.questions.question_words import COMMON, content_words
from mnemic.language.questions.times import NamedDate, named_date
from mnemic.language.text.analyse import parse_query
from mnemic.language.text.pattern import Pattern
from mnemic.language.text.time_expressions import READ, Period, period_of
from mnemic.policy.intent_check import MAX_PARTS
from mnemic.types import Vector, VectorSpace

# Keys of more words are found by their words in the keyword list.
_KEY_WORDS = 4
_WORD = re.compile(r"\w+")
ROLES = frozenset({"user", "assistant", "system", "tool"})
"""Labels, not names: a query with "the user" is not rewritten."""

_ME = re.compile(r"\b(?:i|me|my|mine)\b", re.IGNORECASE)
_GAVE = (
    "tell|told|say|said|suggest|suggested|recommend|recommended|mention|mentioned|give|given|gave|provide|provided|list|"
    "listed|explain|explained|describe|described|advise|advised"
)
_ASKS_BACK = re.compile(
    r"\b(?:remind me|(?:previous|last|earlier) (?:conversation|chat|discussion)"
    rf"|(?:did|have) you (?:\w+ )?(?:{_GAVE})"
    r"|you (?:\w+ )?(?:told|said|suggested|recommended|mentioned|gave|provided|listed|explained|described|advised))\b",
    re.IGNORECASE,
)
"""Matches a question for the other side's words: "I" in it is not the author of the message in question."""
_WHEN = re.compile(
    r"(?<!\s)\s*+(?:when|how long|which (?:year|month|day)|what (?:year|month|date|day))\b", re.IGNORECASE
)


SOON_AFTER = 0.75
"""Part of its weight that the time in question has for messages of the days after it: of two equal ones, that of the
time itself comes first.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Query, parsed once.

    `text` is the query, `embedded` the text of its vector, `keywords` the words for the keyword list. `keys` are the
    keys that its words spell (in its first `READ` characters), `speakers` the people it asks about, `period` its time
    relative to the day it is asked on (`asked_on`). `vector`, of `space`, is None until it is made, or if the embedder
    failed.
    """

    text: str = field(repr=False)
    embedded: str = field(repr=False)
    keywords: str = field(repr=False)
    keys: frozenset[str] = frozenset()
    speakers: frozenset[str] = frozenset()
    asks_when: bool = False
    names_date: NamedDate | None = None
    period: Period | None = None
    asked_on: date | None = None
    vector: Vector | None = field(default=None, repr=False)
    space: VectorSpace | None = None
    depth: int = 100

    @property
    def words(self) -> int:
        """Number of terms that the keyword list looks for."""
        return _looked_for(self.keywords)

    def tells(self, said_on: date) -> bool:
        """Return True if a message of that day may concern the time that the query names."""
        return any(time is not None and time.may_be_said_on(said_on) for time in (self.names_date, self.period))

    def closeness(self, said_on: date) -> float:
        """Return 1 for a message of the time that the query names, `SOON_AFTER` for one of the days after it, in which
        it may be mentioned, and 0 for any other.
        """
        if not self.tells(said_on):
            return 0.0
        within = self.names_date is not None or self.period is None or self.period.begin <= said_on <= self.period.end
        return 1.0 if within else SOON_AFTER


@lru_cache(maxsize=64)
def _looked_for(keywords: str) -> int:
    """Return the number of terms of a query: a search asks several times."""
    return len(parse_query(keywords).terms)


def read_question(
    text: str,
    *,
    speakers: Iterable[str] = (),
    asked_on: date | None = None,
    depth: int = 100,
) -> Question:
    """Return `text`, parsed with the speakers of the scope; "I" in it means the user, "last week" the week before
    `asked_on`. A question for the other side's words asks about no speaker.
    """
    known = frozenset(speakers)
    people = names_of_people(known - ROLES)
    named = frozenset(person for person, names in people.items() if any(_name(name).search(text) for name in names))
    # "What did you tell me?" asks for the other side's words, although it says "me".
    if "user" in known and _ME.search(text) and not _ASKS_BACK.search(text):
        named |= {"user"}
    return Question(
        text=text,
        embedded=first_person(text, people),
        keywords=_keywords(text, people),
        keys=spelled_keys(text[:READ]) | asked_keys(text[:READ]),
        speakers=named,
        asks_when=_WHEN.match(text) is not None,
        names_date=named_date(text[:READ]),
        period=None if asked_on is None else period_of(text, asked_on),
        asked_on=asked_on,
        depth=depth,
    )


def names_of_people(people: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the names that each of `people` may be called by: the whole name, then its first word if no other name has
    that.
    """
    persons = sorted(people)
    occurrences = Counter(word for person in persons for word in set(person.casefold().split()))
    names: dict[str, tuple[str, ...]] = {}
    for person in persons:
        first, *more = person.split() or [""]
        # A first name counts only if it is unambiguous among the speakers.
        short = more and len(first) > 1 and first.isalpha() and occurrences[first.casefold()] == 1
        names[person] = (person, first) if short else (person,)
    return names


def first_person(query: str, people: Mapping[str, Sequence[str]]) -> str:
    """`query` as phrased by the person it asks about: "What did Ana's son say" becomes "What did my son say". `people`:
    the names of each.

    A message says "I", never its speaker's name: the name in the query would pull its vector to messages that greet
    her.
    """
    for name in _longest_first(people):
        query = _name(name, "['’]s").sub("my", query)
        query = _name(name).sub("I", query)
    return query


def _longest_first(people: Mapping[str, Sequence[str]]) -> list[str]:
    """Return all names, those that contain others first."""
    return sorted((name for names in people.values() for name in names), key=lambda name: (-len(name), name))


def spelled_keys(query: str) -> frozenset[str]:
    """Every key that some neighbouring words of `query` could spell: "update channel" spells `update_channel`."""
    words = _WORD.findall(query.lower())
    # `zip` of the shifted lists yields all runs of neighbouring words.
    shifted = [words[shift:] for shift in range(_KEY_WORDS)]
    return frozenset().union(
        *(map("_".join, set(zip(*shifted[:length], strict=False))) for length in range(1, _KEY_WORDS + 1))
    )


def _name(name: str, ending: str = "") -> re.Pattern[str]:
    """Find a name in any case; one that is also a common word ("Will", "May") only as it is written."""
    return re.compile(rf"\b{re.escape(name)}{ending}\b", 0 if name.lower() in COMMON else re.IGNORECASE)


def _keywords(text: str, people: Mapping[str, Sequence[str]]) -> str:
    """Return the query without common words and without the names of the speakers, which are no part of the content.

    Quoted phrases are not changed; if nothing would be left, the query stays whole.
    """
    # Quoted phrases are searched literally, so no word may be dropped.
    if '"' in text or "“" in text:
        return text
    for name in _longest_first(people):
        text = _name(name, "(?:['’]s)?").sub(" ", text)
    text = plainly_asked(text)
    return " ".join(content_words(text)) or text


_QUESTIONS = Pattern(r"(?<=\?)\s+")
_JOINED = (
    Pattern(r"\bbetween (?P<a>.{5,200}?) and (?P<b>.{5,200})", re.IGNORECASE),
    Pattern(r"[,:] (?:is it |was it )?(?P<a>[^,:]{5,200}?),? or (?P<b>.{5,200})", re.IGNORECASE),
    Pattern(
        r"\b(?:total|combined|altogether|sum|both)\b.{0,80}?\b(?:of|on|for|in|to|from|with)\b"
        r" (?P<a>.{4,120}?) and (?P<b>.{4,120})",
        re.IGNORECASE,
    ),
    Pattern(
        r"^(?P<a>how (?:many|much|long)\b.{6,200}?) (?:when|since|before|after) (?P<b>(?:i|we|he|she|they)\b.{8,200})",
        re.IGNORECASE,
    ),
)


def parts_of(query: str) -> tuple[str, ...]:
    """Return the two or three parts that `query` asks about, in its words; nothing for a question about one thing."""
    text = " ".join(query[: 2 * READ].split())[:READ]
    asked = _QUESTIONS.split(text)
    if len(asked) > 1:
        return _several(asked[:MAX_PARTS]) if text.endswith("?") else ()
    for joined in _JOINED:
        found = joined.search(text)
        if found:
            return _several([part.strip(" ?.,") for part in (found["a"], found["b"])])
    return ()


def _several(parts: Sequence[str]) -> tuple[str, ...]:
    """Return the parts that have a topic, if there are two or more."""
    saying = tuple(part for part in parts if content_words(part))
    return saying if len(saying) > 1 else ()
