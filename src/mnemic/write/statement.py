"""What two short texts claim, compared by their words: the rules that decide what a cosine cannot.

Sentence embeddings put "allergic to nuts" and "not allergic to nuts" side by side. So words decide: whether one
statement negates the other, uses the opposite word, or puts another value into the same frame; and whether one says all
that the other says. The lists are English, with the commonest negations of some neighbours; where they know nothing,
two statements that differ in any word are simply kept apart, which is the safe side.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from mnemic.text.analyse import analyse
from mnemic.text.normalise import nfkc
from mnemic.write.wording import (
    ANTONYMS,
    BEFORE_AMOUNTS,
    BEFORE_NAMES,
    EMPTY_WORDS,
    NEGATIONS,
    NEGATIVE_PREFIXES,
    NUMBER_WORDS,
    QUALIFIERS,
    VALUE_CLASSES,
)

MAX_COMPARED_WORDS = 200
"""Longer texts are not one claim; they are never called opposite or covered."""

_TOKEN = re.compile(r"\[[A-Z_]+#[0-9a-f]+\]|\d+(?:[.,:/\-]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)*")
_CLITICS = frozenset({"s", "m", "re", "ve", "d", "ll"})
_FULL_FORM = {"can't": "can", "won't": "will", "shan't": "will", "ain't": "is"}
_CLASS = {"label": "number", "person": "name"}
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_INFLECTION = re.compile(r"(?:ies|es|s|ing|e|y)$")
_SENTENCE_END = re.compile(r"[.!?:\n]\s*$")


class Word(NamedTuple):
    """One word of content.

    `form` is the word but for its plural, third person or -ing, so that unlike the `stem` it keeps tenses apart.
    `value` is the class of value it is (`number`, `name`, `weekday`, ...) or None.
    """

    stem: str
    form: str
    value: str | None

    def says(self, other: Word) -> bool:
        """Whether the two are one word in two inflections that claim the same."""
        return self.stem == other.stem and self.form == other.form


@dataclass(frozen=True, slots=True)
class Statement:
    """A text taken apart: its words of content in order, how often it negates, whether it asks."""

    words: tuple[Word, ...]
    negations: int
    asks: bool

    @classmethod
    def of(cls, text: str) -> Statement:
        """The statement that `text` makes."""
        plain = nfkc(text).replace("’", "'")
        words: list[Word] = []
        negations = 0
        before = ""
        for match in _TOKEN.finditer(plain):
            for token in _parts(match.group()):
                if token.casefold() in NEGATIONS:
                    negations += 1
                else:
                    words += _words(token, before.casefold(), initial=_starts_sentence(plain, match.start()))
                before = token
        return cls(tuple(words), negations, plain.rstrip().endswith("?"))

    @property
    def stems(self) -> list[str]:
        """The stems of its words, in order."""
        return [word.stem for word in self.words]

    @property
    def comparable(self) -> bool:
        """Whether it is short enough, and says enough, to be compared."""
        return 0 < len(self.words) <= MAX_COMPARED_WORDS


def opposition(one: Statement, other: Statement) -> str | None:
    """How the two contradict each other, in either order: `negation`, `antonym`, `value`, or None where nothing shows
    it.
    """
    if not (one.comparable and other.comparable) or one.asks != other.asks:
        return None
    mine, theirs = Counter(one.stems), Counter(other.stems)
    shared, shorter = (mine & theirs).total(), min(len(one.words), len(other.words))
    negated = (one.negations - other.negations) % 2 == 1
    reversed_ = _any_opposite(
        [word for word in one.words if word.stem not in theirs], [word for word in other.words if word.stem not in mine]
    )
    if reversed_:
        # "not open" against "closed" agrees.
        return "antonym" if not negated and 2 * (shared + 1) >= shorter else None
    if negated:
        return "negation" if 10 * shared >= 6 * shorter else None
    return "value" if _other_value(one, other) else None


def _any_opposite(mine: list[Word], theirs: list[Word]) -> bool:
    pairs = product(mine, theirs)
    return any(opposite(one.stem, other.stem) or opposite(one.form, other.form) for one, other in pairs)


def opposite(one: str, other: str) -> bool:
    """Whether two stems are antonyms, by the list or by a prefix such as un-."""
    if other in ANTONYMS.get(one, ()) or one in ANTONYMS.get(other, ()):
        return True
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    return len(shorter) >= 3 and longer.endswith(shorter) and longer[: -len(shorter)] in NEGATIVE_PREFIXES


def covers(full: Statement, part: Statement) -> bool:
    """Whether `full` says everything that `part` says, and nothing that could take it back.

    Every word of content of `part` stands in `full` in the same order, from the first word on; what `full` has beyond
    them is little, negates and qualifies nothing, brings in nobody else, and adds no value of a class of which `part`
    already names one. Questions claim nothing: they cover nothing.
    """
    if not (full.comparable and part.comparable) or full.asks or part.asks or full.negations != part.negations:
        return False
    rest = list(full.words)
    extra: list[Word] = []
    for word in part.words:
        while rest and not rest[0].says(word):
            extra.append(rest.pop(0))
        if not rest or (extra and word is part.words[0]):
            return False
        rest.pop(0)
    extra += rest
    named = {_CLASS.get(word.value, word.value) for word in part.words if word.value}
    return len(extra) <= max(2, len(part.words) // 2) and not any(
        word.stem in QUALIFIERS or _CLASS.get(word.value or "", word.value) in named for word in extra
    )


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


def _words(token: str, before: str, *, initial: bool) -> list[Word]:
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
    form = _INFLECTION.sub("", low)
    return [Word(stem, form, VALUE_CLASSES.get(stem, named)) for stem in _stems(low)]


@lru_cache(maxsize=8192)
def _stems(word: str) -> tuple[str, ...]:
    return tuple(analyse(word).sequence)


def _starts_sentence(text: str, at: int) -> bool:
    before = text[:at].rstrip(" \"'(")
    return not before or _SENTENCE_END.search(before[-1:]) is not None
