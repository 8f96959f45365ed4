"""Line that a run leaves in the audit: found, put in front of the model, cited, verified.

Identifiers, counts and times; never a word of question, memory or answer.
"""

from __future__ import annotations

from dataclasses import replace

from mnemic.errors import StoreFailed
from mnemic.ports import Clock, RecordStore
from mnemic.types import Actor, JsonValue
from mnemic.types.trace import RunReport, UseAudit
from mnemic.unit_of_work import Mutation, apply

RAN = "run"
"""The action of such a line."""
_COUNTED = ("phase", "ms", "ok", "memory_hits", "injected", "candidates", "written", "verified")


async def recorded(store: RecordStore, clock: Clock, actor: Actor, report: RunReport) -> RunReport:
    """Return the report, whose run is in the audit; where that could not be written, the report's errors say so."""
    try:
        await record_run(store, clock, actor, report)
    except StoreFailed as failure:
        return replace(report, errors=(*report.errors, f"run_log: {failure.reason}"))
    return report


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
