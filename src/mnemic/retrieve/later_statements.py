"""Order of statements of which a later one tells otherwise: the later one first.

Messages are stored verbatim, so a message of March is still found after it was withdrawn in May; and what the write
path kept beside each other in doubt is found together. Among the best hits of a search, a hit that a later statement of
the same person replaces, or of which it tells a change, is moved after that one, and the later one takes its place.
The words decide as they do when something is written (`mnemic.language.comparison`). Where they decide nothing, of two
statements that are alike the newer one stands first; nothing is called outdated by that.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnemic.language.comparison import (
    How,
    Known,
    compare,
    contests,
    is_safety,
    shared_content,
    tells_change,
    tells_change_of,
)
from mnemic.language.questions.word_fields import language_asked_in
from mnemic.language.text.normalise import plain
from mnemic.retrieve.candidate_lists import UNRELATED_IN_OTHERS, rescale
from mnemic.retrieve.content_judgement import is_question as only_asks
from mnemic.retrieve.diversity import Entry, repetitions
from mnemic.retrieve.policy_candidates import PINNED
from mnemic.retrieve.question import Question
from mnemic.types import Kind, Memory, Status, Vector, VectorSpace
from mnemic.types.memory import A_BREATH
from mnemic.types.recall_limits import read

COMPARED = 24
"""Number of the best hits that are compared with each other."""
LEAST_COSINE = 0.3
"""Cosine from which two statements are compared for a change that the words tell."""
LEAST_LIKENESS = 0.1
"""The same for the order of two that are alike."""
LIKENESS, CHANGE, CHANGE_OF_IT, ANSWERS, LEAST_EVIDENCE = 5.0, 1.0, 2.5, 1.0, 3.0
"""Evidence that a later statement is the newer form of an earlier one: a point of cosine between them, a word of change
in the later one, such a word and a word of meaning in common, and the natural logarithm of how much nearer to the
question it is than the earlier one; and how much is enough. A logistic fit to labelled changes and to plain questions
that the older of two statements answers, rounded (bench/retrieval.md).
"""
LEAST_NEARNESS = 0.05
"""Added to both cosines with the question, so that two that are hardly near do not differ."""
GENERATIONS = 4
"""Changes of a statement, one after the other, that are followed back from the latest."""
MIN_SHARE = 0.25
"""Share of a message that a statement must make up so that the whole of it counts as outdated."""
LONGEST, LONGEST_REQUEST = 300, 160
"""Length in characters up to which a message is compared. A longer one states many things and mostly asks for help with
them: nine in ten changes found in such messages were wrong (bench/retrieval.md).
"""
_REQUEST = re.compile(r"\?|\b(?:can|could|would) you\b|\bhelp me\b", re.IGNORECASE)
READ_TOGETHER, NEAR_ENOUGH, MOST_PAIRS = 5, 0.2, 3
"""First statements of which pairs are judged, the cosine from which two are, and the most pairs: each takes 3 to 6 ms
of the processor.
"""
NEWER = -2.3
"""Logarithm of the odds, by the judge, from which the later of two is the newer form in what is asked. Half of what it
was trained on was no change at all, so its odds are low.
"""
NO_MEMORIES: Mapping[str, Memory] = MappingProxyType({})
NOTHING_NEWER: Mapping[str, str] = MappingProxyType({})
Changes = Mapping[tuple[str, str], float]
"""Logarithms of the odds that a statement ends or replaces an earlier one, by the memory_ids of this and that."""
NONE_JUDGED: Changes = MappingProxyType({})
NOTE = "note"
"""Category of a part of a page; its context, the headings above it, says what it is about."""
AIDES = frozenset({"assistant", "tool"})
"""Speakers whose words are not the user's."""
_KINDS = frozenset({Kind.LONG_TERM, Kind.EPISODIC})
# The smallest step that scores, which are rounded to six digits, still show.
_STEP = 1e-6


