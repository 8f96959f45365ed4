"""Changes by a message of several sentences: one of its clauses must state the change.

A long message contains a word of change, an ending or a number almost always, and shares words with anything said on
its topic. Taken together they look like a change, although the word of change is in one sentence and the shared words
in another: "I cancelled the bookshelf. We still have to carry it up 7 floors." ends nothing else that is carried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from mnemic.language.changes.agreement import agree
from mnemic.language.changes.change_bounds import changes_nothing
from mnemic.language.changes.change_classifier import LONG, judge
from mnemic.language.changes.change_evidence import is_certain_or_evident
from mnemic.language.changes.changes_in_one_conversation import LATELY_COMPARED, names_matter
from mnemic.language.changes.statement_parts import frames_of_parts
from mnemic.language.frames.back_references import refers_back
from mnemic.language.frames.frame_expressions import PAST
from mnemic.language.frames.statement_frame import Frame, relation_stems, stem

MAX_NEAR = 0.7
"""Cosine assumed of two clauses: that of their messages says nothing about them."""
MAX_CLAUSES, MAX_JUDGED = 16, 32
"""Maximum clauses of a message that are compared, and maximum pairs of clauses of two messages that are judged: all
pairs of two messages of 4,000 characters take seconds.
"""


@dataclass(frozen=True, slots=True)
class _Clause:
    """A clause, and the one that it continues: that of which it says more ("The warranty ends in May")."""

    frame: Frame
    head: Frame | None
    points: bool
    """True if a pronoun refers to the one before: "It weighs 4 kilos"."""


def is_changed_by_a_clause(old: Frame, new: Frame, *, among: int, one_talk: bool) -> bool:
    """Return True if a clause of `new` changes a clause of `old`, or if both are single short sentences."""
    if _is_one_sentence(new) and _is_one_sentence(old):
        return True
    telling = [one for one in _clauses(new.text) if not changes_nothing(one.frame)][:MAX_CLAUSES]
    pairs = ((known, later) for later in telling for known in _clauses(old.text)[:MAX_CLAUSES])
    alike = (pair for pair in pairs if _is_about_the_same(*pair))
    return any(_changes(known.frame, later.frame, among, one_talk) for known, later in islice(alike, MAX_JUDGED))


@lru_cache(maxsize=LATELY_COMPARED)
def turning_stems(new: Frame) -> frozenset[str]:
    """Return the stems of the clauses of a message that have a word of change; of all of it if it is one sentence."""
    if _is_one_sentence(new):
        return new.stems
    return frozenset().union(*[one.frame.stems for one in _clauses(new.text) if one.frame.turns])


def _is_one_sentence(frame: Frame) -> bool:
    """Return True for a single sentence of no more content words than a short one; "Dr." is none."""
    return len(frame.stems) < LONG and sum([" " in said for said in frame.said]) < 2


def _changes(known: Frame, later: Frame, among: int, one_talk: bool) -> bool:
    change = judge(known, later, MAX_NEAR, among=among)
    return change is not None and is_certain_or_evident(known, later, change.probability, one_talk=one_talk)


def _is_about_the_same(known: _Clause, later: _Clause) -> bool:
    """Return True if two clauses are of one matter, and so are the ones that they continue."""
    one, other = known.frame, later.frame
    if other.addresses and not other.own and one.own:
        return False  # it is about the listener
    if not agree(one, other) and (one.stems.isdisjoint(other.stems) or not names_matter(one, other)):
        return False
    if not (known.points or later.points or (known.head and later.head)):
        return True
    one, other = known.head or one, later.head or other
    verbs = {stem(found.rpartition(" ")[2]) for found in PAST.findall(one.plain)}
    return not (one.stems & other.stems) <= (one.names | relation_stems() | verbs)


@lru_cache(maxsize=LATELY_COMPARED)
def _clauses(text: str) -> Sequence[_Clause]:
    """Return the clauses of the sentences of a text; the text itself if it states one thing."""
    return tuple(_headed(part for said in Frame(text).said for part in (frames_of_parts(said) or (Frame(said),))))


def _headed(frames: Iterator[Frame]) -> Iterator[_Clause]:
    head = None
    for frame in frames:
        # A sentence without a word for the speaker continues the one before it.
        points = refers_back(frame.text)
        continues = head is not None and (points or not frame.own)
        yield _Clause(frame, head if continues else None, points)
        head = head if continues else frame
