"""Turns, and what became of the memories in them: found, put in front of the model, cited, verified."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from mnemic.errors import MemoryNotFound, MnemicError
from mnemic.json_output import memory_dict
from mnemic.types import Actor
from mnemic.types.trace import UseAudit, Watch
from mnemic.write.turn_log import turns_of
from mnemic_server.access import Reading, ServiceContext, TheService, Writing
from mnemic_server.evidence_filter import all_shown, report_shown
from mnemic_server.parsed_body_route import ParsedBodyRoute
from mnemic_server.request_bodies import IdempotencyKey, Turn
from mnemic_server.response_bodies import ReportResponse, RunMemoriesResponse, RunPageResponse, answering
from mnemic_server.run_history import run_dict, run_of, runs
from mnemic_server.streams import DESCRIBED, EventStream, encode_event

_log = logging.getLogger(__name__)

router = APIRouter(prefix="/v1/runs", tags=["runs"], route_class=ParsedBodyRoute)


@router.post("", **answering(ReportResponse))
async def run(
    turn: Turn, actor: Writing, service: TheService, idempotency_key: IdempotencyKey = None
) -> dict[str, Any]:
    """Run a turn with memory. Run one memory-augmented turn: retrieve, answer with the memories, audit the answer."""
    return await _ran(service, actor, turn, idempotency_key)


@router.post("/stream", response_class=EventStream, responses=DESCRIBED)
async def stream(
    turn: Turn, actor: Writing, service: TheService, idempotency_key: IdempotencyKey = None
) -> EventStream:
    """Stream a turn with memory. Return the run as server-sent events: a `step` as each step ends, then the `report`; a
    `problem` where it failed. Who hangs up does not stop the turn.
    """
    steps: asyncio.Queue[Mapping[str, Any] | None] = asyncio.Queue()
    work = asyncio.create_task(_ran(service, actor, turn, idempotency_key, watch=steps.put_nowait))
    work.add_done_callback(lambda _: steps.put_nowait(None))
    service.running.add(work)
    work.add_done_callback(service.running.discard)
    work.add_done_callback(_tell_bug)
    first = await steps.get()
    if first is None:
        work.result()

    async def events() -> AsyncIterator[bytes]:
        step = first
        while step is not None:
            yield encode_event("step", step)
            step = await steps.get()
        failure = work.exception()
        if failure is None:
            yield encode_event("report", work.result())
        else:
            reason = failure.reason if isinstance(failure, MnemicError) else "internal_error"
            yield encode_event("problem", {"reason": reason})

    return EventStream(events())


@router.get("", **answering(RunPageResponse))
async def page(
    actor: Reading,
    service: TheService,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[int | None, Query(ge=1, le=2**53)] = None,
) -> dict[str, Any]:
    """List recent runs. Return the user's latest runs, newest first: turns of this service, of the command line and of
    programs on the same store, and what adapters of frameworks put before their models. Question and answer are there
    where policy keeps them. A page may be short and yet have a `next`.
    """
    found, after = await runs(service.engine.store, actor, before=cursor, limit=limit)
    run_ids = {one.run_id for one in found}
    texts = await turns_of(service.engine.store, service.engine.vault, actor, run_ids=run_ids)
    return {"runs": [run_dict(one, texts.get(one.run_id)) for one in found], "next": after}


@router.get("/{run_id}", **answering(RunMemoriesResponse))
async def one(
    run_id: Annotated[str, Path(min_length=1, max_length=64)], actor: Reading, service: TheService
) -> dict[str, Any]:
    """Get a run. One of the latest runs, and the memories it names in their present state; those that are gone are left
    out.
    """
    found = await run_of(service.engine.store, actor, run_id)
    if found is None:
        raise MemoryNotFound("run")
    named = sorted({memory_id for name in UseAudit.__slots__ for memory_id in getattr(found.audit, name)})
    memories = await service.engine.store.get_many(named, scopes=service.engine.reach(actor))
    texts = await turns_of(service.engine.store, service.engine.vault, actor, run_ids={run_id})
    shown = [memory_dict(memory) for memory in all_shown(memories.values(), actor)]
    return {**run_dict(found, texts.get(run_id)), "memories": shown}


async def _ran(
    service: ServiceContext, actor: Actor, turn: Turn, idempotency_key: str | None, watch: Watch | None = None
) -> dict[str, Any]:
    report = await service.engine.run(
        actor=actor, **turn.turn_arguments(actor.session), idempotency_key=idempotency_key, watch=watch
    )
    return report_shown(report, actor)


def _tell_bug(work: asyncio.Task[dict[str, Any]]) -> None:
    """Read the result of a turn whose caller has disconnected: asyncio would otherwise log an exception with its
    message.
    """
    failure = None if work.cancelled() else work.exception()
    if failure is not None and not isinstance(failure, MnemicError):
        _log.error("internal error", extra={"error": type(failure).__name__})
