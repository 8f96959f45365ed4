"""Line that a run leaves in the audit: found, put in front of the model, cited, verified.

Identifiers, counts and times; never a word of question, memory or answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from mnemic.errors import KeyFailed, StoreFailed
from mnemic.inject.citation_check import UsageAudit, Verdict
from mnemic.inject.injection_result import InjectionRun
from mnemic.ports import Clock, RecordStore
from mnemic.types import Actor, Hit, JsonValue
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


async def keep_injection(
    engine: Any, actor: Actor, run: InjectionRun, question: str, answer: str | None = None, at: datetime | None = None
) -> None:
    """Store the texts of a turn with a model that received the blocks of `run`; see `keep_texts`."""
    hits = [entry.hit for block in run.placed for entry in block.entries if entry.hit is not None]
    block = "\n\n".join(block.text for block in run.placed)
    turn = TurnTexts(run_id=run.run_id, at=at or engine.clock.now(), question=question, answer=answer, block=block)
    await keep_texts(engine, actor, turn, hits)


async def keep_texts(engine: Any, actor: Actor, turn: TurnTexts, hits: Sequence[Hit]) -> None:
    """Store the texts of a turn with a model that received these hits, if policy allows it. `named` are the memories
    under a key if the answer contains their value: a fact about its words, not a citation. A failure is left to the
    next turn: the injection itself is in the audit.
    """
    judge, answer = UsageAudit(), turn.answer
    kinds = [(hit, "contains" if hit.memory.key else "") for hit in hits]
    named = [hit for hit, kind in kinds if answer and judge.judge(hit, kind, answer) is Verdict.VERIFIED]
    shown = tuple(hit.memory.memory_id for hit in hits)
    with suppress(StoreFailed, KeyFailed):
        await keep_turn(engine, actor, replace(turn, shown=shown, named=tuple(hit.memory.memory_id for hit in named)))
