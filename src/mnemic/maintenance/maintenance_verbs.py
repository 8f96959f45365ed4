"""Maintenance verbs: expiry, consolidation, projections, re-embedding, restoring an archive, and checks."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from mnemic import requests
from mnemic.engine.correction_verbs import CorrectionVerbs
from mnemic.errors import InvalidInput
from mnemic.maintenance.archive import ArchivedMemory
from mnemic.maintenance.archive_seal import require_sealed
from mnemic.maintenance.consolidate import ConsolidationRules, consolidate
from mnemic.maintenance.health import examine
from mnemic.maintenance.reembed import reembed
from mnemic.types import Actor, Candidate, WriteReceipt

if TYPE_CHECKING:
    from mnemic.maintenance.archive import Archived
    from mnemic.maintenance.consolidate import ConsolidationReport
    from mnemic.maintenance.expiry_job import ExpiryReport, ExpiryRules
    from mnemic.maintenance.health import Health
    from mnemic.maintenance.reembed import ReembedResult
    from mnemic.ports import Completer, Embedder


class MaintenanceVerbs(CorrectionVerbs):
    """Maintenance methods that `MemoryEngine` inherits."""

    completer: Completer | None

    async def expire(self, *, actor: Actor, rules: ExpiryRules | None = None, dry_run: bool = False) -> ExpiryReport:
        """Mark expired memories, purge those past their grace period; see `mnemic.maintenance.expiry_job`."""
        request = requests.Expire(dry_run=dry_run)
        if rules is not None:
            request = requests.Expire(
                grace=rules.grace, apart=rules.apart, hard_kinds=rules.hard_kinds, dry_run=dry_run
            )
        report: ExpiryReport = await self.handle(request, actor=actor)
        return report

    async def consolidate(
        self, *, actor: Actor, rules: ConsolidationRules | None = None, dry_run: bool = False
    ) -> ConsolidationReport:
        """Consolidate the memories of the users of the actor's tenant: summaries, profiles, reflections; see
        `mnemic.maintenance.consolidate`. Without `rules` no model is called. Raises StoreFailed, EmbedderFailed.
        """
        done = await consolidate(
            self.store,
            self.clock,
            actor=actor,
            rules=rules or ConsolidationRules(),
            write=self._derive,
            hidden=self.gateway.hidden_keys,
            completer=self.completer,
            dry_run=dry_run,
        )
        if not dry_run:
            await self._pipeline.publisher.catch_up()
        return done

    async def _derive(self, candidate: Candidate, actor: Actor, sources: Collection[str]) -> WriteReceipt:
        """Write a derived memory, if its sources still exist when it is committed."""
        return await self.handle(requests.Derive(candidate=candidate, sources=tuple(sources)), actor=actor)

    async def restore(self, line: Archived, *, actor: Actor, own: bool = False) -> WriteReceipt:
        """Restore the contents of an archive, in every version and state, into the actor's scopes; `refreshed` for
        existing ones. With `own` the program vouches for origin, trust and author; see `mnemic.maintenance.archive`;
        with a key file it also needs the seal of the line. Raises InvalidInput (also `archive:seal`), VersionConflict,
        ScopeDenied, EmbedderFailed, KeyFailed, StoreFailed.
        """
        if own:
            require_sealed(line.seal, self.vault and self.vault.keyring)
        if isinstance(line, ArchivedMemory):
            return await self.handle(requests.Restore(versions=line.versions, own=own), actor=actor)
        return await self.handle(requests.RestoreConsent(key=line.key, granted=line.granted, at=line.at), actor=actor)

    async def doctor(self, *, actor: Actor, limit: int = 2000) -> Health:
        """Find duplicates, contradictions, junk, unused memories and memories without a vector among the `limit` newest
        active memories of the actor's tenant, and how long review waits. Nothing is changed. Raises StoreFailed.
        """
        return await examine(self.store, actor.tenant, self.clock.now(), limit=limit)

    async def reembed(self, embedder: Embedder, *, on_progress: Callable[[int], None] | None = None) -> ReembedResult:
        """Migrate the whole store, all tenants' memories, to another embedder while it is in use; see
        `mnemic.maintenance.reembed`. This engine switches to it and closes the old one; other processes fall back to
        keyword search until they are restarted with the new one. Raises EmbedderFailed, StoreFailed: a further call
        continues.
        """
        before = self.embedder

        async def adopt() -> None:
            self._pipeline.use(embedder)
            self.embedder = self.searcher.embedder = embedder

        self._pipeline.successor = embedder
        try:
            return await reembed(self.store, embedder, adopt=adopt, on_progress=on_progress)
        finally:
            self._pipeline.successor = None
            if self.embedder is not before:
                await before.close()

    async def rebuild(self, projection: str, *, actor: Actor) -> int:
        """Rebuild a projection for the tenant; return the number of memories. Raises InvalidInput, StoreFailed."""
        feeds = {feed.name: feed for feed in self.feeds}
        if projection not in feeds:
            raise InvalidInput(
                "projection", hint=f"one of {', '.join(sorted(feeds))}" if feeds else "this store feeds no copy"
            )
        return await feeds[projection].rebuild(actor.tenant)

    async def unregister(self, projection: str, *, actor: Actor) -> int:
        """Unregister a projection of the whole store that will not return; return how many entries waited for it.
        Raises InvalidInput if it is not registered, or fed by this engine, which would register it again; StoreFailed.
        """
        waiting = await self.store.projections()
        if projection not in waiting:
            raise InvalidInput("projection", hint=f"registered are: {', '.join(sorted(waiting)) or 'none'}")
        if any(feed.name == projection for feed in self.feeds):
            raise InvalidInput("projection", hint=f"{projection} is still set up; take it out of the settings first")
        await self.store.unregister(projection)
        return waiting[projection]