def find_outdated(
    memories: Sequence[Memory], closed: Mapping[str, Memory] = NO_MEMORIES, space: VectorSpace | None = None
) -> dict[str, str]:
    """Return, for each memory that a later one replaces or tells a change of, the memory_id of the latest such memory.

    `closed` are the memories they superseded, directly or indirectly, by memory_id; a message that only repeats one of
    these is outdated as well. `space` is that of their vectors.
    """
    ordered = sorted((one for one in memories if _is_comparable(one)), key=_moment)
    # Vectors of two models cannot be compared.
    if len(ordered) < 2 or len({len(one.vector or b"") for one in ordered}) > 1:
        return {}
    cosines = _cosines([one.vector or b"" for one in ordered])
    if space is not None and space.scale:
        cosines = np.array([[read(space, cosine) for cosine in row] for row in cosines.tolist()])
    near = _pairs(ordered) & (cosines >= LEAST_COSINE)
    found: dict[str, str] = {}
    for place, later in enumerate(ordered):
        if later.supersedes:
            found |= {
                earlier.memory_id: later.memory_id
                for earlier in ordered[:place]
                if _is_source_of_closed(earlier, later, closed)
            }
        for before in near[:, place].nonzero()[0].tolist():
            earlier = ordered[before]
            if _tells_otherwise(earlier, later) and not _are_of_same_words(earlier, later):
                found[earlier.memory_id] = later.memory_id
    return found


def _tells_otherwise(earlier: Memory, later: Memory) -> bool:
    """Return True if the words of a later memory end or replace an earlier one; of two statements also if they tell a
    change of what the earlier one is about. Of messages, which say much in passing, that was wrong too often.
    """
    known = _known(earlier)
    evidence = compare(known, later.content)
    if evidence is not None:
        return evidence.how is not How.SAME and evidence.named
    return Kind.EPISODIC not in (earlier.kind, later.kind) and tells_change_of(known, later.content)


def _known(memory: Memory) -> Known:
    return Known(memory.content, memory.key, is_safety(memory.content, memory.key))


def latest_first(
    entries: Sequence[Entry],
    memories: Mapping[str, Memory],
    closed: Mapping[str, Memory] = NO_MEMORIES,
    space: VectorSpace | None = None,
    newer: Mapping[str, str] = NOTHING_NEWER,
) -> tuple[list[Entry], Mapping[str, str]]:
    """Return `entries`, best first, with those that a later one outdates or a `newer` one disagrees with after it, and
    which outdates which.
    """
    compared = [memories[one] for one, _, reason in entries[:COMPARED] if reason != PINNED and one in memories]
    found = find_outdated(compared, closed, space)
    newer = {**newer, **found}
    if not newer:
        return list(entries), found
    scores = {memory_id: score for memory_id, score, _ in entries}
    for one in sorted(compared, key=_moment):
        later = newer.get(one.memory_id)
        # Only raised above the outdated one, never higher: the rest of the order stays.
        if later is not None and scores[later] <= scores[one.memory_id]:
            scores[later] = scores[one.memory_id] + _STEP
    changed = [(memory_id, scores[memory_id], reason) for memory_id, _, reason in entries]
    return sorted(changed, key=lambda entry: (entry[2] == PINNED, entry[1]), reverse=True), found


def _are_of_same_words(one: Memory, other: Memory) -> bool:
    """Return True if one was read from the words of the other, or both from the same words."""
    first, said = _plain_words(one.content, one.source.quote or one.content)
    second, said_too = _plain_words(other.content, other.source.quote or other.content)
    return bool(first and second) and (first in said_too or second in said or first == second)


@lru_cache(maxsize=4096)
def _plain_words(content: str, quote: str) -> tuple[str, str]:
    """Return the words that a memory was read from, and those of its content, in plain letters."""
    return plain(quote).strip(" .,;:!?"), plain(content)


def disagreeing(memories: Iterable[Memory]) -> dict[str, tuple[str, ...]]:
    """Return, for each memory that gives a value where another valid one of equal trust gives a different one, the
    memory_ids of those, the latest first. Nothing is closed by it: there may be a second dog.
    """
    stating = [one for one in memories if _is_comparable(one) and one.status is Status.ACTIVE]
    ordered = sorted(stating, key=_moment)
    found: dict[str, list[Memory]] = {}
    stated = [_stated(one.content, one.key) for one in ordered]
    for before, at in np.argwhere(_apart(ordered)).tolist():
        earlier, later = ordered[before], ordered[at]
        if earlier.trust != later.trust:
            continue
        if contests(stated[before], stated[at]) and not _are_of_same_words(earlier, later):
            found.setdefault(later.memory_id, []).append(earlier)
            found.setdefault(earlier.memory_id, []).append(later)
    return {
        memory_id: tuple(one.memory_id for one in sorted(others, key=_moment, reverse=True))
        for memory_id, others in found.items()
    }


_stated = lru_cache(maxsize=4096)(Known)


