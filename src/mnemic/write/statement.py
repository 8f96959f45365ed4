"""What two short texts claim, compared by their words: the rules that decide what a cosine cannot.

Sentence embeddings put "allergic to nuts" and "not allergic to nuts" side by side. So words decide: whether one
statement negates the other, uses the opposite word, or puts another value into the same frame; and whether one says all
that the other says. The lists are English, with the commonest negations of some neighbours; where they know nothing,
two statements that differ in any word are simply kept apart, which is the safe side.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from mnemic.text.analyse import analyse
from mnemic.text.normalise import nfkc
from mnemic.write.synonyms import BROADER, GROUP_HEADS, PHRASES, same_word
from mnemic.write.voice import actives, attributes
from mnemic.write.wording import (
    ANTONYMS,
    BEFORE_AMOUNTS,
    BEFORE_NAMES,
    EMPTY_WORDS,
    NEGATIONS,
    NEGATIVE_PREFIXES,
    NUMBER_WORDS,
    POSTURES,
    QUALIFIERS,
    RELATIONS,
    VALUE_CLASSES,
    is_negative,
)

MAX_COMPARED_WORDS = 200
"""Longer texts are not one claim; they are never called opposite or covered."""
MAX_CLAUSES = 24

_TOKEN = re.compile(r"\[[A-Z_]+#[0-9a-f]+\]|\d+(?:[.,:/\-]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)*")
_PHRASE = re.compile(rf"(?i)\b(?:{'|'.join(PHRASES)})\b")
_NEGATES = re.compile(rf"(?i)\b(?:{'|'.join(NEGATIONS)})\b|n['’]t\b|\bcannot\b")
_FULL_FORM = {"can't": "can", "won't": "will", "shan't": "will", "ain't": "is"}
_CLASS = {"label": "number", "person": "name"}
_DOING = frozenset("is are am was were m s re".split())
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_INFLECTION = re.compile(r"(?:ies|es|s|ing|e|y)$")
_SENTENCE_END = re.compile(r"[.!?:\n]\s*$")


PRESENT = ""
"""The form of a verb that was a participle and is told as active: it fits any inflection."""


_CLAUSE_END = re.compile(r"[.!?;:\n]+(?=\s|$)|,\s|\s->->|\s(?:but|so|because|which|and)\s")


class Word(NamedTuple):
    """One word of content.

    `form` is the word but for its plural, third person or -ing, so that unlike the `stem` it keeps tenses apart.
    `value` is the class of value it is (`number`, `name`, `weekday`, ...) or None.
    """

    stem: str
    form: str
    value: str | None

    def says(self, other: Word) -> bool:
        """Whether the two are one word, or two with one meaning, in inflections that claim the same."""
        forms = {self.form, other.form}
        return self.stem == other.stem and (len(forms) == 1 or (PRESENT in forms and not max(forms).endswith("ed")))

    def implies(self, other: Word) -> bool:
        """Whether it says `other` and perhaps more, as "man" says "person"."""
        return self.says(other) or other.stem in BROADER.get(self.stem, ())


@dataclass(frozen=True, slots=True)
class Statement:
    """A text taken apart: its words of content in order, how often it negates, whether it asks.

    `denied` are the words that its negations stand before, in alphabetical order. `readings` are the orders in which
    it may be told: as it stands, and a passive also as its active. `parts` are the texts of its clauses, where it has
    more than one.
    """

    words: tuple[Word, ...]
    negations: int
    asks: bool
    denied: tuple[str, ...] = ()
    readings: tuple[tuple[Word, ...], ...] = ()
    parts: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str) -> Statement:
        """The statement that `text` makes."""
        plain = _PHRASE.sub(lambda match: PHRASES[match.group().lower()], nfkc(text).replace("’", "'"))
        parts = tuple(part for part in _CLAUSE_END.split(plain) if part.strip())
        return cls._of(plain, parts if 1 < len(parts) <= MAX_CLAUSES else ())

    @classmethod
    def _of(cls, plain: str, parts: tuple[str, ...] = ()) -> Statement:
        tokens: list[str] = []
        told: list[list[Word]] = []
        gaps: list[str] = []
        ended = 0
        negations = 0
        before = ""
        for match in _TOKEN.finditer(plain):
            for token in _parts(match.group()):
                low = token.casefold()
                negates = low in NEGATIONS
                negations += negates
                empty = negates or (low == "one" and before == "no")
                tokens.append(token)
                gaps.append(plain[ended : match.start()])
                ended = match.end()
                told.append([] if empty else _words(token, before, initial=_starts_sentence(plain, match.start())))
                before = low
        words = tuple(word for some in told for word in some)
        readings = (words, *_retold(tokens, gaps, told))
        return cls(words, negations, plain.rstrip().endswith("?"), _denied(tokens, told), readings, parts)

    @property
    def clauses(self) -> tuple[Statement, ...]:
        """Its clauses, or itself where it has but one. Most statements are compared without: they are taken apart when
        they are asked for.
        """
        return tuple(self._of(part) for part in self.parts) or (self,)

    @property
    def stems(self) -> list[str]:
        """The stems of its words, in order."""
        return [word.stem for word in self.words]

    @property
    def comparable(self) -> bool:
        """Whether it is short enough, and says enough, to be compared."""
        return 0 < len(self.words) <= MAX_COMPARED_WORDS


def _retold(tokens: list[str], gaps: list[str], told: list[list[Word]]) -> Iterator[tuple[Word, ...]]:
    """The same words in the orders in which the same might be said."""
    for active in actives(tokens):
        verb = told[active.verb] if active.past else [word._replace(form=PRESENT) for word in _words(active.base, "")]
        yield tuple(word for place in active.order for word in (verb if place == active.verb else told[place]))
    order = attributes(tokens, gaps)
    if order is not None:
        yield tuple(word for place in order for word in told[place])


def _denied(tokens: Sequence[str], told: Sequence[Sequence[Word]]) -> tuple[str, ...]:
    """The first word of content behind each negation."""
    negations = (place for place, token in enumerate(tokens) if token.casefold() in NEGATIONS)
    behind = (next((words[0].stem for words in told[place:] if words), "") for place in negations)
    return tuple(sorted(behind))


class Opposition(NamedTuple):
    """How two statements contradict each other: `negation`, `antonym` or `value`; `strong` where most of their words
    agree, so that what differs is told of the same thing.
    """

    how: str
    strong: bool


def opposition(one: Statement, other: Statement) -> Opposition | None:
    """How the two contradict each other, in either order, or None where nothing shows it."""
    if not (one.comparable and other.comparable):
        return None
    how = _opposed(one, other) if one.asks == other.asks else None
    if how is not None:
        return Opposition(how, 10 * _alike(one, other) >= 6 * min(len(one.words), len(other.words)))
    return Opposition("negation", strong=True) if _denies(one, other) or _denies(other, one) else None


def _opposed(one: Statement, other: Statement) -> str | None:
    mine, theirs = Counter(one.stems), Counter(other.stems)
    shared, shorter = (mine & theirs).total(), min(len(one.words), len(other.words))
    # Denying two things is denying; two denials of one thing are rare.
    negated = (one.negations - other.negations) % 2 == 1 or (one.negations == 0) != (other.negations == 0)
    reversed_ = any_opposite(
        [word for word in one.words if word.stem not in theirs], [word for word in other.words if word.stem not in mine]
    )
    if reversed_:
        # "not open" against "closed" agrees.
        return "antonym" if not negated and 2 * (shared + 1) >= shorter else None
    if negated:
        return "negation" if 2 * _alike(one, other) >= shorter else None
    return "value" if _other_value(one, other) else None


def _alike(one: Statement, other: Statement) -> int:
    """How many words of the shorter have their like, or a broader or narrower word, in the longer."""
    short, long = sorted((one, other), key=lambda statement: len(statement.words))
    stems = set(long.stems)
    wide = stems.union(*(BROADER.get(stem, ()) for stem in stems))
    return sum(stem in wide or not stems.isdisjoint(BROADER.get(stem, ())) for stem in short.stems)


def _denies(one: Statement, other: Statement) -> bool:
    """Whether a clause of `one` denies what clauses of `other` tell without denying it."""
    if not one.negations or not (one.parts or other.parts):
        return False
    asserted = {word.stem for clause in _asserting(other) for word in clause.words}
    return any(10 * len(asserted & said) >= 6 * len(said) for said in _denied_claims(one))


def denies(one: Statement, other: Statement) -> bool:
    """Whether a clause of either denies what one clause of the other tells: two thirds of its words stand there.

    Plain enough to be looked for from a lower cosine on: messages of several clauses are near each other only as a
    whole.
    """
    return _denies_one(one, other) or _denies_one(other, one)


def _denies_one(one: Statement, other: Statement) -> bool:
    if not one.negations:
        return False
    told = [{word.stem for word in clause.words} for clause in _asserting(other)]
    return any(3 * len(words & said) >= 2 * len(said) for said in _denied_claims(one) for words in told)


def _asserting(statement: Statement) -> list[Statement]:
    return [clause for clause in statement.clauses if not clause.negations]


def _denied_claims(statement: Statement) -> Iterator[set[str]]:
    """The words of each clause that denies one thing, where they are enough to know the thing by."""
    for clause in statement.clauses:
        said = {word.stem for word in clause.words} - RELATIONS
        if clause.negations == 1 and len(said) >= 3:
            yield said


def negates(text: str) -> bool:
    """Whether `text` may hold a negation, at a glance: what has none denies nothing."""
    return _NEGATES.search(text) is not None


def any_opposite(mine: Iterable[Word], theirs: Iterable[Word]) -> bool:
    """Whether a word of the one side is opposite to a word of the other."""
    ours, others = list(mine), list(theirs)
    return _opposites({one.stem for one in ours}, {other.stem for other in others}) or _opposites(
        {one.form for one in ours}, {other.form for other in others}
    )


def opposite(one: str, other: str) -> bool:
    """Whether two stems are antonyms, by the list or by a prefix such as un-; also as comparatives."""
    return _opposites({one}, {other})


def _opposites(mine: set[str], theirs: set[str]) -> bool:
    ours, others = {_positive(stem) for stem in mine}, {_positive(stem) for stem in theirs}
    return _opposes(ours, others) or _opposes(others, ours)


def _opposes(mine: set[str], theirs: set[str]) -> bool:
    return any(not theirs.isdisjoint(ANTONYMS.get(stem, ())) for stem in mine) or any(
        stem.startswith(prefix) and len(stem) >= len(prefix) + 3 and stem[len(prefix) :] in theirs
        for stem in mine
        for prefix in NEGATIVE_PREFIXES
    )


def _positive(stem: str) -> str:
    """What "larger" is the comparative of, where that has an opposite."""
    base = same_word(stem[:-2]) if stem.endswith("er") and stem not in ANTONYMS else stem
    return base if base in ANTONYMS else stem


def covers(full: Statement, part: Statement) -> bool:
    """Whether `full` says everything that `part` says, and nothing that could take it back: see `beyond`."""
    return beyond(full, part) is not None


def beyond(full: Statement, part: Statement) -> int | None:
    """How many words of content `full` has beyond those of `part`; None where it does not say everything that `part`
    says, or something that could take it back.

    Every word of content of `part` stands in `full` in the same order, from the first word on, or a narrower word does
    ("man" says "person"); a passive may be told as its active. What `full` has beyond them is little, negates and
    qualifies nothing, brings in nobody else, and adds no value of a class of which `part` already names one. Questions
    claim nothing: they cover nothing.
    """
    if not (full.comparable and part.comparable) or full.asks or part.asks or full.denied != part.denied:
        return None
    readings = product(full.readings, part.readings)
    found = [_beyond(said, wanted, exact=full.negations > 0) for said, wanted in readings]
    return min((count for count in found if count is not None), default=None)


def _beyond(full: Sequence[Word], part: Sequence[Word], *, exact: bool) -> int | None:
    """`exact`: no word more and none narrower, because denying the narrow does not deny the wide."""
    rest = list(full)
    extra: list[Word] = []
    for word in part:
        while rest and not (rest[0].says(word) if exact else rest[0].implies(word)):
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


def value_class(word: Word) -> str:
    """The class of value of which a frame holds one at a time; empty for a word that is none."""
    return _CLASS.get(word.value or "", word.value or "")


def _bends(word: Word) -> bool:
    """Whether it may take back what stands around it. A negative prefix is enough: "ineligible", "unable"."""
    return word.stem in QUALIFIERS or is_negative(word.stem)


def content_words(text: str) -> frozenset[str]:
    """The stems that a merge must not lose."""
    return frozenset(Statement.of(text).stems)


def _other_value(one: Statement, other: Statement) -> bool:
    """The same frame of words with another number, date, name or member of a class in it."""
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
    # One may meet Ann and meet Bob, read chapter 3 and chapter 4: such names and labels are no changed values.
    return not classes & {None, "person", "label"} and shared >= (2 if classes & {"name", "number"} else 1)


def _parts(token: str) -> list[str]:
    """A token without its clitics: "doesn't" is "does not", "user's" is "user"."""
    if token[0] == "[" or token[0].isdigit():
        return [token]
    low = token.casefold()
    if low.endswith("n't"):
        return [_FULL_FORM.get(low, token[:-3]), "not"]
    if low == "cannot":
        return ["can", "not"]
    return [token.split("'", maxsplit=1)[0]] if low.split("'")[-1] in ("s", "m", "re", "ve", "d", "ll") else [token]


def _words(token: str, before: str, *, initial: bool = True) -> list[Word]:
    """The words of content of one token that follows `before`: none where it is empty of content."""
    if token[0] == "[":
        return [Word(token, token, token.split("#", maxsplit=1)[0])]
    low = token.casefold()
    number = _THOUSANDS.sub("", token) if token[0].isdigit() else NUMBER_WORDS.get(low)
    if number is not None:
        return [Word(number, number, "number" if before in BEFORE_AMOUNTS else "label")]
    if low in EMPTY_WORDS:
        return []
    named = None
    if token[0].isupper() and not initial:
        named = "month" if low == "may" else "name" if before in BEFORE_NAMES else "person"
    words = [_word(stem, low, named) for stem in _stems(low)]
    if low.endswith("ing") and before in _DOING and len(words) == 1 and words[0].stem in POSTURES:
        return [words[0]._replace(value="posture")]
    return words


def _word(stem: str, low: str, named: str | None) -> Word:
    told = same_word(stem)
    if told in GROUP_HEADS:
        form = told + ("ed" if low.endswith("ed") else "")
    else:
        form = _INFLECTION.sub("", low)
    return Word(told, form, VALUE_CLASSES.get(told, named))


@lru_cache(maxsize=8192)
def _stems(word: str) -> tuple[str, ...]:
    return tuple(analyse(word).sequence)


def _starts_sentence(text: str, at: int) -> bool:
    before = text[:at].rstrip(" \"'(")
    return not before or _SENTENCE_END.search(before[-1:]) is not None
