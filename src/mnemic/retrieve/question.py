"""Query as lists and ranking see it: the text to embed, the keywords, the people and the time that it names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from types import MappingProxyType

from mnemic.retrieve.key_questions import asked_keys
from mnemic.text.analyse import parse_query
from mnemic.text.language import common_words, language_of
from mnemic.text.months import named_month
from mnemic.text.times import READ, Period, period_of
from mnemic.types import Vector, VectorSpace

_KEY_WORDS = 4
_WORD = re.compile(r"\w+")
ROLES = frozenset({"user", "assistant", "system", "tool"})
"""Labels, not names: a query that says "the user" is not rewritten."""

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
MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_MONTH = re.compile(rf"\b({'|'.join(MONTHS)})\b", re.IGNORECASE)
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")
COMMON = frozenset(
    """
    a an the is are was were be been being am do does did doing have has had having i me my we our you your he she it
    they them his her its their this that these those to of in on at for with by from as and or but if so than then
    there here what which who whom when where why how will would can could should may might shall not no about into
    out up down over just also very too
    """.split()
)
"""English words that say nothing about the topic."""
NOBODY: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A year, a month or a day that a query names; the parts it leaves open are None."""

    year: int | None
    month: int | None = None
    day: int | None = None

    @property
    def days(self) -> tuple[date | None, date | None]:
        """Its first and last day; None, None where it leaves the year open, or is in no calendar."""
        if self.year is None:
            return None, None
        try:
            first = date(self.year, self.month or 1, self.day or 1)
        except ValueError:
            return None, None
        if self.day:
            return first, first
        months = 1 if self.month else 12
        return first, (first + timedelta(days=31 * months)).replace(day=1) - timedelta(days=1)

    def may_be_said_on(self, said_on: date) -> bool:
        """Return True if a message of `said_on` may concern this date.

        A day is mentioned from the day before it until ten days after it, a month within itself and the first ten days
        of the next, a year within itself.
        """
        if self.month is None:
            return said_on.year == self.year
        years = [self.year] if self.year else [said_on.year, said_on.year - 1]
        return any(self._may_be_said_in(year, said_on) for year in years)

    def _may_be_said_in(self, year: int, said_on: date) -> bool:
        try:
            first = date(year, self.month or 1, self.day or 1)
        except ValueError:
            return False
        if self.day:
            return first - timedelta(days=1) <= said_on <= first + timedelta(days=10)
        return first <= said_on <= (first + timedelta(days=31)).replace(day=10)


def named_date(query: str) -> NamedDate | None:
    """Return the first month (with its day and year) or year that `query` names; "may" in lower case is the verb."""
    month = next((found for found in _MONTH.finditer(query) if found.group(1) != "may"), None)
    year = _YEAR.search(query)
    if month is None:
        return _named_abroad(query, int(year.group(1)) if year else None)
    name = month.group(1)
    day = re.search(
        rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {name}\b|\b{name},? (\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)",
        query,
        re.IGNORECASE,
    )
    return NamedDate(
        year=int(year.group(1)) if year else None,
        month=MONTHS.index(name.lower()) + 1,
        day=int(day.group(1) or day.group(2)) if day else None,
    )