def pairs_to_judge(memories: Sequence[Memory]) -> list[tuple[Memory, Memory]]:
    """Return the pairs of an earlier and a later statement, among the first of `memories`, of which the later may have
    ended or replaced the earlier.
    """
    ordered = sorted(_told_first(memories), key=_moment)
    if len(ordered) < 2 or len({len(one.vector or b"") for one in ordered}) > 1:
        return []
    alike = _apart(ordered) & (_cosines([one.vector or b"" for one in ordered]) >= NEAR_ENOUGH)
    found = [(ordered[before], ordered[at]) for before, at in np.argwhere(alike).tolist()]
    place = {one.memory_id: number for number, one in enumerate(memories)}
    found.sort(key=lambda pair: sorted(place[one.memory_id] for one in pair))
    if not any(one.kind is Kind.EPISODIC for one in memories[:COMPARED]):
        # Statements alone keep their order: where the later one stands first, there is nothing to judge.
        found = [pair for pair in found if place[pair[0].memory_id] < place[pair[1].memory_id]]
    return [(one, two) for one, two in found if not _are_one_or_two(one, two)][:MOST_PAIRS]


def _told_first(memories: Sequence[Memory]) -> list[Memory]:
    """Return the first of `memories` that are somebody's own words, without messages that statements stand for."""
    active = [one for one in memories[:COMPARED] if one.status is Status.ACTIVE and _is_comparable(one)]
    repeated = repetitions(active)
    told = (one for one in active if one.memory_id not in repeated and not only_asks(one))
    return list(islice(told, READ_TOGETHER))


def _are_one_or_two(earlier: Memory, later: Memory) -> bool:
    """Return True for two statements of the same words, or plainly of two things: no change either way."""
    return _are_of_same_words(earlier, later) or _are_of_two(earlier.content, later.content)


def newest_of(
    memories: Iterable[Memory], question: Question | None = None, changes: Changes = NONE_JUDGED
) -> dict[str, str]:
    """Return, for each of `memories` that a later one of the same person disagrees with, or may be the
    newer form of, the memory_id of the latest of those. Which of them holds nobody can tell by the words alone: the
    newer is the better guess, unless it is much farther from the `question`. Without one only what gives another value
    counts, as for a later message: people say much in passing.
    """
    told = [one for one in memories if _is_comparable(one) and one.status is Status.ACTIVE]
    statements = [one for one in told if one.kind is Kind.LONG_TERM]
    messages = [one for one in told if one.kind is Kind.EPISODIC]
    sources = {one.memory_id: [each for each in statements if _are_of_same_words(one, each)] for one in messages}
    repeated = repetitions(told)
    own = [one for one in told if one.memory_id not in repeated]
    ordered = sorted(own, key=_moment)
    apart, likely = _apart(ordered), _Likeness.of(ordered, question)
    possible = likely.may_be_newer.tolist()
    stated = [_stated(one.content, one.key) for one in ordered]
    found: dict[str, str] = {}
    for before, earlier in enumerate(ordered):
        # From the newest: the first that is found is the latest.
        for at in apart[before].nonzero()[0][::-1].tolist():
            later = ordered[at]
            judged = changes.get((earlier.memory_id, later.memory_id))
            if judged is not None:
                newer = judged > NEWER
            else:
                newer = possible[before][at] and likely.is_newer_form(later, at, earlier, before)
            if (newer or contests(stated[before], stated[at])) and not _are_of_same_words(earlier, later):
                found[earlier.memory_id] = later.memory_id
                break
    later_of = {one.memory_id: one for one in own}
    for message in messages:
        for statement in sources[message.memory_id]:
            newest = found.get(statement.memory_id)
            if newest is not None and _moment(message) < _moment(later_of[newest]):
                found[message.memory_id] = newest
    return found


Matrix = NDArray[Any]
"""A value for each pair of memories; the earlier one first."""


def _cosines(vectors: Sequence[Vector]) -> Matrix:
    """Return the cosine of each with each; the vectors are of one length."""
    rows = np.frombuffer(b"".join(vectors), np.float32).reshape(len(vectors), -1)
    return rows @ rows.T


