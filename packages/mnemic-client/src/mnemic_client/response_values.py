"""Answers of the service, as the library's own values."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from mnemic.kinds.episodic import Episode, Lesson, Step
from mnemic.kinds.retrieval import KindHit
from mnemic.retrieve.export import from_dict
from mnemic.types import (
    Blocked,
    Cost,
    Hit,
    Kind,
    MemoryRequest,
    Neighbour,
    Node,
    Outcome,
    Relation,
    Skipped,
    WriteReceipt,
    from_json,
)
from mnemic.types import Step as WriteStep
from mnemic.types.search import Rank
from mnemic.types.trace import RunReport, RunStatus, UseAudit

Json = Mapping[str, Any]
STOPPED_ON = ("raw_intent", "invalid_used_memory_keys", "retrieved_keys")


def moment(text: str | None) -> datetime | None:
    """Return a time of an answer."""
    return None if text is None else datetime.fromisoformat(text)


def hit_of(said: Json) -> Hit:
    """Return a hit."""
    ranks = {name: Rank(rank["position"], rank["score"]) for name, rank in said["ranks"].items()}
    fields = {name: said[name] for name in ("score", "reason", "relevance", "why", "outdated_by") if name in said}
    disagrees_with = tuple(said.get("disagrees_with", ()))  # servers before this field have none
    return Hit(memory=from_dict(said["memory"]), ranks=ranks, disagrees_with=disagrees_with, **fields)


def receipt_of(said: Json) -> WriteReceipt:
    """Return the outcome of a write."""
    plain = ("memory_id", "version", "key", "level", "reason", "durable", "replayed")
    lists = ("superseded", "conflicts_with", "clamped", "degraded", "warnings")
    fields: dict[str, Any] = {name: said[name] for name in plain} | {name: tuple(said[name]) for name in lists}
    steps = tuple(WriteStep(**step) for step in said["steps"])
    return WriteReceipt(**fields, outcome=Outcome(said["outcome"]), steps=steps)


def kind_hit_of(said: Json) -> KindHit:
    """Return a hit of any kind."""
    memory = None if said["memory"] is None else from_dict(said["memory"])
    fields = {name: said[name] for name in ("content", "score", "key")}
    return KindHit(kind=Kind(said["kind"]), memory=memory, **fields)


def report_of(said: Json) -> RunReport:
    """Return the report of a run."""
    lists = ("used_memory_keys", "applied_memory", "memory_state", "errors", "trace", "history")
    return RunReport(
        run_id=said["run_id"],
        status=RunStatus(said["status"]),
        stop_reason=said["stop_reason"],
        phase=said.get("phase"),
        outcome=said["outcome"],
        answer=said["answer"],
        basis=said.get("basis"),
        stopped_on={name: said[name] for name in STOPPED_ON if name in said},
        receipts=tuple(receipt_of(receipt) for receipt in said["receipts"]),
        hits=tuple(hit_of(hit) for hit in said.get("hits") or ()),
        blocked=tuple(from_json(Blocked, one) for one in said.get("blocked") or ()),
        skipped=tuple(Skipped(reason=one["reason"], key=one["key"]) for one in said["skipped"]),
        asked=tuple(MemoryRequest.from_dict(one) for one in said.get("asked") or ()),
        audit=UseAudit.from_dict(said["audit"]),
        cost=Cost(**said.get("cost", {})),
        **{name: tuple(said[name]) for name in lists},
    )


def episode_of(said: Json) -> Episode:
    """Return an episode."""
    happened_at = moment(said["happened_at"])
    assert happened_at is not None
    return Episode(
        memory_id=said["memory_id"],
        task=said["task"],
        steps=tuple(Step(**step) for step in said["steps"]),
        outcome=said["outcome"],
        happened_at=happened_at,
        feedback=tuple(said["feedback"]),
        score=said["score"],
    )


def lesson_of(said: Json) -> Lesson:
    """Return what failed before, and what worked instead."""
    return Lesson(**said)


def node_of(said: Json) -> Node:
    """Return a named thing."""
    return Node(
        node=said["node"],
        name=said["name"],
        label=said["label"],
        aliases=tuple(said["aliases"]),
        first_seen_at=moment(said["first_seen_at"]),
        last_seen_at=moment(said["last_seen_at"]),
    )


def relation_of(said: Json) -> Relation:
    """Return a relation, with the memory that states it."""
    return Relation(
        **{**said, "valid_from": moment(said["valid_from"]), "valid_to": moment(said["valid_to"])},
    )


def neighbour_of(said: Json) -> Neighbour:
    """Return a named thing and the way to it."""
    return Neighbour(node=node_of(said), path=tuple(relation_of(one) for one in said["path"]))