def _named_abroad(query: str, year: int | None) -> NamedDate | None:
    """Return the month that `query` names in another language than English, or only the year."""
    found = named_month(query)
    if found is None:
        return NamedDate(year) if year else None
    return NamedDate(year, *found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Query, parsed once.

    `text` is the query, `embedded` the text of its vector, `keywords` the words for the keyword list. `keys` are the
    keys that its words spell (in its first `READ` characters), `speakers` the people it asks about, `period` its time
    relative to the day it is asked on. `vector`, of `space`, is None until it is made, or if the embedder failed.
    """

    text: str = field(repr=False)
    embedded: str = field(repr=False)
    keywords: str = field(repr=False)
    keys: frozenset[str] = frozenset()
    speakers: frozenset[str] = frozenset()
    asks_when: bool = False
    names_date: NamedDate | None = None
    period: Period | None = None
    vector: Vector | None = field(default=None, repr=False)
    space: VectorSpace | None = None
    depth: int = 100

    @property
    def words(self) -> int:
        """Number of terms that the keyword list looks for."""
        return len(parse_query(self.keywords).terms)

    def tells(self, said_on: date) -> bool:
        """Return True if a message of that day may concern the time that the query names."""
        return any(time is not None and time.may_be_said_on(said_on) for time in (self.names_date, self.period))


def read_question(
    text: str,
    *,
    speakers: Iterable[str] = (),
    aliases: Mapping[str, str] = NOBODY,
    asker: str = "user",
    asked_on: date | None = None,
    depth: int = 100,
) -> Question:
    """Return `text`, parsed with the speakers of the scope; "I" in it means `asker`, "last week" the week before
    `asked_on`. A question for the other side's words asks about no speaker. `aliases` are other names, each with its
    speaker.
    """
    known = frozenset(speakers)
    people = called(known - ROLES)
    for name, person in aliases.items():
        people[person] = (*people.get(person, ()), name)
    named = frozenset(person for person, names in people.items() if any(_name(name).search(text) for name in names))
    if asker in known and _ME.search(text) and not _ASKS_BACK.search(text):
        named |= {asker}
    return Question(
        text=text,
        embedded=first_person(text, people),
        keywords=_keywords(text, people),
        keys=spelled_keys(text[:READ]) | asked_keys(text[:READ]),
        speakers=named,
        asks_when=_WHEN.match(text) is not None,
        names_date=named_date(text[:READ]),
        period=None if asked_on is None else period_of(text, asked_on),
        depth=depth,
    )


def called(people: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the names that each of `people` may be called by: the whole name, then its first word where no other name
    has that.
    """
    persons = sorted(people)
    held = Counter(word for person in persons for word in set(person.casefold().split()))
    names: dict[str, tuple[str, ...]] = {}
    for person in persons:
        first, *more = person.split() or [""]
        short = more and len(first) > 1 and first.isalpha() and held[first.casefold()] == 1
        names[person] = (person, first) if short else (person,)
    return names


def first_person(query: str, people: Mapping[str, Sequence[str]]) -> str:
    """`query` as the person it asks about would put it: "What did Ana's son say" becomes "What did my son say".
    `people`: what each is called.

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


def content_words(text: str) -> list[str]:
    """Return the words of `text` that are not common ones, of English or of the language of the text."""
    words, language = text.split(), language_of(text)
    empty = COMMON if language is None else COMMON | common_words(language)
    common = {word for word in set(words) if word.strip(".,;:!?¿¡'’()").lower() in empty}
    return [word for word in words if word not in common]


def spelled_keys(query: str) -> frozenset[str]:
    """Every key that some neighbouring words of `query` could spell: "update channel" spells `update_channel`."""
    words = _WORD.findall(query.lower())
    shifted = [words[shift:] for shift in range(_KEY_WORDS)]
    return frozenset().union(
        *(map("_".join, set(zip(*shifted[:length], strict=False))) for length in range(1, _KEY_WORDS + 1))
    )


def _name(name: str, ending: str = "") -> re.Pattern[str]:
    """Find a name in any case; one that is also a common word ("Will", "May") only as it is written."""
    return re.compile(rf"\b{re.escape(name)}{ending}\b", 0 if name.lower() in COMMON else re.IGNORECASE)


def _keywords(text: str, people: Mapping[str, Sequence[str]]) -> str:
    """Return the query without common words and without the names of those who speak, which say nothing about the
    content.

    Quoted phrases stay as they are; where nothing would be left, everything does.
    """
    if '"' in text or "“" in text:
        return text
    for name in _longest_first(people):
        text = _name(name, "(?:['’]s)?").sub(" ", text)
    return " ".join(content_words(text)) or text