def _pairs(ordered: Sequence[Memory]) -> Matrix:
    """Return which of memories, in the order of their time, may supersede which earlier one: same speaker, equal or
    higher trust.
    """
    at = np.arange(len(ordered))
    pairs: Matrix = at[:, None] < at
    # Most memories of a search are of one person: what all have in common needs no column.
    owners = [(one.author, *_place(one)) for one in ordered]
    if len(set(owners)) > 1:
        pairs &= (own := _numbers(owners))[:, None] == own
    if len({one.trust for one in ordered}) > 1:
        pairs &= (trust := np.array([one.trust for one in ordered]))[:, None] <= trust
    said_by = [one.source.speaker or "user" for one in ordered]
    if len(set(said_by)) > 1 or not AIDES.isdisjoint(said_by):
        # An assistant's words do not change the user's facts, although the user may correct the assistant.
        aide, spoken = np.array([one in AIDES for one in said_by]), _numbers(said_by)
        pairs &= ((spoken[:, None] == spoken) | aide[:, None]) & ~aide
    if any(one.category == NOTE for one in ordered):
        # The budget of the boat does not follow on that of the kitchen.
        note, context = np.array([one.category == NOTE for one in ordered]), _numbers([one.context for one in ordered])
        pairs &= (context[:, None] == context) | ~(note[:, None] | note)
    return pairs


def _apart(ordered: Sequence[Memory]) -> Matrix:
    """Return the pairs of `_pairs` that were said at different times: two dogs named in one breath are two dogs."""
    at = _numbers(_breaths(ordered))
    pairs: Matrix = _pairs(ordered) & (at[:, None] < at)
    return pairs


def _breaths(ordered: Sequence[Memory]) -> list[datetime]:
    """Return when each of memories, in the order of their time, was said: what was read from one message that names no
    time, and so written one after the other, at the time of the first of it.
    """
    breaths: list[datetime] = []
    for one, before in zip(ordered, (None, *ordered), strict=False):
        together = (
            before is not None
            and one.occurred_at is None
            and before.occurred_at is None
            and one.source.span is not None
            and before.source.span is not None
            and one.source.session == before.source.session
            and one.created_at - before.created_at < A_BREATH
        )
        breaths.append(breaths[-1] if together else one.happened_at)
    return breaths


def _place(memory: Memory) -> tuple[str, ...]:
    scope = memory.scope
    return scope.tenant, scope.level, scope.owner


def _numbers(values: Sequence[Hashable]) -> Matrix:
    """Return a number for each value, the same for equal ones."""
    known = {value: number for number, value in enumerate(dict.fromkeys(values))}
    return np.array([known[value] for value in values], np.int64)


@dataclass(frozen=True, slots=True)
class _Likeness:
    """How much speaks for each later memory's being the newer form of an earlier one, its words apart: nothing, if the
    cosines with each other and with the question are unknown.
    """

    evidence: Matrix

    @classmethod
    def of(cls, memories: Sequence[Memory], question: Question | None) -> _Likeness:
        """Return the likeness of these."""
        vector = None if question is None else question.vector
        # Vectors of two models cannot be compared.
        if question is None or vector is None or any(len(one.vector or b"") != len(vector) for one in memories):
            return cls(np.full((len(memories), len(memories)), -np.inf))
        cosines = _cosines([vector, *(one.vector or b"" for one in memories)]).astype(np.float64)
        if language_asked_in(question.text) is not None:
            cosines = np.array([[rescale(cosine, UNRELATED_IN_OTHERS) for cosine in row] for row in cosines.tolist()])
        among, nearness = cosines[1:, 1:], np.log(np.maximum(cosines[0, 1:], 0.0) + LEAST_NEARNESS)
        evidence = LIKENESS * among + ANSWERS * (nearness - nearness[:, None])
        return cls(np.where(among < LEAST_LIKENESS, -np.inf, evidence))

    @property
    def may_be_newer(self) -> Matrix:
        """The pairs for which the most that words can say would be enough."""
        possible: Matrix = self.evidence > LEAST_EVIDENCE - CHANGE - CHANGE_OF_IT
        return possible

    def is_newer_form(self, later: Memory, at: int, earlier: Memory, before: int) -> bool:
        """Return True if likeness, the words and how near both are to the question speak for the later statement's
        being the newer form of the earlier one.
        """
        if later.kind is not Kind.LONG_TERM:  # people say much in passing: of a message only what was judged counts
            return False
        evidence = float(self.evidence[before, at])
        if tells_change(later.content):
            evidence += CHANGE + CHANGE_OF_IT * bool(shared_content(_known(earlier), later.content))
        return evidence > LEAST_EVIDENCE and not _are_of_two(earlier.content, later.content)


_DIGITS = re.compile(r"\d+")


