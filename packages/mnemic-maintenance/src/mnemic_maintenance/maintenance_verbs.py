"""Maintenance verbs: corrections, forgetting, expiry, consolidation, projections, re-embedding, restoring an archive,
and checks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from mnemic import requests
from mnemic.engine.read_verbs import ReadVerbs
from mnemic.errors import InvalidInput
from mnemic.types import Actor, Candidate, JsonValue, Kind, Origin, WriteReceipt

if TYPE_CHECKING:
    from mnemic.maintain.archive import Archived
    from mnemic.maintain.consolidate import Consolidated, ConsolidationRules
    from mnemic.maintain.expiry_job import ExpiryReport, ExpiryRules
    from mnemic.maintain.health import Health
    from mnemic.maintain.reembed import Reembedded
    from mnemic.ports import Completer, Embedder
    from mnemic.types import Forgotten


class MaintenanceVerbs(ReadVerbs):
    """Maintenance methods that `MemoryEngine` inherits."""

    completer: Completer | None

    async def update(
        self,
        memory_id: str,
        content: str | None = None,
        *,
        actor: Actor,
        key: str | None = None,
        category: str | None = None,
        data: Mapping[str, Any] | None = None,
        context: str | None = None,
        ttl: timedelta | str | None = None,
        confidence: float | None = None,
        occurred_at: datetime | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        expected_version: int | None = None,
        origin: Origin | None = None,
    ) -> WriteReceipt:
        """Correct a memory: the same memory_id in its next version, with the old one kept in the history. Omitted
        fields stay unchanged; an empty `key`, `category` or `context` removes it. `ttl` counts from now, as a duration
        or as `30d`, `10y`, `never`. `origin` is the channel of the words: lower trust cannot correct higher trust.

        Consent and quotas apply as for a new memory. Raises MemoryNotFound, InvalidInput (`key:taken` if another memory
        has the key), or VersionConflict if it is no longer at `expected_version`.
        """
        request = requests.Update(
            memory_id=memory_id,
            content=content,
            key=key,
            category=category,
            data=data,
            context=context,
            ttl=ttl,
            confidence=confidence,
            occurred_at=occurred_at,
            valid_from=valid_from,
            valid_to=valid_to,
            expected_version=expected_version,
            origin=origin,
        )
        return await self.handle(request, actor=actor)

    async def forget(self, memory_id: str, *, actor: Actor) -> None:
        """Delete a memory with all its versions. Raises MemoryNotFound."""
        await self.handle(requests.Forget(memory_id=memory_id), actor=actor)

    async def forget_matching(
        self,
        *,
        actor: Actor,
        kinds: Sequence[Kind | str] | None = None,
        categories: Sequence[str] | None = None,
        keys: Sequence[str] | None = None,
        where: Mapping[str, JsonValue] | None = None,
        limit: int = 1000,
        dry_run: bool = False,
    ) -> Forgotten:
        """Delete the active memories that meet a filter, with all their versions: the newest `limit` (1 to 1,000), each
        in a separate transaction. `dry_run` only lists them. Raises InvalidInput (`filter:empty`) without any bound:
        `erase` deletes everything of a user.
        """
        from mnemic.maintain.forget import forget_matching

        bounds = {"kinds": kinds, "categories": categories, "keys": keys, "where": where}
        return await forget_matching(self, actor, bounds, limit=limit, dry_run=dry_run)

    async def expire(self, *, actor: Actor, rules: ExpiryRules | None = None, dry_run: bool = False) -> ExpiryReport:
        """Mark expired memories, purge those past their grace period; see `mnemic.maintain.expiry_job`."""
        request = requests.Expire(dry_run=dry_run)
        if rules is not None:
            request = requests.Expire(
                grace=rules.grace, apart=rules.apart, hard_kinds=rules.hard_kinds, dry_run=dry_run
            )
        report: ExpiryReport = await self.handle(request, actor=actor)
        return report

    async def consolidate(
        self, *, actor: Actor, rules: ConsolidationRules | None = None, dry_run: bool = False
    ) -> Consolidated:
        """Consolidate the memories of the users of the actor's tenant: summaries, profiles, reflections; see
        `mnemic.maintain.consolidate`. Without `rules` no model is called. Raises StoreFailed, EmbedderFailed.
        """
        from mnemic.maintain.consolidate import ConsolidationRules, consolidate

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
        existing ones. With `own` the program vouches for origin, trust and author; see `mnemic.maintain.archive`; with
        a key file it also needs the seal of the line. Raises InvalidInput (also `archive:seal`), VersionConflict,
        ScopeDenied, EmbedderFailed, KeyFailed, StoreFailed.
        """
        from mnemic.maintain.archive import ArchivedMemory
        from mnemic.maintain.archive_seal import require_sealed

        if own:
            require_sealed(line.seal, self.vault and self.vault.keyring)
        if isinstance(line, ArchivedMemory):
            return await self.handle(requests.Restore(versions=line.versions, own=own), actor=actor)
        return await self.handle(requests.RestoreConsent(key=line.key, granted=line.granted, at=line.at), actor=actor)

    async def doctor(self, *, actor: Actor, limit: int = 2000) -> Health:
        """Find duplicates, contradictions, junk, unused memories and memories without a vector among the `limit` newest
        active memories of the actor's tenant, and how long review waits. Nothing is changed. Raises StoreFailed.
        """
        from mnemic.maintain.health import examine

        near = self._pipeline.rules.nominate
        return await examine(self.store, actor.tenant, self.clock.now(), near=near, limit=limit)

    async def reembed(self, embedder: Embedder, *, on_progress: Callable[[int], None] | None = None) -> Reembedded:
        """Migrate the whole store, all tenants' memories, to another embedder while it is in use; see
        `mnemic.maintain.reembed`. This engine switches to it and closes the old one; other processes fall back to
        keyword search until they are restarted with the new one. Raises EmbedderFailed, StoreFailed: a further call
        continues.
        """
        from mnemic.maintain.reembed import reembed

        before = self.embedder

        async def adopt() -> None:
            await self._pipeline.use(embedder)
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
