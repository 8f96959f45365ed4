"""Signals that boost a memory in addition to its own scores: neighbours, session, speaker, time and wording.

A short message often answers the one before it, so it receives part of its neighbours' scores; a session about the
query boosts its messages; a query with a name, a date or "when" prefers messages of that person, of that time, or with
a time in them. The weights were set by hand, in steps of 0.1, on the dev halves of LoCoMo and LongMemEval;
bench/retrieval.md has the gain of each there and on the test halves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from mnemic.retrieve.question import ROLES, Question
from mnemic.types import Rank, Signals

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]

TOP, MORE = 3, 8
"""Messages of a session that its score is the mean of."""
LONGEST = 1 << 40
"""Turns of a session at most."""
STEPS = np.array([[-1], [1], [-2], [2]])
"""The message before, the one after, two before, two after."""
ASSISTANT = "assistant"
_NAMELESS = frozenset({None, "", *ROLES})


@dataclass(frozen=True, slots=True)
class MessageTable:
    """Row for each message, in the order of `rows`: the index of its session, its turn, its words, whether it is a
    question, is about its speaker or has a time, whether the person in question wrote it, and how close it is to the
    time in question (`Question.closeness`). `neighbours` is the row of the message so many turns on for each of
    `STEPS`, the last row plus one if none was found. `between_people`: a named person wrote one of them, and no
    assistant did.
    """

    rows: Mapping[str, int]
    chats: Whole
    turns: Whole
    words: Floats
    asking: Floats
    oneself: Floats
    timed: Floats
    spoken: Floats
    of_time: Floats
    neighbours: Whole
    between_people: bool = True

    @classmethod
    def from_signals(cls, signals: Mapping[str, Signals], question: Question) -> Self:
        """`signals`: of messages alone."""
        if not signals:
            none, nowhere = np.zeros(0), np.zeros(0, np.int64)
            return cls({}, nowhere, nowhere, none, none, none, none, none, none, np.zeros((len(STEPS), 0), np.int64))
        rows = dict(zip(signals, range(len(signals)), strict=True))
        _, times, sessions, turns, speakers, cues = zip(*signals.values(), strict=True)
        size, named = len(rows), question.speakers
        words, asking, oneself, timed = np.fromiter(chain.from_iterable(cues), np.float64, 4 * size).reshape(-1, 4).T
        spoken = np.fromiter(map(named.__contains__, speakers), np.float64, size) if named else np.zeros(size)
        chats, turn = _number_sessions(sessions), np.fromiter(turns, np.int64, size)
        of_time, near, people = _of_time(question, times), _neighbours(chats, turn), _are_people(frozenset(speakers))
        return cls(rows, chats, turn, words, asking, oneself, timed, spoken, of_time, near, people)

    def neighbour_values(self, values: Floats, steps: int = len(STEPS)) -> Floats:
        """Return a row for each of the first `steps` of `STEPS`: of each message the value of the one so many turns on;
        0 if none was found.
        """
        near: Floats = np.append(values, 0.0)[self.neighbours[:steps]]
        return near

    def sessions(self, values: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """For the session of each message: the mean of its best three, the best, the mean of its best eight (nothing
        for those that are missing), and the logarithm of how many were found.
        """
        best, starts, sizes, ranks = self._best_first(values)
        each = (
            np.add.reduceat(np.where(ranks < TOP, best, 0.0), starts) / TOP,
            best[starts],
            np.add.reduceat(np.where(ranks < MORE, best, 0.0), starts) / MORE,
            np.log1p(sizes),
        )
        top, first, more, many = (one[self.chats] for one in each)
        return top, first, more, many

    def best_three(self, values: Floats) -> Floats:
        """Return the mean of the best three messages of each message's session; missing ones count as zero."""
        best, starts, _, ranks = self._best_first(values)
        means: Floats = (np.add.reduceat(np.where(ranks < TOP, best, 0.0), starts) / TOP)[self.chats]
        return means

    def _best_first(self, values: Floats) -> tuple[Floats, Whole, Whole, Whole]:
        """Return the values by session, the best of each first; the start of each session, its size, and the place of
        each value in its session.
        """
        best = values[np.lexsort((-values, self.chats))]
        sizes = np.bincount(self.chats)
        starts = sizes.cumsum() - sizes
        return best, starts, sizes, np.arange(len(values)) - starts.repeat(sizes)


def _are_people(speakers: frozenset[str | None]) -> bool:
    """Return True if a named person is among `speakers`, and no assistant."""
    return ASSISTANT not in speakers and not speakers <= _NAMELESS


def _neighbours(chats: Whole, turns: Whole) -> Whole:
    """Return `MessageTable.neighbours`."""
    where = chats * LONGEST + turns
    order = where.argsort(kind="stable")
    ordered = where[order]
    wanted = where + STEPS
    place = np.minimum(ordered.searchsorted(wanted), len(ordered) - 1)
    found: Whole = np.where(ordered[place] == wanted, order[place], len(ordered))
    return found


