"""Verbs of one user's memory, defined once for blocking and for awaiting callers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mnemic import requests
from mnemic.engine import MemoryEngine
from mnemic.kinds.all_kinds import SevenKinds
from mnemic.maintenance.governance import AuditTrail, ConsentBook, Privacy, ReviewQueue
from mnemic.runtime.sync_facade import CallMode, DualModeApi, M, forward_verb, request_verb, verb
from mnemic.types import Actor, AuditEvent, Candidate, Message, WriteReceipt
from mnemic.types.writes import AUDIT_END

if TYPE_CHECKING:
    from mnemic.engine.lineage import Lineage, Use
    from mnemic.kinds.entity import EntityMemory
    from mnemic.kinds.episodic import EpisodicMemory
    from mnemic.kinds.long_term import LongTermMemory
    from mnemic.kinds.persona import PersonaMemory
    from mnemic.kinds.short_term import ShortTermMemory
    from mnemic.kinds.working import WorkingMemory
    from mnemic.maintenance.consolidate import ConsolidationReport, ConsolidationRules
    from mnemic.maintenance.expiry_job import ExpiryReport, ExpiryRules
    from mnemic.maintenance.health import Health
    from mnemic.maintenance.reports import MaintenanceReport
    from mnemic.maintenance.reread import RereadReport
    from mnemic.maintenance.undo import UndoReceipt
    from mnemic.structured.structured_memory import StructuredMemory
    from mnemic.types import ConversationReceipts, MemoryRequest, RequestOutcome
    from mnemic.types.trace import RunReport

POLL_SECONDS = 0.5
"""Seconds between two looks of `changes` for new lines of the audit."""


class MemoryVerbs(DualModeApi[M]):
    """Verbs of one user's memory. Each calls the engine's verb of the same name for the actor."""

    def __init__(self, ground: CallMode[M], engine: MemoryEngine, actor: Actor, kinds: SevenKinds[M]) -> None:
        super().__init__(ground)
        self.engine = engine
        self.actor = actor
        self._kinds = kinds

    # -- the seven kinds ----------------------------------------------------------------------------------------------

    @property
    def working(self) -> WorkingMemory:
        """Scratch values of one task, in this process."""
        return self._kinds.working

    @property
    def short_term(self) -> ShortTermMemory[M]:
        """The messages of the session."""
        return self._kinds.short_term

    @property
    def long_term(self) -> LongTermMemory[M]:
        """Facts and preferences."""
        return self._kinds.long_term

    @property
    def persona(self) -> PersonaMemory[M]:
        """Memory of who the agent is."""
        return self._kinds.persona

    @property
    def episodic(self) -> EpisodicMemory[M]:
        """Memory of the agent's actions and their outcomes."""
        return self._kinds.episodic

    @property
    def entity(self) -> EntityMemory[M]:
        """Memory of the people and things that the user speaks of."""
        return self._kinds.entity

    @property
    def structured(self) -> StructuredMemory[M]:
        """Data of a known shape."""
        return self._kinds.structured

    # -- writing ------------------------------------------------------------------------------------------------------

    # Read from the class, `SevenKinds.add` is the descriptor; from an instance it would be a bound method.
    add = forward_verb("_kinds", SevenKinds.add)
    """Remember one thing; see `SevenKinds.add`."""

    @verb
    async def add_many(
        self, candidates: Sequence[Candidate], *, idempotency_keys: Sequence[str | None] | None = None
    ) -> Sequence[WriteReceipt]:
        """Remember many things; one receipt each, in order."""
        return await self.engine.add_many(candidates, actor=self.actor, idempotency_keys=idempotency_keys)

    @verb
    async def record(self, messages: Sequence[str | Message | Mapping[str, Any]]) -> Sequence[WriteReceipt]:
        """Store the messages of a conversation as episodic memories; see `MemoryEngine.record`."""
        return await self.engine.record(messages, actor=self.actor)

    capture = request_verb(requests.Capture)
    """Remember the durable facts in the user's message; see `MemoryEngine.capture`."""

    @verb
    async def capture_many(
        self,
        messages: Sequence[str | Message | Mapping[str, Any]],
        *,
        idempotency_keys: Sequence[str | None] | None = None,
    ) -> Sequence[RunReport | None]:
        """Remember the durable facts in several messages; see `MemoryEngine.capture_many`."""
        return await self.engine.capture_many(messages, actor=self.actor, idempotency_keys=idempotency_keys)

    @verb
    async def remember(
        self,
        messages: str | Message | Mapping[str, Any] | Sequence[str | Message | Mapping[str, Any]],
        *,
        infer: bool = True,
        metadata: Mapping[str, Any] | None = None,
    ) -> ConversationReceipts:
        """Remember a text, a message (`role`, `content`) or a list of them; see `MemoryEngine.remember`."""
        return await self.engine.remember(messages, actor=self.actor, infer=infer, metadata=metadata)

    @verb
    async def carry_out(self, request: MemoryRequest) -> RequestOutcome:
        """Carry out the changes that a message requested, once the user has confirmed them; see
        `MemoryEngine.carry_out`.
        """
        return await self.engine.carry_out(request, actor=self.actor)

    @verb
    async def rollback(self, memory_id: str, version: int) -> WriteReceipt:
        """Restore the content that a memory had in `version`. Raises MemoryNotFound, InvalidInput, VersionConflict."""
        return await self.engine.rollback(memory_id, version, actor=self.actor)

    @verb
    async def undo(self, memory_id: str) -> UndoReceipt:
        """Undo a merge, a replacement or an approval. Raises MemoryNotFound, InvalidInput, VersionConflict."""
        return await self.engine.undo(memory_id, actor=self.actor)

    update = request_verb(requests.Correction)
    """Correct a memory; its old version stays in the history; see `MemoryEngine.update`."""

    @verb
    async def forget(self, memory_id: str) -> None:
        """Delete a memory with all its versions. Raises MemoryNotFound."""
        await self.engine.forget(memory_id, actor=self.actor)

    forget_matching = request_verb(requests.ForgetMatching)
    """Delete the active memories that meet a filter; see `MemoryEngine.forget_matching`."""

    run = request_verb(requests.Run)
    """Run one memory-augmented turn; see `MemoryEngine.run`."""

    # -- reading ------------------------------------------------------------------------------------------------------

    search = request_verb(requests.Search)
    """Find the best memories for `query`; see `MemoryEngine.search`."""
    context = request_verb(requests.Context)
    """Return the memories that a model asked `query` is shown, as a block of data; see `MemoryEngine.context`."""
    retrieve = forward_verb("_kinds", SevenKinds.retrieve)
    """Return the best results across the kinds; see `SevenKinds.retrieve`."""

    get = request_verb(requests.Get)
    """Return one memory, with `known_at` as it was known then. Raises MemoryNotFound."""
    list = request_verb(requests.List)
    """Return active memories, newest first; `before` is the memory_id that ended the previous page."""
    count = request_verb(requests.Count)
    """Return how many active memories there are."""
    history = request_verb(requests.History)
    """Return all versions of a memory, oldest first. Raises MemoryNotFound."""

    @verb
    async def lineage(self, memory_id: str) -> Lineage:
        """Return the predecessors and successors of a memory. Raises MemoryNotFound."""
        return await self.engine.lineage(memory_id, actor=self.actor)

    @verb
    async def uses(
        self, memory_id: str, *, before: int | None = None, limit: int = 50
    ) -> tuple[Sequence[Use], int | None]:
        """Return the audit of a memory, newest first, and the start of the next page. Raises MemoryNotFound."""
        return await self.engine.uses(memory_id, actor=self.actor, before=before, limit=limit)

    # -- upkeep -------------------------------------------------------------------------------------------------------

    @verb
    async def maintain(self, *, whole: bool = False, dry_run: bool = False) -> MaintenanceReport:
        """Do every job of upkeep, one after the other; see `MemoryEngine.maintain`."""
        return await self.engine.maintain(actor=self.actor, whole=whole, dry_run=dry_run)

    @verb
    async def expire(self, *, rules: ExpiryRules | None = None, dry_run: bool = False) -> ExpiryReport:
        """Mark expired memories and purge those marked a grace period ago; see `MemoryEngine.expire`."""
        return await self.engine.expire(actor=self.actor, rules=rules, dry_run=dry_run)

    @verb
    async def consolidate(
        self, *, rules: ConsolidationRules | None = None, dry_run: bool = False
    ) -> ConsolidationReport:
        """Consolidate memories into summaries, profiles and reflections; see `MemoryEngine.consolidate`."""
        return await self.engine.consolidate(actor=self.actor, rules=rules, dry_run=dry_run)

    @verb
    async def reread(
        self,
        *,
        since: datetime | None = None,
        limit: int | None = None,
        progress: str | Path | None = None,
        dry_run: bool = False,
    ) -> RereadReport:
        """Read the recorded messages again with today's reader; see `MemoryEngine.reread`."""
        return await self.engine.reread(actor=self.actor, since=since, limit=limit, progress=progress, dry_run=dry_run)

    @verb
    async def undo_reread(self, run_id: str) -> int:
        """Take back what a `reread` changed; see `MemoryEngine.undo_reread`."""
        return await self.engine.undo_reread(run_id, actor=self.actor)

    @verb
    async def doctor(self, *, limit: int = 2000) -> Health:
        """Return the findings in the tenant's memories that need a person; see `MemoryEngine.doctor`."""
        return await self.engine.doctor(actor=self.actor, limit=limit)

    # -- governance ---------------------------------------------------------------------------------------------------

    @property
    def consent(self) -> ConsentBook[M]:
        """Consent of this user, key by key."""
        return ConsentBook[M](self.ground, self.engine, self.actor)

    @property
    def privacy(self) -> Privacy[M]:
        """Personal data stored about a user, and its erasure."""
        return Privacy[M](self.ground, self.engine, self.actor)

    @property
    def audit(self) -> AuditTrail[M]:
        """Audit log of the tenant's memories."""
        return AuditTrail[M](self.ground, self.engine, self.actor)

    def review(self, *, whole_tenant: bool = False) -> ReviewQueue[M]:
        """Return the memories that await review in this user's scopes; `whole_tenant` includes all users and is the
        program's responsibility.
        """
        return ReviewQueue[M](self.ground, self.engine, self.actor, whole_tenant=whole_tenant)

    async def _changes(self, after: int | None) -> AsyncIterator[AuditEvent]:
        """Yield each change of the user's own memories as it happens, after sequence `after` (default: from now on)."""
        streamed = getattr(self.engine, "changes", None)  # a service has a stream
        if streamed is not None:
            async for event in streamed(after=after):
                yield event
            return
        scopes = self.engine.reach(self.actor)
        if after is None:
            last = await self.engine.audit(actor=self.actor, before=AUDIT_END, limit=1)
            after = last[-1].sequence if last else 0
        while True:
            events = await self.engine.audit(actor=self.actor, after=after, limit=200)
            for event in events:
                after = event.sequence
                if event.memory_id is not None and event.scope in scopes:
                    yield event
            # A full page is followed by the next one without delay; only an empty one means that it has caught up.
            if not events:
                await asyncio.sleep(POLL_SECONDS)
