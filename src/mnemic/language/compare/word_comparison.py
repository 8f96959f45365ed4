"""Claims of two short texts, compared by their words: rules for cases that a cosine cannot decide.

Sentence embeddings place "allergic to nuts" and "not allergic to nuts" next to each other. So words decide if one
statement negates the other, uses the opposite word, or puts another value into the same frame; and if one contains all
of the other's content. The lists are English, with the commonest negations of some other languages; without an entry in
them, two statements that differ in any word remain separate, which is the safe choice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from mnemic.language.frames.content_words import Word, glance, parts_of, starts_sentence, value_class, words_of
from mnemic.language.frames.frame_expressions import without_in_the
from mnemic.language.frames.word_lists import (
    ANTONYMS,
    NEARLY_NEVER,
    NEGATIONS,
    NEGATIVE_PREFIXES,
    QUALIFIERS,
    RELATIONS,
    is_negative,
)
from mnemic.language.text.lazy_property import lazy_property
from mnemic.language.text.normalise import nfkc

MAX_COMPARED_WORDS = 200
"""Maximum words of one claim; longer texts are never opposite or covered."""
MAX_CLAUSES = 24

_TOKEN = re.compile(r"\[[A-Z_]+#[0-9a-f]+\]|\d+(?:[.,:/\-]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)*")
_NO_ONE = re.compile(r"no(?:'\w+)*[\W_]*one")
_LETTERS = re.compile(r"[^\W\d_]+")


_NO_VALUES = frozenset({None, "person", "label"})
"""Classes without exclusive values: one may meet Ann and meet Bob, read chapter 3 and chapter 4."""

_CLAUSE_END = re.compile(r"[.!?;:\n]+(?=\s|$)|,\s|\s->->|\s(?:but|so|because|which|and)\s")


class Clause(NamedTuple):
    """One clause of a statement: the stems of its content words, and its number of negations."""

    stems: frozenset[str]
    negations: int


@dataclass(frozen=True)
class Statement:
    """Lazily parsed text."""

    plain: str

    @classmethod
    def of(cls, text: str) -> Statement:
        """Return `text` as a statement."""
        return cls(without_in_the(nfkc(text).replace("’", "'")))

    @lazy_property
    def parts(self) -> tuple[str, ...]:
        """The texts of its clauses, if it has more than one."""
        parts = tuple(part for part in _CLAUSE_END.split(self.plain) if part.strip())
        return parts if 1 < len(parts) <= MAX_CLAUSES else ()

    @lazy_property
    def _tokens(self) -> _Tokens:
        return _Tokens.of(self.plain)

    @lazy_property
    def words(self) -> tuple[Word, ...]:
        """Its content words, in order."""
        return self._tokens.words

    @lazy_property
    def _seen(self) -> list[tuple[tuple[str, ...], int]]:
        """Return the first impression of each token: it distinguishes most statements, without a full parse."""
        return [glance(token) for token in _TOKEN.findall(self.plain)]

    @lazy_property
    def named(self) -> frozenset[str]:
        """Every stem that it or a clause of it may have."""
        return frozenset(chain.from_iterable([stems for stems, _ in self._seen]))

    @lazy_property
    def stems(self) -> list[str]:
        """The stems of its words, in order."""
        if _NO_ONE.search(self.plain.lower()):
            return [word.stem for word in self.words]
        return list(chain.from_iterable([stems for stems, _ in self._seen]))

    @lazy_property
    def negations(self) -> int:
        """Number of its negations."""
        return sum([negations for _, negations in self._seen])

    @lazy_property
    def asks(self) -> bool:
        """True if it is a question."""
        return self.plain.rstrip().endswith("?")

    @lazy_property
    def denied(self) -> tuple[str, ...]:
        """Words after its negations, in alphabetical order."""
        return _denied(self._tokens) if self.negations else ()

    @lazy_property
    def nearly(self) -> int:
        """Number of its negations that are not total."""
        return sum(token in NEARLY_NEVER for token in self._tokens.low) if self.negations else 0

    @lazy_property
    def clauses(self) -> tuple[Clause, ...]:
        """Its clauses, or one for the whole if it has no parts; most statements are compared without them."""
        parts = [Statement(part) for part in self.parts] or [self]
        return tuple(Clause(frozenset(one.stems), one.negations) for one in parts)

    @lazy_property
    def asserted(self) -> tuple[frozenset[str], ...]:
        """The stems of each of its clauses without a negation."""
        return tuple(clause.stems for clause in self.clauses if not clause.negations)

    @lazy_property
    def denied_claims(self) -> tuple[frozenset[str], ...]:
        """The stems of each of its clauses with one negation, if they are enough to identify the denied thing."""
        denying = (
            [clause.stems - RELATIONS for clause in self.clauses if clause.negations == 1] if self.negations else ()
        )
        return tuple(said for said in denying if len(said) >= 3)

    @lazy_property
    def counted(self) -> Counter[str]:
        """Number of times each stem occurs in it."""
        return Counter(self.stems)

    @lazy_property
    def comparable(self) -> bool:
        """True if it is short enough for a comparison, and has content."""
        return 0 < len(self.stems) <= MAX_COMPARED_WORDS


@dataclass(frozen=True, slots=True)
class _Tokens:
    """A text token by token, each in small letters, with its content words."""

    low: list[str]
    parts_words: list[tuple[Word, ...]]

    @classmethod
    def of(cls, plain: str) -> _Tokens:
        low, parsed = [], []
        before = ""
        for match in _TOKEN.finditer(plain):
            start = match.start()
            for token in parts_of(match.group()):
                initial = not token[0].isupper() or starts_sentence(plain, start)
                small = token.casefold()
                empty = small in NEGATIONS or (small == "one" and before == "no")
                low.append(small)
                parsed.append(() if empty else words_of(token, before, initial=initial))
                before = small
        return cls(low, parsed)

    @property
    def words(self) -> tuple[Word, ...]:
        return tuple(chain.from_iterable(self.parts_words))

    @property
    def negations(self) -> int:
        return sum(token in NEGATIONS for token in self.low)


def _denied(tokens: _Tokens) -> tuple[str, ...]:
    """Return the first content word after each negation."""
    negations = (place for place, token in enumerate(tokens.low) if token in NEGATIONS)
    behind = (next((words[0].stem for words in tokens.parts_words[place:] if words), "") for place in negations)
    return tuple(sorted(behind))


class Opposition(NamedTuple):
    """Contradiction between two statements: `negation`, `antonym` or `value`; `strong` if most of their words agree, so
    that the difference concerns the same thing.
    """

    how: str
    strong: bool


def opposition(one: Statement, other: Statement) -> Opposition | None:
    """Return the contradiction between the two, in either order, or None if there is no sign of one."""
    if not (one.comparable and other.comparable):
        return None
    how = _opposed(one, other) if one.asks == other.asks else None
    if how is not None:
        return Opposition(how, 10 * _alike(one, other) >= 6 * min(len(one.stems), len(other.stems)))
    return Opposition("negation", strong=True) if _denies(one, other) or _denies(other, one) else None


def _opposed(one: Statement, other: Statement) -> str | None:
    shorter, alike = min(len(one.stems), len(other.stems)), _alike(one, other)
    # Denying two things is a denial; two denials of one thing are rare.
    negated = (one.negations - other.negations) % 2 == 1 or (one.negations == 0) != (other.negations == 0)
    # Every opposition requires this much in common; the shared words are at most the alike ones.
    if 2 * (alike if negated else alike + 1) < shorter:
        return None
    mine, theirs = one.counted, other.counted
    shared = sum([min(mine[stem], theirs[stem]) for stem in mine.keys() & theirs.keys()])
    if not negated and 2 * (shared + 1) < shorter:
        return None
    ours = [word for word in one.words if word.stem not in theirs]
    others = [word for word in other.words if word.stem not in mine]
    if any_opposite(ours, others):
        # "not open" against "closed" agrees.
        return "antonym" if not negated and 2 * (shared + 1) >= shorter else None
    if negated:
        return "negation"
    # A quick check: their order, which takes longer to compare, cannot increase the shared words or the differences.
    if 2 * shared < shorter or any(word.value in _NO_VALUES for word in chain(ours, others)):
        return None
    return "value" if _other_value(one, other) else None


def _alike(one: Statement, other: Statement) -> int:
    """Return the number of words of the shorter statement that the longer contains."""
    short, long = (other, one) if len(other.stems) < len(one.stems) else (one, other)
    return sum(map(long.counted.__contains__, short.stems))


def _denies(one: Statement, other: Statement) -> bool:
    """Return True if a clause of `one` denies the content of clauses of `other` without a negation."""
    if not one.negations or not (one.parts or other.parts):
        return False
    # A quick check: its clauses, which take longer to parse, have no other words.
    claims = [said for said in one.denied_claims if 10 * len(other.named & said) >= 6 * len(said)]
    if not claims:
        return False
    asserted = frozenset[str]().union(*other.asserted)
    return any(10 * len(asserted & said) >= 6 * len(said) for said in claims)


def denies(one: Statement, other: Statement) -> bool:
    """Return True if a clause of either denies one clause of the other: two thirds of its words occur.

    This is specific enough for a lower cosine: messages of several clauses are near each other only as a whole.
    """
    return any(_denies_one(said, other) for said in one.denied_claims) or any(
        _denies_one(said, one) for said in other.denied_claims
    )


def _denies_one(said: frozenset[str], other: Statement) -> bool:
    """Return True if a clause of `other` states the thing denied with these words."""
    if 3 * len(other.named & said) < 2 * len(said):
        return False
    return any(3 * len(words & said) >= 2 * len(said) for words in other.asserted)


@lru_cache(maxsize=8192)
def negates(text: str) -> bool:
    """Return True if `text` may contain a negation, by a quick test."""
    low = text.casefold().replace("’", "'")
    return "n't" in low or "cannot" in low or not NEGATIONS.isdisjoint(_LETTERS.findall(low))


def any_opposite(mine: Iterable[Word], theirs: Iterable[Word]) -> bool:
    """Return True if a word of one side is opposite to a word of the other, by the list or by a prefix such as un-,
    also between comparatives.
    """
    ours, others = list(mine), list(theirs)
    return _opposites({one.stem for one in ours}, {other.stem for other in others}) or _opposites(
        {one.form for one in ours}, {other.form for other in others}
    )


def _opposites(mine: set[str], theirs: set[str]) -> bool:
    ours, others = {_positive(stem) for stem in mine}, {_positive(stem) for stem in theirs}
    return _opposes(ours, others) or _opposes(others, ours)


def _opposes(mine: set[str], theirs: set[str]) -> bool:
    return any(not theirs.isdisjoint(_opposites_of(stem)) for stem in mine)


@lru_cache(maxsize=8192)
def _opposites_of(stem: str) -> frozenset[str]:
    """Return the opposites of a stem: by the list, and without its negative prefix."""
    bare = (stem[len(prefix) :] for prefix in NEGATIVE_PREFIXES if stem.startswith(prefix))
    return frozenset(ANTONYMS.get(stem, ())).union(rest for rest in bare if len(rest) >= 3)


@lru_cache(maxsize=8192)
def _positive(stem: str) -> str:
    """Return the positive of a comparative ("larger") if it has an opposite; else the stem."""
    base = stem[:-2] if stem.endswith("er") and stem not in ANTONYMS else stem
    return base if base in ANTONYMS else stem


def beyond(full: Statement, part: Statement) -> int | None:
    """Return the number of content words of `full` beyond those of `part`; None if it does not contain all of `part`,
    or contains words that could retract it.

    Every content word of `part` occurs in `full` in the same order, from the first word on. The additional words of
    `full` are few, negate and qualify nothing, mention no other person, and add no value of a class of which `part`
    already names one. Questions claim nothing, so they cover nothing.
    """
    if not (full.comparable and part.comparable) or full.asks or part.asks:
        return None
    if not (_holds(full, part) and (full.denied, full.nearly) == (part.denied, part.nearly)):
        return None
    return _beyond(full.words, part.words, exact=full.negations > 0)


def _holds(full: Statement, part: Statement) -> bool:
    """Return True if each word of `part` may be in `full`, by a quick check."""
    return full.counted.keys() >= set(part.stems)


def _beyond(full: Sequence[Word], part: Sequence[Word], *, exact: bool) -> int | None:
    """Return `beyond` for content words. `exact`: no additional words, as denying the narrow does not deny the wide."""
    rest = list(full)
    extra: list[Word] = []
    for word in part:
        while rest and not rest[0].says(word):
            extra.append(rest.pop(0))
        if not rest or (extra and word is part[0]):
            return None
        rest.pop(0)
    extra += rest
    named = {value_class(word) for word in part if word.value}
    harmless = len(extra) <= (0 if exact else max(2, len(part) // 2)) and not any(
        _bends(word) or value_class(word) in named for word in extra
    )
    return len(extra) if harmless else None


def _bends(word: Word) -> bool:
    """Return True if it may retract the words around it. A negative prefix is enough: "ineligible", "unable"."""
    return word.stem in QUALIFIERS or is_negative(word.stem)


def _other_value(one: Statement, other: Statement) -> bool:
    """Return True for the same words except another number, date, name or class member."""
    codes = SequenceMatcher(None, one.stems, other.stems, autojunk=False).get_opcodes()
    shared = sum(code[2] - code[1] for code in codes if code[0] == "equal")
    changes = [code for code in codes if code[0] != "equal"]
    if not 1 <= len(changes) <= 2 or 2 * shared < min(len(one.words), len(other.words)):
        return False
    classes: set[str | None] = set()
    for kind, begin, end, start, stop in changes:
        swapped = {word.value for word in one.words[begin:end] + other.words[start:stop]}
        if kind != "replace" or len(swapped) != 1:
            return False
        classes |= swapped
    return classes.isdisjoint(_NO_VALUES) and shared >= (2 if classes & {"name", "number"} else 1)
