"""The kinds and the upkeep of one user's memory, for callers who wait and for callers who await."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemic.engine import MemoryEngine
from mnemic.kinds.seven import SevenKinds
from mnemic.runtime.sync_facade import Face, M, verb
from mnemic.types import Actor

if TYPE_CHECKING:
    from mnemic.kinds.entity import EntityMemory
    from mnemic.kinds.episodic import EpisodicMemory
    from mnemic.kinds.long_term import LongTermMemory
    from mnemic.kinds.persona import PersonaMemory
    from mnemic.kinds.short_term import ShortTermMemory
    from mnemic.kinds.structured import StructuredMemory
    from mnemic.kinds.working import WorkingMemory
    from mnemic.maintain.consolidate import Consolidated, ConsolidationRules
    from mnemic.maintain.expiry_job import ExpiryReport, ExpiryRules
    from mnemic.maintain.health import Health
    from mnemic.maintain.reports import MaintenanceReport


class KindsAndUpkeep(Face[M]):
    """The seven kinds, each loaded when it is first used, and the jobs of upkeep."""

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
        """Memory of what the agent did, and how it ended."""
        return self._kinds.episodic

    @property
    def entity(self) -> EntityMemory[M]:
        """Memory of the people and things that the user speaks of."""
        return self._kinds.entity

    @property
    def structured(self) -> StructuredMemory[M]:
        """Data of a known shape."""
        return self._kinds.structured

    @verb
    async def maintain(self, *, whole: bool = False, dry_run: bool = False) -> MaintenanceReport:
        """Do every job of upkeep, one after the other; see `MemoryEngine.maintain`."""
        return await self.engine.maintain(actor=self.actor, whole=whole, dry_run=dry_run)

    @verb
    async def expire(self, *, rules: ExpiryRules | None = None, dry_run: bool = False) -> ExpiryReport:
        """Mark what has expired and purge what was marked a grace period ago; see `MemoryEngine.expire`."""
        return await self.engine.expire(actor=self.actor, rules=rules, dry_run=dry_run)

    @verb
    async def consolidate(self, *, rules: ConsolidationRules | None = None, dry_run: bool = False) -> Consolidated:
        """Draw together what was said: summaries, profiles, reflections; see `MemoryEngine.consolidate`."""
        return await self.engine.consolidate(actor=self.actor, rules=rules, dry_run=dry_run)

    @verb
    async def doctor(self, *, limit: int = 2000) -> Health:
        """Return what of the tenant's memories a person should look at; see `MemoryEngine.doctor`."""
        return await self.engine.doctor(actor=self.actor, limit=limit)
