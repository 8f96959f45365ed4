"""History of the memories of each run, from the audit: found, shown to the model, cited, verified.

A turn of an adapter is a run as well, for which the audit has the memories shown to the model. Identifiers, counts and
times only; never a word of a question, a memory or an answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from mnemic.engine.turn import RAN, record_run
from mnemic.inject.injection_log import INJECTED, injected_in
from mnemic.ports import RecordStore
from mnemic.types import Actor, AuditEvent
from mnemic.types.trace import UseAudit
from mnemic.write.revise import latest
from mnemic.write.turn_log import TurnTexts

__all__ = ["RAN", "RunRecord", "record_run", "run_dict", "run_of", "runs"]
OF_A_RUN = "run"
"""`by` of an injection that belongs to a run, which has a separate line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One run: its end and the reason of it, the outcomes of its memories, its steps with their cost. `by` is the
    adapter of the model that received them; then only `injected`, `tokens`, `ms` and the digest of the block are known.
    """

    sequence: int
    run_id: str
    at: datetime
    status: str
    stop_reason: str
    outcome: str | None = None
    audit: UseAudit = UseAudit()
    steps: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    by: str = OF_A_RUN
    agent: str | None = None
    tokens: int | None = None
    ms: float | None = None
    digest: str | None = None
    versions: tuple[tuple[str, int], ...] = ()


async def runs(
    store: RecordStore, actor: Actor, *, before: int | None = None, limit: int = 50
) -> tuple[list[RunRecord], int | None]:
    """Return the newest `limit` runs on behalf of the actor's user, newest first, and the start of the next page; see
    `latest`.
    """

    def own(event: AuditEvent) -> RunRecord | None:
        return _read(event) if event.actor == actor.user else None

    return await latest(store, actor.tenant, own, before=before, limit=limit)


async def run_of(store: RecordStore, actor: Actor, run_id: str) -> RunRecord | None:
    """Return a recent run of the actor, or None."""

    def is_wanted(event: AuditEvent) -> RunRecord | None:
        mine = event.actor == actor.user and event.detail.get("run_id") == run_id
        return _read(event) if mine else None

    found, _ = await latest(store, actor.tenant, is_wanted, limit=1)
    return found[0] if found else None


def run_dict(one: RunRecord, texts: TurnTexts | None) -> dict[str, Any]:
    """Return a run as JSON data, with its texts if they are stored."""
    return {
        "run_id": one.run_id,
        "at": one.at.isoformat(),
        "status": one.status,
        "stop_reason": one.stop_reason,
        "outcome": one.outcome,
        **one.audit.to_dict(),
        "steps": list(one.steps),
        "adapter": one.by,
        "agent": one.agent,
        "tokens": one.tokens,
        "ms": one.ms,
        "block_sha256": one.digest,
        "question": texts and texts.question,
        "answer": texts and texts.answer,
        "block_text": (texts and texts.block) or None,
        "named": list(texts.named) if texts else [],
    }


def _read(event: AuditEvent) -> RunRecord | None:
    """Return the run that a line belongs to; None for any other line, and for the injections of a run."""
    if event.action == INJECTED:
        return _injection(event)
    return _run(event) if event.action == RAN else None


def _injection(event: AuditEvent) -> RunRecord | None:
    result: Any = event.detail
    by = result.get("by", "agent" if "sha256" in result else OF_A_RUN)
    if by == OF_A_RUN:
        return None
    versions = tuple(injected_in(event))
    return RunRecord(
        sequence=event.sequence,
        run_id=result["run_id"],
        at=event.at,
        status="ok",
        stop_reason="injected",
        audit=UseAudit(injected=tuple(memory_id for memory_id, _ in versions)),
        by=by,
        agent=result.get("agent"),
        tokens=result.get("tokens"),
        ms=result.get("ms"),
        digest=result.get("sha256"),
        versions=versions,
    )


def _run(event: AuditEvent) -> RunRecord:
    result: Any = event.detail
    return RunRecord(
        sequence=event.sequence,
        run_id=result["run_id"],
        at=event.at,
        status=result["status"],
        stop_reason=result["stop_reason"],
        outcome=result.get("outcome"),
        audit=UseAudit.from_dict({name: result[name] for name in UseAudit.__slots__ if result.get(name)}),
        steps=tuple(dict(step) for step in result.get("steps", ())),
    )
