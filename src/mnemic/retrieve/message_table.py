"""The messages of one search as arrays, a row for each: made once, read by everything that ranks them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Self

import numpy as np
import numpy.typing as npt

from mnemic.retrieve.question import ROLES, Question
from mnemic.types import Signals

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
