"""What lifts a memory besides its own scores: its neighbours and its session, who said it, when, and how.

A short message often answers the one before it, so it takes a part of its neighbours' scores; a session that is about
the query lifts its messages; a query that names a person, a date, or asks "when" prefers what that person said, what
was told then, what holds a time. The weights were set by hand, in steps of 0.1, on the dev halves of LoCoMo and
LongMemEval; what each buys there and on the test halves stands in docs/benchmarks/retrieval.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, fields

from mnemic.retrieve.question import Question
from mnemic.types import Signals

BEST_OF_SESSION = 3
SHORT_WORDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalWeights:
    """What each sign adds to (or, for `asking`, takes from) a fused score; `importance` half of it either way."""

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
        """The most that all signs together can add to a fused score of 1, but for what few queries have (the anchor of
        a clause) and few memories (more than ordinary importance).
        """
        rare = self.asking + self.anchored + self.importance
        return sum(float(getattr(self, weight.name)) for weight in fields(self)) - rare


def with_signals(
    scores: Mapping[str, float], signals: Mapping[str, Signals], question: Question, weights: SignalWeights
) -> dict[str, float]:
    """The scores with what the signs add. A memory without signals keeps its score, and so does one that is no message
    of a conversation.
    """
    signals = {memory_id: one for memory_id, one in signals.items() if one.turn >= 0 and memory_id in scores}
    sessions = _session_scores(scores, signals)
    turns = {(one.session, one.turn): memory_id for memory_id, one in signals.items() if _linkable(one)}
    lifted = dict(scores)
    for memory_id, one in signals.items():
        lifted[memory_id] += _neighbours(one, turns, scores, weights) + _own(one, question, weights)
        lifted[memory_id] += weights.session * sessions[one.session]
    return lifted


def _linkable(one: Signals) -> bool:
    return one.cues.words <= SHORT_WORDS


def _neighbours(
    one: Signals, turns: Mapping[tuple[str | None, int], str], scores: Mapping[str, float], weights: SignalWeights
) -> float:
    if not _linkable(one):
        return 0.0
    before, after = turns.get((one.session, one.turn - 1), ""), turns.get((one.session, one.turn + 1), "")
    return weights.previous * scores.get(before, 0.0) + weights.following * scores.get(after, 0.0)


def _session_scores(scores: Mapping[str, float], signals: Mapping[str, Signals]) -> dict[str | None, float]:
    """Of each session with messages among the candidates, the mean of its three best scores; missing ones count 0."""
    found: dict[str | None, list[float]] = defaultdict(list)
    for memory_id, one in signals.items():
        found[one.session].append(scores[memory_id])
    return {
        session: sum(sorted(values, reverse=True)[:BEST_OF_SESSION]) / BEST_OF_SESSION
        for session, values in found.items()
    }


def _own(one: Signals, question: Question, weights: SignalWeights) -> float:
    lift = weights.oneself * one.cues.oneself - weights.asking * one.cues.asking
    if question.asks_when and one.cues.timed:
        lift += weights.when
    if one.speaker in question.speakers:
        lift += weights.speaker
    if question.tells(one.happened_at.date()):
        lift += weights.told
    return lift
