"""Signals that boost a memory in addition to its own scores: neighbours, session, speaker, time and wording.

A short message often answers the one before it, so it receives part of its neighbours' scores; a session about the
query boosts its messages; a query with a name, a date or "when" prefers messages of that person, of that time, or with
a time in them. The weights were set by hand, in steps of 0.1, on the dev halves of LoCoMo and LongMemEval;
bench/retrieval.md has the gain of each there and on the test halves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from mnemic.retrieve.message_table import Floats, MessageTable
from mnemic.retrieve.question import Question
from mnemic.types import Rank, Signals

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
