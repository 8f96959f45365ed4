"""History of the memories of each run, kept in the audit: found, put in front of the model, cited, verified.

Identifiers, counts and times; never a word of question, memory or answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from mnemic.maintain.audited_changes import latest
from mnemic.ports import Clock, RecordStore
from mnemic.types import Actor, AuditEvent, JsonValue
from mnemic.types.trace import RunReport, UseAudit
from mnemic.unit_of_work import Mutation, apply

RAN = "run"
_COUNTED = ("phase", "ms", "ok", "memory_hits", "injected", "candidates", "written", "verified")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One run: when it ended and why, what became of the memories in it, its steps with their cost."""

    sequence: int
    run_id: str
    at: datetime
    status: str
    stop_reason: str
    outcome: str | None = None
    audit: UseAudit = UseAudit()
    steps: tuple[dict[str, Any], ...] = field(default=(), repr=False)


async def record_run(store: RecordStore, clock: Clock, actor: Actor, report: RunReport) -> None:
    """Leave a line about the run in the tenant's audit. Raises StoreFailed."""
    steps = [{name: step[name] for name in _COUNTED if name in step} for step in report.trace]
    detail: dict[str, JsonValue] = {
        "run_id": report.run_id,
        "status": report.status.value,
        "stop_reason": report.stop_reason,
        "outcome": report.outcome,
        "steps": steps,
        **{name: list(getattr(report.audit, name)) for name in UseAudit.__slots__},
    }
    await apply(store, Mutation.line(RAN, actor=actor, at=clock.now(), detail=detail))


async def runs(
    store: RecordStore, actor: Actor, *, before: int | None = None, limit: int = 50
) -> tuple[list[RunRecord], int | None]:
    """Return the newest `limit` runs on behalf of the actor's user, newest first, and where the next page begins; see
    `latest`.
    """

    def own(event: AuditEvent) -> RunRecord | None:
        return _read(event) if event.action == RAN and event.actor == actor.user else None

    return await latest(store, actor.tenant, own, before=before, limit=limit)


async def run_of(store: RecordStore, actor: Actor, run_id: str) -> RunRecord | None:
    """One of the actor's runs, if it is not long ago, or None."""

    def wanted(event: AuditEvent) -> RunRecord | None:
        mine = event.action == RAN and event.actor == actor.user and event.detail.get("run_id") == run_id
        return _read(event) if mine else None

    found, _ = await latest(store, actor.tenant, wanted, limit=1)
    return found[0] if found else None


def _read(event: AuditEvent) -> RunRecord:
    result: Any = event.detail
    return RunRecord(
        sequence=event.sequence,
        run_id=result["run_id"],
        at=event.at,
        status=result["status"],
        stop_reason=result["stop_reason"],
        outcome=result.get("outcome"),
        audit=UseAudit(**{name: tuple(result.get(name) or ()) for name in UseAudit.__slots__}),
        steps=tuple(dict(step) for step in result.get("steps", ())),
    )
