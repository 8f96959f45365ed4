"""Memory of the event by which a query gives its time, and the memories on the requested side of it.

The clause is searched like a sub-query; its best hit is the anchor, and its time the event's, if the hit clearly
concerns the clause. Memories of the day of the event count on every side: the cause of a move, and its consequences,
are mostly mentioned with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from mnemic.language.questions.times import Clause, Side
from mnemic.language.text.analyse import terms
from mnemic.ports import Snapshot
from mnemic.retrieve.question import Question
from mnemic.retrieve.relevance import relevance
from mnemic.types import Scored, Signals, Where

ANCHORED = "anchored"
"""Name of the move by the event, among the ranks."""
CLEAR = 0.5
"""The relevance from which on the clause counts as known: more likely than not."""
COVERED = 0.5
"""Share of the clause's words that the hit must contain if their rarity is little or no evidence, as among few
memories.
"""
_SLACK = 1.5
"""Tolerance of a stated span ("the week before"): how much longer it may have been."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeAnchor:
    """Memory of the event, its time, and the requested side of it."""

    memory_id: str
    moment: datetime
    clause: Clause

    def tells(self, memory_id: str, happened_at: datetime) -> bool:
        """Return True if a memory of that time is on the requested side; days are those of UTC. The anchor itself is
        neither before nor after.
        """
        apart = (happened_at.date() - self.moment.date()).days
        if self.clause.side is Side.DURING:
            # A day later still counts as during: people report in the evening, or on the day after.
            return 0 <= apart <= 1
        if self.clause.side is Side.BEFORE:
            apart = -apart
        within = self.clause.days is None or apart <= _SLACK * self.clause.days
        return memory_id != self.memory_id and apart >= 0 and within


async def anchor_of(
    clause: Clause,
    asked: Question,
    lists: Mapping[str, Sequence[Scored]],
    scores: Mapping[str, float],
    signals: Mapping[str, Signals],
    model: str,
    where: Where,
    snapshot: Snapshot,
) -> TimeAnchor | None:
    """Return the anchor of `clause`: the best of `scores`, which `lists` made for it (`asked`), if it is clearly about
    it.
    """
    known = {memory_id: score for memory_id, score in scores.items() if memory_id in signals}
    if not known:
        return None
    # The id breaks ties, so that the same question always gets the same anchor.
    best = max(known, key=lambda memory_id: (known[memory_id], memory_id))
    clear = (relevance(lists, asked, model) or 0.0) >= CLEAR or await _covers(best, asked, where, snapshot)
    return TimeAnchor(memory_id=best, moment=signals[best].happened_at, clause=clause) if clear else None


async def _covers(memory_id: str, asked: Question, where: Where, snapshot: Snapshot) -> bool:
    """Return True if the memory contains enough of the words of the query."""
    found = await snapshot.get_many([memory_id], scopes=where.scopes)
    wanted = set(terms(asked.keywords))
    shared = wanted & set(terms(found[memory_id].content)) if memory_id in found else set()
    return len(shared) >= COVERED * len(wanted)


def raise_anchored(
    scores: Mapping[str, float], signals: Mapping[str, Signals], anchor: TimeAnchor | None, weight: float
) -> Mapping[str, float]:
    """Return the scores, raised by `weight` on the requested side of the anchor; nothing is lowered."""
    if anchor is None:
        return scores
    lifted = dict(scores)
    for memory_id in scores.keys() & signals.keys():
        lifted[memory_id] += weight * anchor.tells(memory_id, signals[memory_id].happened_at)
    return lifted