def _are_of_two(one: str, other: str) -> bool:
    """Return True if two statements begin with one word and different names, numbers or identifiers after it: "Patient
    Olsen", "Parcel 3".
    """
    (first, *second), (other_first, *other_second) = one.split(None, 2)[:2], other.split(None, 2)[:2]
    if first != other_first:  # "Ship1", "Ship37"; not "850 euros"
        name = _DIGITS.sub("", first)
        return name != "" and name == _DIGITS.sub("", other_first)
    if second == other_second:
        return False
    return all(_names_a_thing(word) for word in (*second, *other_second))


def _names_a_thing(word: str) -> bool:
    return word[0].isupper() or any(sign.isdigit() or sign in "/@_" for sign in word)


def later_relevances(
    relevances: Mapping[str, float], passed: Mapping[str, str], newer: Mapping[str, str] = NOTHING_NEWER
) -> Mapping[str, float]:
    """Return the relevances (0 to 1) after raising the latest of several statements to the highest of theirs, and those
    that it outdates have no more than it had: a statement that is no longer true does not answer the question, its
    successor does. One that a `newer` statement merely disagrees with keeps its own.
    """
    if not passed and not newer:
        return relevances
    raised: dict[str, float] = {}
    lowered: dict[str, float] = {}
    for earlier, last in passed.items():
        # To the end of the chain: A was replaced by B, and B by C.
        while last in passed:
            last = passed[last]
        if earlier in relevances and last in relevances:
            raised[last] = max(raised.get(last, relevances[last]), relevances[earlier])
            lowered[earlier] = min(relevances[earlier], relevances[last])
    for earlier, last in newer.items():
        if earlier in relevances and last in relevances and last not in passed:
            raised[last] = max(raised.get(last, relevances[last]), relevances[earlier])
    return {**relevances, **raised, **lowered}


def put_later_first(
    entries: Sequence[Entry], relevances: Mapping[str, float], later: Mapping[str, str]
) -> tuple[list[Entry], Mapping[str, float]]:
    """Return the entries with each `later` one that stands behind what it outdates in the place of that, as relevant as
    that: messages and statements were put together by their relevance alone.
    """
    if not later:
        return list(entries), relevances
    order, shares = list(entries), dict(relevances)
    for entry in entries:
        earlier, _, reason = entry
        last = later.get(earlier) if reason != PINNED else None
        behind = next((one for one in order if one[0] == last), None)
        if behind is None or order.index(behind) < (place := order.index(entry)):
            continue
        order.remove(behind)
        order.insert(place, behind)
        if earlier in shares:
            shares[behind[0]] = shares[earlier]
    scores = (score for _, score, _ in entries)
    return [(one, score, reason) for (one, _, reason), score in zip(order, scores, strict=True)], shares


def _is_comparable(memory: Memory) -> bool:
    if memory.kind not in _KINDS or memory.vector is None:
        return False
    said = memory.content
    return len(said) <= LONGEST_REQUEST or (len(said) <= LONGEST and not _is_request(said))


@lru_cache(maxsize=4096)
def _is_request(said: str) -> bool:
    """Return True if a message asks for something; a search checks three times, and searches meet the same again."""
    return _REQUEST.search(said) is not None


def _is_source_of_closed(earlier: Memory, later: Memory, closed: Mapping[str, Memory]) -> bool:
    """Return True if `earlier` is the source message of the memory that `later` superseded."""
    if earlier.kind is not Kind.EPISODIC or _moment(earlier) >= _moment(later) or earlier.scope != later.scope:
        return False
    said = plain(earlier.content)
    olds = _before(later, closed)
    return any(
        old.source.session == earlier.source.session and _is_most_of(plain(old.source.quote or old.content), said)
        for old in olds
    )


def _before(later: Memory, closed: Mapping[str, Memory]) -> list[Memory]:
    """Return the memories that a memory has superseded, directly and indirectly."""
    found: dict[str, Memory] = {}
    waiting = list(later.supersedes)
    while waiting:
        one = closed.get(waiting.pop())
        if one is not None and one.memory_id not in found:
            found[one.memory_id] = one
            waiting += one.supersedes
    return list(found.values())


def _is_most_of(part: str, said: str) -> bool:
    part = part.strip(" .,;:!?")
    return bool(part) and part in said and len(part) >= MIN_SHARE * len(said)


def _moment(memory: Memory) -> tuple[datetime, str]:
    return memory.happened_at, memory.memory_id
