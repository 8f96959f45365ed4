"""All maintenance jobs, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Protocol

from mnemic.errors import KeyFailed, StoreCorrupt
from mnemic.maintenance.background_capture import read_waiting
from mnemic.maintenance.health import remember_signed
from mnemic.maintenance.reports import MaintenanceReport
from mnemic.types import Actor
from mnemic.write import outbox as outbox_work
from mnemic.write.missing_vectors import embed_left
from mnemic.write.tokenisation import sweep
from mnemic.write.turn_log import expire_turns

if TYPE_CHECKING:
    from mnemic.dispatch import Rules
    from mnemic.maintenance.expiry_job import ExpiryReport, ExpiryRules
    from mnemic.ports import Clock, Embedder, RecordStore
    from mnemic.write.outbox import OutboxConsumer
    from mnemic.write.tokenisation import TokenVault


class MaintenanceEngine(Protocol):
    """The parts of `MemoryEngine` that maintenance uses."""

    store: RecordStore
    embedder: Embedder
    clock: Clock
    rules: Rules
    vault: TokenVault | None

    async def expire(self, *, actor: Actor, rules: ExpiryRules | None, dry_run: bool) -> ExpiryReport:
        """Mark expired memories, and purge those marked a grace period ago."""

    async def reviews(
        self, *, actor: Actor, whole_tenant: bool, limit: int, older_than: timedelta | None
    ) -> Sequence[Any]:
        """Return the memories that await review."""

    async def reject_older(self, age: timedelta, *, actor: Actor, whole_tenant: bool) -> Sequence[Any]:
        """Reject the memories that have waited for longer."""


async def run_maintenance(
    engine: MaintenanceEngine,
    actor: Actor,
    rules: ExpiryRules | None,
    *,
    feeds: Sequence[OutboxConsumer],
    whole: bool,
    dry_run: bool,
) -> MaintenanceReport:
    """Return the results of the jobs; see `MemoryEngine.maintain`."""
    captured = await read_waiting(engine, actor.tenant, dry_run=dry_run)  # type: ignore[arg-type]
    expiry = await engine.expire(actor=actor, rules=rules, dry_run=dry_run)
    aged = await _age(engine, actor, dry_run)
    embedder = None if dry_run else engine.embedder
    embedded, unembedded = await embed_left(engine.store, embedder, actor=actor, now=engine.clock.now())
    outbox = await outbox_work.drain(engine.store, feeds, dry_run=dry_run)
    swept = 0 if dry_run else await sweep(engine.store, actor.tenant)
    if not dry_run:
        await expire_turns(engine.store, actor.tenant, engine.clock.now())
    if not dry_run and engine.vault is not None:
        with suppress(StoreCorrupt, KeyFailed):  # `verify_audit` reports either
            await remember_signed(engine.store, actor.tenant, engine.vault.keyring)
    if not dry_run:
        await engine.store.audit(actor.tenant, limit=1)  # reading it merges its lanes, so that they stay short
    freed = 0 if dry_run else await engine.store.tidy(whole=whole)
    return MaintenanceReport(
        expiry=expiry,
        aged=aged,
        outbox=outbox,
        freed_bytes=freed,
        swept=swept,
        captured=captured,
        embedded=embedded,
        unembedded=unembedded,
        dry_run=dry_run,
    )


async def _age(engine: MaintenanceEngine, actor: Actor, dry_run: bool) -> int:
    """Reject memories that have awaited review for longer than the limits allow; return their number."""
    longest = engine.rules.limits.review_longest
    if longest is None:
        return 0
    if dry_run:
        return len(await engine.reviews(actor=actor, whole_tenant=True, limit=100_000, older_than=longest))
    return len(await engine.reject_older(longest, actor=actor, whole_tenant=True))