def _number_sessions(sessions: Sequence[str | None]) -> Whole:
    """Return a number for the session of each message."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(sessions))}
    return np.fromiter(map(numbers.__getitem__, sessions), np.int64, len(sessions))


def _of_time(question: Question, times: Sequence[datetime]) -> Floats:
    if question.names_date is None and question.period is None:
        return np.zeros(len(times))
    days = [at.date() for at in times]
    within = {day: question.closeness(day) for day in set(days)}  # many messages are of one day
    return np.fromiter(map(within.__getitem__, days), np.float64, len(days))


# Above it a message is understood without its neighbours; set with the weights on the dev halves.
SHORT_WORDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalWeights:
    """Points per sign, added to (or, for `asking`, taken from) a fused score; `importance` half of it either way."""

    previous: float = 0.1
    following: float = 0.2
    session: float = 0.2
    speaker: float = 0.3
    told: float = 0.2
    when: float = 0.1
    oneself: float = 0.1
    asking: float = 0.2
    anchored: float = 0.2
    importance: float = 0.1

    @property
    def most(self) -> float:
        """Return the most that all signals together can add to a fused score of 1, without those of few queries (the
        anchor of a clause) and of few memories (more than ordinary importance).
        """
        # Scores are divided by the most there can be: rare signals in it would lower the score of every other query.
        rare = self.asking + self.anchored + self.importance
        return sum(float(getattr(self, weight.name)) for weight in fields(self)) - rare


class MessageBoosts:
    """Amounts that the signs add to the scores of messages; a memory that is no message of a conversation has none."""

    def __init__(
        self, scores: Mapping[str, float], signals: Mapping[str, Signals], question: Question, weights: SignalWeights
    ) -> None:
        self.signals = {memory_id: one for memory_id, one in signals.items() if one.turn >= 0 and memory_id in scores}
        self._scores = scores
        self._question = question
        self._weights = weights
        self.table = MessageTable.from_signals(self.signals, question)
        self._own = np.array([scores[one] for one in self.signals])
        self._sessions = self.table.best_three(self._own) if self.signals else self._own
        # Only short messages depend on their neighbours ("Yes, the second one"); long ones are understood alone.
        self._linked = self.table.words <= SHORT_WORDS
        before, after = self._scores_of_neighbours() if self.signals else (self._own, self._own)
        self._before, self._after = before, after

    def _scores_of_neighbours(self) -> Floats:
        """Return the scores of the messages before and after each, if both are short."""
        linked = self._linked
        near = self.table.neighbour_values(np.where(linked, self._own, 0.0), 2)
        return np.where(linked, near, 0.0)

    def each(self, memory_ids: Sequence[str]) -> list[tuple[str, list[float]]]:
        """Return for each sign its name and the amount that it adds to the score of each of the memories."""
        rows = [self.table.rows.get(one, -1) for one in memory_ids]
        if not self.table.rows or max(rows, default=-1) < 0:
            return []
        weights, table = self._weights, self.table
        signs = (
            ("previous", weights.previous, self._before),
            ("following", weights.following, self._after),
            ("oneself", weights.oneself, table.oneself),
            ("asking", -weights.asking, table.asking),
            ("when", weights.when * self._question.asks_when, table.timed),
            ("speaker", weights.speaker, table.spoken),
            ("told", weights.told, table.of_time),
            ("session", weights.session, self._sessions),
        )
        chosen = np.array([sign for _, _, sign in signs])[:, rows] * (np.array(rows) >= 0)
        amounts = (np.array([weight for _, weight, _ in signs])[:, None] * chosen).tolist()
        return [(name, amount) for (name, _, _), amount in zip(signs, amounts, strict=True)]

    def add_boosts(self) -> dict[str, float]:
        """Return the scores with the signals' boosts. A memory without signals keeps its score."""
        if not self.signals:
            return dict(self._scores)
        weights, table = self._weights, self.table
        added = weights.previous * self._before + weights.following * self._after  # the terms of `each`, in its order
        added = added + weights.oneself * table.oneself
        added -= weights.asking * table.asking
        if self._question.asks_when:
            added += weights.when * table.timed
        added += weights.speaker * table.spoken
        added += weights.told * table.of_time
        added += weights.session * self._sessions
        return {**self._scores, **dict(zip(table.rows, (self._own + added).tolist(), strict=True))}


def with_signals(
    scores: Mapping[str, float], signals: Mapping[str, Signals], question: Question, weights: SignalWeights
) -> dict[str, float]:
    """Return the scores with the signals' boosts; see `MessageBoosts`."""
    return MessageBoosts(scores, signals, question, weights).add_boosts()


LEARNED = "learned"
"""Name of the learned order among the signs."""


class ScoreShift(NamedTuple):
    """Scores before and after a rule; only the shifts of memories that are shown are ever computed."""

    before: Mapping[str, float]
    after: Mapping[str, float]

    def each(self, memory_ids: Sequence[str]) -> list[float]:
        """Return the shift of each of the memories."""
        if self.before is self.after or not self.after:
            return []
        before, after = self.before, self.after
        return [after.get(one, 0.0) - before.get(one, 0.0) for one in memory_ids]


UNMOVED: Mapping[str, ScoreShift] = MappingProxyType({})


def sign_ranks(
    memory_ids: Sequence[str], lifts: MessageBoosts, moves: Mapping[str, ScoreShift] = UNMOVED
) -> dict[str, dict[str, Rank]]:
    """Return for each memory the boost of each signal and of each of `moves` (the learned order and others, by name),
    and the rank of that boost among `memory_ids`.
    """
    ranks: dict[str, dict[str, Rank]] = {memory_id: {} for memory_id in memory_ids}
    added = [*lifts.each(memory_ids), *((name, shift.each(memory_ids)) for name, shift in moves.items())]
    for name, amounts in added:
        order = sorted([(-amount, place) for place, amount in enumerate(amounts) if amount])
        position, last = 0, None
        for count, (amount, place) in enumerate(order, start=1):
            # Equal amounts get one place in any order of the hits, which differs between phrasings of a query.
            position, last = (position if amount == last else count), amount
            ranks[memory_ids[place]][name] = Rank(position, round(-amount, 6))
    return ranks
