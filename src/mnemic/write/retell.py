"""The same told in other words: two statements compared place by place.

`mnemic.write.statement.beyond` asks whether one statement holds every word of the other. People seldom repeat
themselves so neatly: each telling leaves something out and puts something in. Two shapes are recognised, and both must
be free of every sign of opposition:

- **added**: word for word the same, but that either has something the other has not ("is playing cheerfully on the
  beach" and "is playing on the beach");
- **reworded**: told independently, at several places in other words, of which most agree. Where a single place differs
  the frame is the same and the difference is the point ("lives in Berlin", "lives in Munich"), so that needs three.

Neither shape says which text to keep: whoever merges on it keeps both, or the one that says more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain

from mnemic.write.statement import Statement, any_opposite
from mnemic.write.synonyms import BROADER
from mnemic.write.wording import QUALIFIERS, TURNING_WORDS, is_negative
from mnemic.write.words import Word, value_class

ADDED_AGREEMENT = 0.6
"""The part of the longer statement that must agree where one only adds to the other."""
REWORDED_PLACES = 3
REWORDED_SHARED = 7
REWORDED_AGREEMENT = 0.5
"""Number of places that must differ, number of words that must agree, and their share of the shorter statement. These
and the lists were set on the dev halves of the pairs in docs/benchmarks/write-quality.md.
"""

_NAMES = frozenset({"name", "person"})
_NUMBERS = frozenset({"number", "label"})


@dataclass(frozen=True, slots=True)
class Place:
    """One place at which two statements differ: what each has there that the other has not."""

    one: tuple[Word, ...]
    other: tuple[Word, ...]

    @property
    def contrast(self) -> bool:
        """True if both say something, so that it may be another thing."""
        return bool(self.one and self.other)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Agreement of two tellings: the number of words they have in common (or with their like), a flag for some of these
    in another tense, and the places at which the tellings differ.
    """

    one: Sequence[Word]
    other: Sequence[Word]
    shared: int
    retensed: bool
    places: tuple[Place, ...]

    @property
    def added(self) -> bool:
        """True if one only adds to the other, or each to the other at another place."""
        return (
            not self.retensed
            and not any(place.contrast for place in self.places)
            and self.shared >= ADDED_AGREEMENT * max(len(self.one), len(self.other))
            and not self._moved
            and not self._another_value
            and not any(_turns(word) or word.stem in QUALIFIERS for word in self._differing)
        )

    @property
    def reworded(self) -> bool:
        """True if they are two independent tellings of one thing."""
        return (
            len(self.places) >= REWORDED_PLACES
            and self.shared >= max(REWORDED_SHARED, REWORDED_AGREEMENT * min(len(self.one), len(self.other)))
            and not any(_valued(place.one, _NAMES) and _valued(place.other, _NAMES) for place in self.places)
            and not any(_turns(word) for word in self._differing if word.stem not in self._moved)
        )

    @property
    def opposed(self) -> bool:
        """True if the differing words include opposites, or another number or member of a class on either side."""
        mine = [word for place in self.places for word in place.one if word.stem not in self._moved]
        theirs = [word for place in self.places for word in place.other if word.stem not in self._moved]
        return (
            bool(_valued(mine, _NUMBERS) and _valued(theirs, _NUMBERS))
            or not _classes(mine).isdisjoint(_classes(theirs))
            or any_opposite(mine, theirs)
        )

    @property
    def _another_value(self) -> bool:
        """True if one adds a value of a class of which the other names one."""
        added = [(place.one, self.other) for place in self.places] + [(place.other, self.one) for place in self.places]
        return any(not _named(words).isdisjoint(_named(others)) for words, others in added)

    @property
    def _differing(self) -> list[Word]:
        return [word for place in self.places for word in chain(place.one, place.other)]

    @property
    def _moved(self) -> set[str]:
        """Stems that both say, at another place."""
        mine = {word.stem for place in self.places for word in place.one}
        return mine & {word.stem for place in self.places for word in place.other}


def retold(one: Statement, other: Statement) -> bool:
    """Return True if the two tell the same, each perhaps with an addition; in either order.

    Questions tell nothing. Both must deny the same things.
    """
    if not (one.comparable and other.comparable) or one.asks or other.asks or one.denied != other.denied:
        return False
    first, second = sorted((one, other), key=lambda told: (len(told.words), told.stems))
    found = _compared(first.words, second.words)
    return (found.added or found.reworded) and not found.opposed


def _compared(one: Sequence[Word], other: Sequence[Word]) -> Comparison:
    matcher = SequenceMatcher(None, [word.stem for word in one], [word.stem for word in other], autojunk=False)
    shared, retensed, places = 0, False, []
    for kind, begin, end, start, stop in matcher.get_opcodes():
        if kind == "equal":
            shared += end - begin
            retensed |= not all(map(Word.says, one[begin:end], other[start:stop]))
            continue
        mine, theirs = list(one[begin:end]), list(other[start:stop])
        shared += _paired_off(mine, theirs)
        if mine or theirs:
            places.append(Place(tuple(mine), tuple(theirs)))
    return Comparison(one, other, shared, retensed, tuple(places))


def _paired_off(mine: list[Word], theirs: list[Word]) -> int:
    """Take the words with a broader or narrower word on the other side off both; how many pairs."""
    pairs = 0
    for word in list(mine):
        like = next((one for one in theirs if _kin(word.stem, one.stem)), None)
        if like is not None:
            mine.remove(word)
            theirs.remove(like)
            pairs += 1
    return pairs


def _kin(one: str, other: str) -> bool:
    return one == other or other in BROADER.get(one, ()) or one in BROADER.get(other, ())


def _turns(word: Word) -> bool:
    return word.stem in TURNING_WORDS or is_negative(word.stem)


def _valued(words: Iterable[Word], classes: frozenset[str]) -> list[Word]:
    return [word for word in words if word.value in classes]


def _named(words: Iterable[Word]) -> set[str]:
    return {value_class(word) for word in words if word.value is not None}


def _classes(words: Iterable[Word]) -> set[str]:
    return {word.value for word in words if word.value is not None} - _NAMES - _NUMBERS
