"""Middleware that finds the people and things in ordinary writes, and stores them, too, as entities."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Any

from mnemic.dispatch import BatchReceipts, Call, Proceed
from mnemic.dispatch.handlers.add import candidate_of
from mnemic.errors import MnemicError
from mnemic.extract import is_users_own
from mnemic.extract.entities import EntityReader
from mnemic.kinds.entity import EntityMemory
from mnemic.requests import AddMany, Correction, Forget, NewMemory, Run
from mnemic.retrieve.export import accepted_memories, everything
from mnemic.runtime.sync_facade import async_mode
from mnemic.types import Candidate, Kind, Level, Message, Outcome, Where, WriteReceipt
from mnemic.types.search import MESSAGE_CATEGORY
from mnemic.types.trace import RunReport

ENTITIES = "entities"
"""Name in `WriteReceipt.degraded` and `RunReport.errors` of a text that could not be read."""

_READ_KINDS = frozenset({Kind.LONG_TERM, Kind.EPISODIC})
_NEW = frozenset({Outcome.CREATED, Outcome.MERGED, Outcome.SUPERSEDED})
_log = logging.getLogger("mnemic.kinds.entity_noticing")


@dataclass(frozen=True, slots=True)
class EntityNoticing:
    """Middleware that reads statements of the user, whichever request stores them, and stores names and relations as
    `EntityMemory.extract` does.

    It reads the user's own sentences (memories without a key at level `user`; recorded messages that name no other
    speaker) once they are stored, but nothing that waits for review. The write succeeds even if reading fails, or only
    rules could read; then `degraded` of the receipt names `entities`. A model has what a turn has left of its time.
    Entities read from a memory are forgotten with it.
    """

    reader: EntityReader

    async def __call__(self, call: Call, *, proceed: Proceed) -> Any:
        """Return the answer to the request, after reading the stored memories."""
        request = call.request
        if isinstance(request, Forget):
            return await self._forgotten(call, proceed)
        begun = call.rules.budget.deadline(call.engine.clock.monotonic) if isinstance(request, Run) else None
        answer = await proceed(call)
        if isinstance(request, NewMemory):
            return await self._read_stored(candidate_of(request, call.actor), answer, call)
        if isinstance(request, AddMany) and not request.captured:
            pairs = zip(request.candidates, answer.receipts, strict=True)
            return BatchReceipts(
                receipts=[await self._read_stored(one, receipt, call) for one, receipt in pairs], denied=answer.denied
            )
        if isinstance(request, Correction):
            return await self._read_correction(answer, call)
        if isinstance(request, Run) and isinstance(request.message, Message):
            return await self._turn(request.message, answer, replace(call, deadline=begun))
        return answer

    async def _turn(self, said: Message, report: RunReport, call: Call) -> RunReport:
        missed = await self._reason_unread(said, call)
        return replace(report, errors=(*report.errors, f"{ENTITIES}: {missed}")) if missed else report

    async def _read_correction(self, receipt: WriteReceipt, call: Call) -> WriteReceipt:
        """Read a correction like a new statement; entities named only by the old text are removed."""
        if receipt.outcome not in _NEW or receipt.memory_id is None:
            return receipt
        await self._forget_read(receipt.memory_id, call)
        known = await call.engine.store.get(receipt.memory_id, scopes=call.scopes)
        if known is None:
            return receipt
        candidate = Candidate(
            content=known.content,
            key=known.key,
            kind=known.kind,
            level=known.scope.level,
            category=known.category,
            source=known.source,
            occurred_at=known.occurred_at,
        )
        return await self._read_stored(candidate, receipt, call)

    async def _forgotten(self, call: Call, proceed: Proceed) -> Any:
        answer = await proceed(call)
        await self._forget_read(call.request.memory_id, call)
        return answer

    async def _forget_read(self, memory_id: str, call: Call) -> None:
        """Forget the entities that were read from the memory, whether or not they are still in force."""
        engine = call.engine
        where = everything(Where(scopes=call.scopes, kinds=frozenset({Kind.ENTITY})))
        for read in [
            one.memory_id async for one in accepted_memories(engine.store, where) if one.source.ref == memory_id
        ]:
            await engine.forget(read, actor=call.actor)

    async def _read_stored(self, candidate: Candidate, receipt: WriteReceipt, call: Call) -> WriteReceipt:
        """Return the receipt, after reading the stored memory."""
        ordinary = candidate.kind in _READ_KINDS and candidate.key is None and candidate.level == Level.USER
        if not ordinary or receipt.outcome not in _NEW:
            return receipt
        said = Message(
            role=_role(candidate),
            content=candidate.content,
            message_id=receipt.memory_id,
            session=candidate.source.session,
            sent_at=candidate.occurred_at,
            origin=candidate.source.origin,
        )
        missed = await self._reason_unread(said, call)
        return replace(receipt, degraded=(*receipt.degraded, ENTITIES)) if missed else receipt

    async def _reason_unread(self, said: Message, call: Call) -> str | None:
        """Return the reason for not reading the message; None if it was, or contains nothing of the user's own."""
        if not is_users_own(said):
            return None
        engine, actor = call.engine, call.actor
        try:
            text = await engine.gateway.pipeline.redact_text(said.content, tenant=actor.tenant)
            view = EntityMemory(engine, actor, async_mode(), reader=self.reader, deadline=call.deadline)
            return (await view.extract(replace(said, content=text))).degraded
        except MnemicError as error:
            _log.warning("a text could not be read for entities: %s", error.reason)
            return error.reason


def _role(candidate: Candidate) -> str:
    """Return the speaker: a recorded message names its speaker or role, everything else is the user's."""
    recorded = candidate.category == MESSAGE_CATEGORY
    return candidate.source.speaker or "user" if recorded else "user"
