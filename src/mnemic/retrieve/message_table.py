"""The messages of one search as arrays, a row for each: made once, read by everything that ranks them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Self

import numpy as np
import numpy.typing as npt

from mnemic.retrieve.question import Question
from mnemic.types import Signals

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]

TOP, MORE = 3, 8
"""Messages of a session whose mean is its score."""
LONGEST = 1 << 40
"""Turns of a session at most."""
STEPS = np.array([[-1], [1], [-2], [2]])
"""The message before, the one after, two before, two after."""


@dataclass(frozen=True, slots=True)
class MessageTable:
    """Row for each message, in the order of `rows`: the index of its session, its turn, its words, whether it is a
    question, is about its speaker or has a time, whether the person in question wrote it, and the part of the time in
    question in which it was written.
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

    @classmethod
    def of(cls, signals: Mapping[str, Signals], question: Question) -> Self:
        """`signals`: of messages alone."""
        if not signals:
            none = np.zeros(0)
            return cls({}, none.astype(np.int64), none.astype(np.int64), none, none, none, none, none, none)
        rows = {memory_id: row for row, memory_id in enumerate(signals)}
        _, times, sessions, turns, speakers, cues = zip(*signals.values(), strict=True)
        size, named = len(rows), question.speakers
        words, asking, oneself, timed = np.fromiter(chain.from_iterable(cues), np.float64, 4 * size).reshape(-1, 4).T
        spoken = np.fromiter(map(named.__contains__, speakers), np.float64, size) if named else np.zeros(size)
        chats, turn = _numbered(sessions), np.fromiter(turns, np.int64, size)
        return cls(rows, chats, turn, words, asking, oneself, timed, spoken, _of_time(question, times))

    def near(self, values: Floats, steps: npt.NDArray[np.int64] = STEPS) -> Floats:
        """Return a row for each of `steps`: of each message the value of the one so many turns on; 0 where none was
        found.
        """
        where = self.chats * LONGEST + self.turns
        order = np.argsort(where, kind="stable")
        ordered = where[order]
        wanted = where + steps
        place = np.minimum(ordered.searchsorted(wanted), len(ordered) - 1)
        near: Floats = np.where(ordered[place] == wanted, values[order[place]], 0.0)
        return near

    def sessions(self, values: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """For the session of each message: the mean of its best three, the best, the mean of its best eight (nothing
        for those that are missing), and the logarithm of how many were found.
        """
        order = np.lexsort((-values, self.chats))
        sizes = np.bincount(self.chats)
        starts = sizes.cumsum() - sizes
        ranks = np.arange(len(values)) - np.repeat(starts, sizes)
        best = values[order]
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
        order = np.lexsort((-values, self.chats))
        sizes = np.bincount(self.chats)
        starts = sizes.cumsum() - sizes
        first = np.arange(len(values)) - np.repeat(starts, sizes) < TOP
        means: Floats = (np.add.reduceat(np.where(first, values[order], 0.0), starts) / TOP)[self.chats]
        return means


def _numbered(sessions: Sequence[str | None]) -> Whole:
    """Return a number for the session of each message."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(sessions))}
    return np.fromiter(map(numbers.__getitem__, sessions), np.int64, len(sessions))


def _of_time(question: Question, times: Sequence[datetime]) -> Floats:
    if question.names_date is None and question.period is None:
        return np.zeros(len(times))
    return np.array([question.tells(at.date()) for at in times], np.float64)
