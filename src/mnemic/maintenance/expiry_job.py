"""Expiry job: expired memories are hidden at once, marked by the job, and purged after a grace period.

A clock can be wrong for a while. So a memory counts as expired only once two runs of the job, some time apart, have
both seen a clock past its expiry; only memories that were marked for the whole grace period are purged; and if a clock
was ahead and has been corrected, memories marked under it are restored.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from mnemic.errors import VersionConflict
from mnemic.ports import Clock, RecordStore
from mnemic.types import Actor, Kind, Memory, Status
from mnemic.unit_of_work import Mutation, Unit, commit
from mnemic.write.derived_memories import sources_of
from mnemic.write.turn_log import forget_turns

PAGE = 200
_READING = "clock/expire"
_CLOSED = (Status.EXPIRED, Status.SUPERSEDED, Status.REJECTED, Status.PENDING_REVIEW)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiryRules:
    """Times of the job. `grace`: how long a memory stays recoverable after it was marked. `apart`: minimum distance of
    two readings of the clock. Kinds in `hard_kinds` get no grace, nor do derived memories, which can be derived again:
    they are purged by the run that marks them.
    """

    grace: timedelta = timedelta(days=30)
    apart: timedelta = timedelta(minutes=10)
    hard_kinds: frozenset[Kind] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """Readings that the job has made of the clock: the last one, and the moment that two readings agree has passed."""

    seen_at: datetime | None = None
    confirmed_at: datetime | None = None

    def following(self, now: datetime, apart: timedelta) -> Readings:
        """Return the readings after one more. A clock that went back takes the confirmation back with it."""
        if self.seen_at is None:
            return Readings(seen_at=now)
        if now < self.seen_at:
            confirmed = None if self.confirmed_at is None else min(self.confirmed_at, now)
            return Readings(seen_at=now, confirmed_at=confirmed)
        if now - self.seen_at < apart:
            return self
        return Readings(seen_at=now, confirmed_at=self.seen_at)

    def encode(self) -> str:
        """Return the readings in the form of their mark."""
        times = {"seen_at": self.seen_at, "confirmed_at": self.confirmed_at}
        return json.dumps({name: at.isoformat() for name, at in times.items() if at is not None})

    @classmethod
    def decode(cls, text: str | None) -> Readings:
        """Return the readings of `encoded`; none for None."""
        return cls(**{name: datetime.fromisoformat(at) for name, at in json.loads(text or "{}").items()})


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiryReport:
    """Result of one run, or with `dry_run` of a simulated one. `confirmed_at` is the moment up to which it trusted the
    clock; None: this was the first reading, and nothing expired.
    """

    expired: int = 0
    purged: int = 0
    restored: int = 0
    confirmed_at: datetime | None = None
    clock_went_back: bool = False
    dry_run: bool = False


@dataclass(slots=True)
class _Job:
    store: RecordStore
    actor: Actor
    now: datetime
    rules: ExpiryRules
    dry_run: bool
    counts: dict[str, int] = field(default_factory=lambda: {"expired": 0, "purged": 0, "restored": 0})
    gone: set[str] = field(default_factory=set)

    async def over(
        self,
        name: str,
        statuses: Collection[Status],
        expired_by: datetime | None,
        wanted: Callable[[Memory], bool],
        change: Callable[[Unit, Memory], Awaitable[None]],
    ) -> None:
        """Apply `change` to every memory that is `wanted`, page by page, each page in one transaction."""
        after = None
        while page := await self.store.scan(
            self.actor.tenant, statuses=statuses, expired_by=expired_by, after=after, limit=PAGE
        ):
            after = page[-1].memory_id
            chosen = [memory for memory in page if wanted(memory)]
            if self.dry_run:
                self.counts[name] += len(chosen)
            elif chosen:
                self.counts[name] += await self._page(chosen, change)

    async def _page(self, chosen: list[Memory], change: Callable[[Unit, Memory], Awaitable[None]]) -> int:
        async def work(unit: Unit) -> int:
            done = 0
            for memory in chosen:
                present = await unit.reads.get(memory.memory_id, scopes=[memory.scope])
                if present is not None and present.version == memory.version:
                    try:
                        await change(unit, present)
                    except VersionConflict:
                        continue  # the same statement lives on in another memory
                    done += 1
            return done

        return await commit(self.store, work)

    async def mark(self, unit: Unit, memory: Memory) -> None:
        await self._change(unit, memory, Status.EXPIRED, "expired")

    async def restore(self, unit: Unit, memory: Memory) -> None:
        await self._change(unit, memory, Status.ACTIVE, "restored")

    async def purge(self, unit: Unit, memory: Memory) -> None:
        await unit.apply(Mutation.removal(memory, "purged", actor=self.actor, at=self.now))
        self.gone.add(memory.memory_id)

    async def _change(self, unit: Unit, memory: Memory, status: Status, action: str) -> None:
        changed = memory.next_version(self.now, status=status)
        await unit.apply(Mutation.for_memory(changed, action, actor=self.actor, at=self.now, was=memory.status))


async def expire(
    store: RecordStore, clock: Clock, *, actor: Actor, rules: ExpiryRules | None = None, dry_run: bool = False
) -> ExpiryReport:
    """Mark expired memories in the actor's tenant, purge those marked a grace period ago, restore those marked by a
    wrong clock.

    The first run only records the time. Raises StoreFailed; finished pages stay done, and a further run continues.
    """
    rules, now = rules or ExpiryRules(), clock.now()
    before, after = await _read_clock(store, actor.tenant, now, rules.apart, dry_run)
    job = _Job(store, actor, now, rules, dry_run)
    await job.over(
        "restored",
        [Status.EXPIRED],
        None,
        lambda memory: memory.expires_at is None or memory.expires_at > now,
        job.restore,
    )
    until = after.confirmed_at
    if until is not None:
        await job.over("expired", [Status.ACTIVE], until, lambda _: True, job.mark)
        await job.over("purged", _CLOSED, until, lambda memory: _purgeable(memory, until, rules), job.purge)
    if job.gone:
        await forget_turns(store, actor.tenant, job.gone)
    went_back = before.seen_at is not None and now < before.seen_at
    return ExpiryReport(**job.counts, confirmed_at=until, clock_went_back=went_back, dry_run=dry_run)


async def _read_clock(
    store: RecordStore, tenant: str, now: datetime, apart: timedelta, dry_run: bool
) -> tuple[Readings, Readings]:
    async def work(unit: Unit) -> tuple[Readings, Readings]:
        before = Readings.decode(await unit.reads.find_mark(tenant, _READING))
        after = before.following(now, apart)
        if after != before and not dry_run:
            await unit.apply(Mutation(tenant=tenant, marks={_READING: after.encode()}))
        return before, after

    return await commit(store, work)


def _purgeable(memory: Memory, until: datetime, rules: ExpiryRules) -> bool:
    if memory.expires_at is None:
        return False
    if memory.kind in rules.hard_kinds or sources_of(memory):
        return memory.expires_at <= until
    limit = until - rules.grace
    return memory.expires_at <= limit and (memory.status is not Status.EXPIRED or memory.updated_at <= limit)
