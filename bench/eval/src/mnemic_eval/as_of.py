"""Questions asked as of an earlier day: only messages up to that day may be found.

Only questions whose evidence was given at different times are asked, as of the day before the last evidence. Evidence
given until then is relevant; every later message that is found is an error.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from mnemic.types import Message
from mnemic_eval.metrics import recall_at

_MOMENT = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """Reference time of a question, the evidence up to it, and the later messages."""

    as_of: datetime
    wanted: frozenset[str]
    later: frozenset[str]

    @classmethod
    def from_messages(cls, messages: Sequence[Message], evidence: Collection[str]) -> Earlier | None:
        """Return None if all evidence is in one conversation, or its time is unknown."""
        sent = {str(one.message_id): one.sent_at for one in messages if one.sent_at is not None}
        sessions = {str(one.message_id): one.session for one in messages}
        fields = {ref: sent[ref] for ref in evidence if ref in sent}
        if not fields:
            return None
        last = sessions[max(fields, key=lambda ref: fields[ref])]
        as_of = min(at for ref, at in sent.items() if sessions[ref] == last) - _MOMENT
        wanted = frozenset(ref for ref, at in fields.items() if at <= as_of)
        later = frozenset(ref for ref, at in sent.items() if at > as_of)
        return cls(as_of=as_of, wanted=wanted, later=later) if wanted else None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedEarlier:
    """Result of one question: the recall of the evidence, and the number of later messages found."""

    split: str
    recall: float
    later: int

    @classmethod
    def from_ranking(cls, split: str, earlier: Earlier, ranked: Sequence[str]) -> AskedEarlier:
        """Return the figures of the messages found, best first."""
        found = recall_at(ranked, earlier.wanted, 5)
        return cls(split=split, recall=found, later=len(earlier.later.intersection(ranked)))


def earlier_report(asked: Sequence[AskedEarlier]) -> Mapping[str, Any]:
    """Return `{"questions", "turn_recall@5", "later_found", "dev": {...}, "test": {...}}`; recall is None without
    questions.
    """
    halves = {half: _mean([one for one in asked if one.split == half]) for half in ("dev", "test")}
    return _mean(asked) | halves


def _mean(asked: Sequence[AskedEarlier]) -> dict[str, Any]:
    recall = round(sum(one.recall for one in asked) / len(asked), 4) if asked else None
    return {"questions": len(asked), "turn_recall@5": recall, "later_found": sum(one.later for one in asked)}
