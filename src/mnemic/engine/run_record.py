"""Line that a run leaves in the audit: found, put in front of the model, cited, verified.

Identifiers, counts and times; never a word of question, memory or answer.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from mnemic.errors import KeyFailed, StoreFailed
from mnemic.ports import Clock, RecordStore
from mnemic.types import Actor, JsonValue
from mnemic.types.trace import RunReport, RunStatus
from mnemic.unit_of_work import Mutation, apply
from mnemic.write.turn_log import TurnLogEngine, TurnTexts, keep_turn

RAN = "run"
"""The action of such a line."""
_COUNTED = ("phase", "ms", "ok", "memory_hits", "injected", "candidates", "written", "verified")


async def record_turn_run(
    engine: TurnLogEngine, actor: Actor, report: RunReport, question: str, begun_at: datetime
) -> RunReport:
    """Return the report after writing its run to the audit and its texts to the turn log, if policy allows it; its
    errors name the one that could not be written.
    """
    try:
        await record_run(engine.store, engine.clock, actor, report)
    except StoreFailed as failure:
        return replace(report, errors=(*report.errors, f"run_log: {failure.reason}"))
    if report.status is RunStatus.OK:
        turn = TurnTexts(
            run_id=report.run_id,
            at=begun_at,
            question=question,
            answer=report.answer,
            shown=report.audit.injected,
            named=report.audit.cited,
        )
        try:
            await keep_turn(engine, actor, turn)
        except (StoreFailed, KeyFailed) as failure:  # the run itself is in the audit
            return replace(report, errors=(*report.errors, f"turn_log: {failure.reason}"))
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
        **report.audit.to_dict(),
    }
    await apply(store, Mutation.line(RAN, actor=actor, at=clock.now(), detail=detail))
