"""An engine that notices who and what ordinary writes name, and remembers that too, as entities."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from mnemic.engine import MemoryEngine
from mnemic.errors import MnemicError
from mnemic.extract import is_users_own
from mnemic.extract.entities import EntityReader
from mnemic.extract.messages import MESSAGE_CATEGORY
from mnemic.face import awaited
from mnemic.guard.policy import EntityReading
from mnemic.kinds.entity import EntityMemory
from mnemic.maintain.export import accepted, everything
from mnemic.trace import RunReport
from mnemic.types import Actor, Candidate, Deadline, Kind, Level, Message, Outcome, WriteReceipt

ENTITIES = "entities"
"""Stands in `WriteReceipt.degraded` and `RunReport.errors` where a text could not be read."""

_READ_KINDS = frozenset({Kind.LONG_TERM, Kind.EPISODIC})
_NEW = frozenset({Outcome.CREATED, Outcome.MERGED, Outcome.SUPERSEDED})
_log = logging.getLogger("mnemic.noticing")


class NoticingEngine(MemoryEngine):
    """A `MemoryEngine` that reads what the user says in `add`, `add_many`, `record`, `capture` and `run` with
    `entity_reader`, and keeps names and relations as `EntityMemory.extract` does.

    Read are sentences of the user's own (memories without a key at level `user`; recorded messages that name no other
    speaker), once they are stored; of what waits for review nothing is read. The write stands whatever becomes of that:
    where it fails, the receipt's `degraded` names `entities`. What was read from a memory is forgotten with it.
    """

    def __init__(self, *, entity_reader: EntityReader, reads: EntityReading | None = None, **parts: Any) -> None:
        super().__init__(**parts)
        self.reads = reads
        self._reader = entity_reader

    async def _add(
        self, candidate: Candidate, actor: Actor, idempotency_key: str | None, deadline: Deadline | None
    ) -> WriteReceipt:
        receipt = await super()._add(candidate, actor, idempotency_key, deadline)
        return await self._noticed(candidate, receipt, actor)

    async def add_many(
        self, candidates: Sequence[Candidate], *, actor: Actor, idempotency_keys: Sequence[str | None] | None = None
    ) -> Sequence[WriteReceipt]:
        """See `MemoryEngine.add_many`."""
        receipts = await super().add_many(candidates, actor=actor, idempotency_keys=idempotency_keys)
        return [await self._noticed(one, receipt, actor) for one, receipt in zip(candidates, receipts, strict=True)]

    async def run(self, *, actor: Actor, message: str | Message | None = None, **more: Any) -> RunReport:
        """See `MemoryEngine.run`; `entities: <reason>` stands in `errors` where the message could not be read."""
        report = await super().run(actor=actor, message=message, **more)
        if message is None:
            return report
        said = Message(role="user", content=message, session=actor.session) if isinstance(message, str) else message
        missed = await self._missed(said, actor)
        return replace(report, errors=(*report.errors, f"{ENTITIES}: {missed}")) if missed else report

    async def forget(self, memory_id: str, *, actor: Actor) -> None:
        """See `MemoryEngine.forget`."""
        await super().forget(memory_id, actor=actor)
        entities = accepted(self.store, everything(self._where(actor, [Kind.ENTITY])))
        for read in [entity.memory_id async for entity in entities if entity.source.ref == memory_id]:
            await super().forget(read, actor=actor)

    async def _noticed(self, candidate: Candidate, receipt: WriteReceipt, actor: Actor) -> WriteReceipt:
        """The receipt, once what was stored has been read."""
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
        missed = await self._missed(said, actor)
        return replace(receipt, degraded=(*receipt.degraded, ENTITIES)) if missed else receipt

    async def _missed(self, said: Message, actor: Actor) -> str | None:
        """Why the message could not be read; None where it was, or holds nothing of the user's own."""
        if not is_users_own(said):
            return None
        try:
            shown = replace(said, content=await self._pipeline.redacted(said.content, tenant=actor.tenant))
            await EntityMemory(self, actor, awaited(), reader=self._reader).extract(shown)
        except MnemicError as error:
            _log.warning("a text could not be read for entities: %s", error.reason)
            return error.reason
        return None


def _role(candidate: Candidate) -> str:
    """Who said it: a recorded message names its speaker or role, everything else is the user's."""
    recorded = candidate.category == MESSAGE_CATEGORY
    return candidate.source.speaker or "user" if recorded else "user"
