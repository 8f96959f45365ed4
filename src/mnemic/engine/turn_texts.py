"""Texts of a turn whose model another program calls: the question, the block that was shown, and the answer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from mnemic.errors import KeyFailed, StoreFailed
from mnemic.inject.citation_check import UsageAudit, Verdict
from mnemic.inject.injection_result import InjectionRun
from mnemic.types import Actor, Hit
from mnemic.write.turn_log import TurnTexts, keep_turn


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
