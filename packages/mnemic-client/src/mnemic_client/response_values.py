"""Answers of the service, as the library's own values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
    Relation,
    Skipped,
    WriteReceipt,
    from_json,
)
from mnemic.types.search import Rank
from mnemic.types.trace import RunReport, RunStatus, UseAudit

Json = Mapping[str, Any]
STOPPED_ON = ("raw_intent", "invalid_used_memory_keys", "retrieved_keys")


def hit_of(said: Json) -> Hit:
    """Return a hit."""
    ranks = {name: Rank(rank["position"], rank["score"]) for name, rank in said["ranks"].items()}
    fields = {name: said[name] for name in ("score", "reason", "relevance", "why", "outdated_by") if name in said}
    disagrees_with = tuple(said.get("disagrees_with", ()))  # servers before this field have none
    return Hit(memory=from_dict(said["memory"]), ranks=ranks, disagrees_with=disagrees_with, **fields)


def receipt_of(said: Json) -> WriteReceipt:
    """Return the outcome of a write."""
    return from_json(WriteReceipt, said)


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


def neighbour_of(said: Json) -> Neighbour:
    """Return a named thing and the way to it."""
    node = {name: value for name, value in said.items() if name not in ("hops", "path")}
    return Neighbour(node=from_json(Node, node), path=tuple(from_json(Relation, one) for one in said["path"]))
