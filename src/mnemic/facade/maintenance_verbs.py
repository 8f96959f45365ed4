"""The kinds, corrections and upkeep of one user's memory, for callers who wait and for callers who await."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemic import requests
from mnemic.engine import MemoryEngine
from mnemic.kinds.all_kinds import SevenKinds
from mnemic.runtime.sync_facade import DualModeApi, M, asks, verb
from mnemic.types import Actor

if TYPE_CHECKING:
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
    from mnemic.structured.structured_memory import StructuredMemory


class KindAndMaintenanceVerbs(DualModeApi[M]):
    """The seven kinds, each loaded on first use, the verbs that correct and forget, and the maintenance jobs."""

    engine: MemoryEngine
    actor: Actor
    _kinds: SevenKinds[M]

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

    update = asks(lambda: requests.Correction)
    """Correct a memory; its old version stays in the history; see `MemoryEngine.update`."""

    @verb
    async def forget(self, memory_id: str) -> None:
        """Delete a memory with all its versions. Raises MemoryNotFound."""
        await self.engine.forget(memory_id, actor=self.actor)

    forget_matching = asks(lambda: requests.ForgetMatching)
    """Delete the active memories that meet a filter; see `MemoryEngine.forget_matching`."""

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
    async def doctor(self, *, limit: int = 2000) -> Health:
        """Return the findings in the tenant's memories that need a person; see `MemoryEngine.doctor`."""
        return await self.engine.doctor(actor=self.actor, limit=limit)
