"""Signals that boost a memory in addition to its own scores: neighbours, session, speaker, time and wording.

A short message often answers the one before it, so it receives part of its neighbours' scores; a session about the
query boosts its messages; a query with a name, a date or "when" prefers messages of that person, of that time, or with
a time in them. The weights were set by hand, in steps of 0.1, on the dev halves of LoCoMo and LongMemEval;
docs/benchmarks/retrieval.md has the gain of each there and on the test halves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType

import numpy as np

from mnemic.retrieve.message_table import Floats, MessageTable
from mnemic.retrieve.question import Question
from mnemic.types import Rank, Signals

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
        self.table = MessageTable.of(self.signals, question)
        self._own = np.array([scores[one] for one in self.signals])
        self._sessions = self.table.best_three(self._own) if self.signals else self._own
        # Only short messages depend on their neighbours ("Yes, the second one"); long ones are understood alone.
        self._linked = self.table.words <= SHORT_WORDS
        before, after = self._near() if self.signals else (self._own, self._own)
        self._before, self._after = before, after

    def _near(self) -> Floats:
        """Return the scores of the messages before and after each, where both are short."""
        linked = self._linked
        near = self.table.near(np.where(linked, self._own, 0.0), 2)
        return np.where(linked, near, 0.0)

    def of(self, memory_id: str) -> dict[str, float]:
        """Return the amount that each sign adds to the memory's score, by the sign's name."""
        row = self.table.rows.get(memory_id)
        if row is None:
            return {}
        weights, table = self._weights, self.table
        lifts = {
            "previous": weights.previous * float(self._before[row]),
            "following": weights.following * float(self._after[row]),
            "oneself": weights.oneself * float(table.oneself[row]),
            "asking": -weights.asking * float(table.asking[row]),
            "when": weights.when * float(table.timed[row]) * self._question.asks_when,
            "speaker": weights.speaker * float(table.spoken[row]),
            "told": weights.told * float(table.of_time[row]),
            "session": weights.session * float(self._sessions[row]),
        }
        return {name: lift for name, lift in lifts.items() if lift}

    def added(self) -> dict[str, float]:
        """Return the scores with the signals' boosts. A memory without signals keeps its score."""
        if not self.signals:
            return dict(self._scores)
        weights, table = self._weights, self.table
        added = weights.previous * self._before + weights.following * self._after  # the terms of `of` in its order
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
    return MessageBoosts(scores, signals, question, weights).added()


LEARNED = "learned"
"""Name of the learned order among the signs."""
UNMOVED: Mapping[str, Mapping[str, float]] = MappingProxyType({})


def sign_ranks(
    memory_ids: Sequence[str], lifts: MessageBoosts, moves: Mapping[str, Mapping[str, float]] = UNMOVED
) -> dict[str, dict[str, Rank]]:
    """Return for each memory the boost of each signal and of each of `moves` (the learned order and others, by name),
    and the rank of that boost among `memory_ids`.
    """
    added = {
        one: lifts.of(one) | {name: shifts[one] for name, shifts in moves.items() if shifts.get(one)}
        for one in memory_ids
    }
    ranks: dict[str, dict[str, Rank]] = {memory_id: {} for memory_id in memory_ids}
    for name in dict.fromkeys(name for lifts_of in added.values() for name in lifts_of):
        order = sorted((one for one in memory_ids if name in added[one]), key=lambda one: -added[one][name])
        for position, memory_id in enumerate(order, start=1):
            ranks[memory_id][name] = Rank(position, round(added[memory_id][name], 6))
    return ranks
