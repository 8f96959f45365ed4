"""The outbox and the projections that it feeds: publishing after a commit, the background worker, compaction.

One consumer for each projection delivers the entries in order and stops at the first failure.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TYPE_CHECKING

from mnemic.errors import MnemicError, StoreUnavailable
from mnemic.ports import Clock, RecordStore
from mnemic.ports.projections import Outbox, Projection
from mnemic.types import Change, Deadline, Memory, OutboxEntry, Scope, Status
from mnemic.unit_of_work import Mutation, Unit, commit

if TYPE_CHECKING:
    from mnemic.ports import Clock, RecordStore
    from mnemic.ports.projections import Projection

BATCH = 100
"""Entries taken at once; after a failure one, then twice as many each time."""

SECONDS = 2.0
"""Seconds for which one batch may keep a projection busy."""

SHORTEST_REST, LONGEST_REST = 0.5, 60.0
"""Seconds for which a projection is not called after a failure."""

# Each look finds only changes made during the one before, so five are plenty unless something writes constantly.
_LOOKS = 5
_PAGE = 1000

_log = logging.getLogger("mnemic.write")


@dataclass(frozen=True, slots=True, kw_only=True)
class CatchUpResult:
    """Result of catching up: the memories that the taken entries were about, one for each, a flag for entries that may
    be left, and the part that failed (the projection or `outbox`).
    """

    memory_ids: tuple[str, ...] = ()
    behind: bool = False
    failed: str | None = None

    @property
    def taken(self) -> int:
        """Return the number of entries taken."""
        return len(self.memory_ids)


class OutboxConsumer:
    """Delivers the outbox to one projection. `failures` counts failures by name.

    Many processes may feed one projection, each with the memories it has just written. So after every apply the store
    is read again, and later changes are applied too: the last process leaves the memories in their current state, and
    only then are the entries acknowledged. After a kill in between they are delivered again. After a failure the
    projection is skipped for a while, twice as long each time up to a minute. `late` is set if something was left for
    later.
    """

    def __init__(self, projection: Projection, store: RecordStore, clock: Clock, *, seconds: float = SECONDS) -> None:
        self.projection = projection
        self.name = projection.name
        self.failures: Counter[str] = Counter()
        self.late = asyncio.Event()
        self._store = store
        self._clock = clock
        self._seconds = seconds
        self._lock = asyncio.Lock()
        self._registered = False
        self._window = BATCH
        self._rest = 0.0
        self._rests_until = float("-inf")

    @property
    def window(self) -> int:
        """Number of entries it takes at once now."""
        return self._window

    @property
    def rest(self) -> float:
        """Seconds for which it is still not called after a failure."""
        return max(0.0, self._rests_until - self._clock.monotonic())

    async def register(self) -> None:
        """Ensure that the outbox retains entries until this projection has consumed them. Raises StoreFailed."""
        if not self._registered:
            await self._store.register(self.name)
            self._registered = True

    async def catch_up(
        self,
        known: Sequence[Change] = (),
        *,
        deadline: Deadline | None = None,
        at_once: bool = False,
        patient: bool = False,
    ) -> CatchUpResult:
        """Deliver the oldest entries, up to a batch. `known` saves reading the memories just written; `at_once` does
        not wait for the end of the pause after a failure. Only a `patient` caller rebuilds a tenant's part if an entry
        requests it; for others the entry stays. Never raises for failures of projection or store.
        """
        # One delivery at a time in a process: two would take the same entries.
        async with self._lock:
            if self.rest and not at_once:
                return self._missing_result(self.name)
            try:
                await self.register()
                left = await self._store.pending(projection=self.name, limit=self._window)
                # A rebuild of a whole tenant is never mixed with single changes.
                entries = list(takewhile(lambda entry: not entry.whole, left)) or left[:1]
                if entries and entries[0].whole:
                    if not patient:
                        self.late.set()
                        return CatchUpResult(behind=True)
                    if not await self._renew_lease(entries[0].scope.tenant):
                        return self._missing_result(self.name)
                elif entries and not await self._brought(await self._as_known(entries, known), deadline):
                    return self._missing_result(self.name)
                if entries:
                    # Only now: a process killed before this delivers the entries again, which `apply` tolerates.
                    await self._store.acknowledge([entry.sequence for entry in entries], projection=self.name)
            except MnemicError as error:
                _log.warning("the outbox cannot be drained for %s: %s", self.name, error.reason)
                return self._missing_result("outbox")
            # A full window may be followed by more; one entry too many is cheaper than a count.
            behind = len(entries) < len(left) or len(left) == self._window
            caught = CatchUpResult(memory_ids=tuple(entry.memory_id for entry in entries), behind=behind)
            if caught.behind:
                self.late.set()
            # Recover in growing steps after a failure, which shrinks the window to one.
            self._window = min(BATCH, 2 * self._window)
            self._rest, self._rests_until = 0.0, float("-inf")
            return caught

    async def rebuild(self, tenant: str) -> int:
        """Rebuild the tenant's part; return the number of active memories. Superseded ones are delivered too: most
        projections do not show them, a graph keeps them as history.

        Writing continues meanwhile. Until the rebuild is finished, the projection may lack memories, but it never shows
        a forbidden one. Raises StoreFailed; another run starts over.
        """
        await self.register()
        # Cleared first: a projection that lacks memories for a while is allowed, one that shows forgotten ones is not.
        await self.projection.clear(tenant)
        built, after = 0, None
        statuses = [Status.ACTIVE, Status.SUPERSEDED]
        while page := await self._store.scan(tenant, statuses=statuses, after=after, limit=BATCH):
            after = page[-1].memory_id
            await self.bring([Change(entry=OutboxEntry.for_memory(memory), memory=memory) for memory in page])
            built += sum(memory.status is Status.ACTIVE for memory in page)
        return built

    async def _renew_lease(self, tenant: str) -> bool:
        try:
            await self.rebuild(tenant)
        except Exception as error:  # noqa: BLE001 - as for `apply`: the entry stays, and asks again
            self._count_failure(error)
            return False
        return True

    async def bring(self, changes: Sequence[Change]) -> None:
        """Apply these changes past the outbox. Raises StoreFailed."""
        if not await self._brought(changes, None):
            raise StoreUnavailable(self.name, hint="the projection could not be brought up to date")

    async def _brought(self, changes: Sequence[Change], deadline: Deadline | None) -> bool:
        seconds = self._seconds if deadline is None else min(self._seconds, deadline.remaining())
        for _ in range(_LOOKS):
            try:
                async with asyncio.timeout(seconds):
                    await self.projection.apply(changes)
            except Exception as error:  # noqa: BLE001 - a projection may fail in any way; the write is committed
                self._count_failure(error)
                return False
            changes = await self._current_state(changes)
            if not changes:
                return True
        return False  # under constant change: the next one looks again

    async def _current_state(self, changes: Sequence[Change]) -> list[Change]:
        """Return the current state of the memories that have changed since they were applied."""
        now = await current_memories(self._store, [change.entry for change in changes])
        looked = (replace(change, memory=now.get(change.entry.place)) for change in changes)
        return [new for new, old in zip(looked, changes, strict=True) if _state(new) != _state(old)]

    async def _as_known(self, entries: Sequence[OutboxEntry], known: Sequence[Change]) -> list[Change]:
        """One change for each memory of the entries."""
        # Only the last entry of each memory: the projection gets the current state, not each step to it.
        latest = {entry.place: entry for entry in entries}
        memories: dict[tuple[str, str], Memory | None] = {change.entry.place: change.memory for change in known}
        unknown = [entry for place, entry in latest.items() if place not in memories]
        if unknown:
            memories |= await current_memories(self._store, unknown)
        return [Change(entry=entry, memory=memories.get(place)) for place, entry in latest.items()]

    def _missing_result(self, name: str) -> CatchUpResult:
        self.failures[name] += 1
        self.late.set()
        return CatchUpResult(behind=True, failed=name)

    def _count_failure(self, error: Exception) -> None:
        reason = error.reason if isinstance(error, MnemicError) else type(error).__name__
        _log.warning("projection %s could not be brought up to date: %s", self.name, reason)
        # One entry at a time, so that a single poisonous one blocks as little as possible and is identified.
        self._window = 1
        self._rest = min(LONGEST_REST, max(SHORTEST_REST, 2 * self._rest))
        self._rests_until = self._clock.monotonic() + self._rest


async def current_memories(store: RecordStore, entries: Collection[OutboxEntry]) -> Mapping[tuple[str, str], Memory]:
    """Return the current memories of these entries, by tenant and identifier, without those that await review."""
    found: dict[tuple[str, str], Memory] = {}
    for tenant in dict.fromkeys(entry.scope.tenant for entry in entries):
        inside = [entry for entry in entries if entry.scope.tenant == tenant]
        scopes = list(dict.fromkeys(entry.scope for entry in inside))
        memories = await store.get_many([entry.memory_id for entry in inside], scopes=scopes)
        found |= {
            (tenant, memory_id): memory
            for memory_id, memory in memories.items()
            if memory.status is not Status.PENDING_REVIEW
        }
    return found


def _state(change: Change) -> tuple[object, ...] | None:
    memory = change.memory
    return None if memory is None else (memory.version, memory.status, memory.updated_at)


IDLE_SECONDS = 30.0
"""Seconds between two looks of the background worker for entries that other processes left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainReport:
    """Numbers of entries delivered, by projection; under `outbox` those that no projection waits for. `behind`: entries
    that each projection has yet to consume, failed ones included.
    """

    taken: Mapping[str, int] = field(default_factory=dict)
    behind: Mapping[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """All entries taken."""
        return sum(self.taken.values())


async def drain(
    outbox: Outbox, feeds: Sequence[OutboxConsumer], *, dry_run: bool = False, about: Collection[str] | None = None
) -> DrainReport:
    """Deliver the present contents of the outbox, projections in parallel, each up to the first entry that it refuses.
    With `about`, only entries of these memories are counted as taken.

    Registered projections that are not among `feeds` keep their entries; an outbox without readers is emptied. Raises
    StoreFailed if the store cannot be read.
    """
    waiting = await outbox.projections()
    if dry_run:
        return DrainReport(behind=waiting or {"outbox": len(await outbox.pending(limit=_PAGE))})
    if not waiting and not feeds:
        return DrainReport(taken={"outbox": await _empty_outbox(outbox, about)})
    taken = await asyncio.gather(*(_drain_feed(feed, waiting.get(feed.name, BATCH), about) for feed in feeds))
    behind = {name: count for name, count in (await outbox.projections()).items() if count}
    return DrainReport(taken={feed.name: count for feed, count in zip(feeds, taken, strict=True)}, behind=behind)


async def _drain_feed(feed: OutboxConsumer, waiting: int, about: Collection[str] | None) -> int:
    taken = counted = 0
    # Bounded by the backlog at the start: under constant writing the call would never return.
    while taken < max(1, waiting):
        # Read before the call, which changes it: a failure of one entry alone is final, one of a batch is not.
        alone = feed.window == 1
        caught = await feed.catch_up(at_once=True, patient=True)
        taken += caught.taken
        counted += _count_about(caught.memory_ids, about)
        if not caught.behind or caught.failed == "outbox" or (caught.failed and alone):
            break
    return counted


def _count_about(memory_ids: Sequence[str], about: Collection[str] | None) -> int:
    return len(memory_ids) if about is None else sum(memory_id in about for memory_id in memory_ids)


async def _empty_outbox(outbox: Outbox, about: Collection[str] | None) -> int:
    emptied = 0
    while waiting := await outbox.pending(limit=_PAGE):
        emptied += _count_about([entry.memory_id for entry in waiting], about)
        await outbox.acknowledge([entry.sequence for entry in waiting])
    return emptied


class OutboxWorker:
    """Drains the outbox in the background: at once if entries were left, and periodically for entries of other
    processes.

    Its interval is in the event loop's time, because it waits for the outside world. One task for each projection.
    """

    def __init__(self, feeds: Sequence[OutboxConsumer]) -> None:
        self._feeds = feeds
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start the worker, unless it is running."""
        if not self._tasks:
            self._tasks = [asyncio.create_task(self._follow(feed), name=f"mnemic-{feed.name}") for feed in self._feeds]

    async def stop(self) -> None:
        """Stop; entries that were not drained stay in the outbox. May be called twice."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        # The cancellations come back as results; awaiting them makes sure that no task uses the store any more.
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _follow(self, feed: OutboxConsumer) -> None:
        while True:
            # Cleared before the look, not after it: a change in between sets it again and is not slept through.
            feed.late.clear()
            caught = await feed.catch_up(patient=True)
            if caught.failed:
                await asyncio.sleep(max(feed.rest, SHORTEST_REST))
            elif not caught.behind:
                with suppress(TimeoutError):
                    async with asyncio.timeout(IDLE_SECONDS):
                        await feed.late.wait()


async def compact(store: RecordStore, *, most: int) -> dict[str, int]:
    """Replace all entries that wait for a projection, if they are more than `most`, by one "rebuild" entry for each
    tenant; return the number of entries removed, by projection. Raises StoreFailed.

    The new entry is durable before the old ones are removed: after an interruption the next call starts over, and
    nothing is lost.
    """
    waiting = await store.projections()
    late = [name for name, count in waiting.items() if count > most]
    return {name: await _compact_projection(store, name, waiting.keys() - {name}) for name in late}


async def _compact_projection(store: RecordStore, projection: str, others: set[str]) -> int:
    gone, marked = 0, set[str]()
    while page := await store.pending(projection=projection, limit=_PAGE):
        new = {entry.scope.tenant: entry.scope for entry in page if entry.scope.tenant not in marked}
        # Only "rebuild" entries are left: this projection now has to consume them.
        if not new and all(entry.whole for entry in page):
            for other in others:  # nothing was compacted for it
                await store.acknowledge([entry.sequence for entry in page], projection=other)
            break
        if new:
            await _mark(store, list(new.values()))
            marked |= new.keys()
        # Older "rebuild" entries of a tenant that has just got a new one are acknowledged as well.
        old = [entry.sequence for entry in page if not entry.whole or entry.scope.tenant in new]
        await store.acknowledge(old, projection=projection)
        gone += len(old)
    return gone


async def _mark(store: RecordStore, scopes: list[Scope]) -> None:
    async def work(unit: Unit) -> None:
        for scope in scopes:
            await unit.apply(Mutation(tenant=scope.tenant, outbox=[OutboxEntry.whole_tenant(scope)]))

    await commit(store, work)


MAX_WAITING = 100_000
"""Entries that may wait for one projection."""


async def maintain_outbox(
    store: RecordStore, *, fed: bool, before: asyncio.Task[None] | None
) -> asyncio.Task[None] | None:
    """Maintain the outbox, in a background task if that may take long. Return the running task, which is `before` while
    that has not finished.
    """
    # Without garbage collection in the store the work is short: no task is needed.
    if not store.capabilities.collects:
        await _look_after(store, fed)
        return None
    return asyncio.create_task(_look_after(store, fed)) if before is None or before.done() else before


async def stop_upkeep(looking: asyncio.Task[None]) -> None:
    """Stop the running task."""
    # A store may be closed on another event loop than the writer's; tasks can only be cancelled on theirs.
    if looking.get_loop() is asyncio.get_running_loop():
        looking.cancel()
        await asyncio.wait([looking])
    else:
        with suppress(RuntimeError):  # that loop has ended, and the task with it
            looking.get_loop().call_soon_threadsafe(looking.cancel)


async def _look_after(store: RecordStore, fed: bool) -> None:
    try:
        if not fed and not await store.projections():
            # Of a store that collects, only what somebody has collected is in the outbox: `mnemic maintain` does both.
            if store.capabilities.collects:
                return
            waiting = await store.pending(limit=_PAGE)
            await store.acknowledge([entry.sequence for entry in waiting])
        else:
            compacted = await compact(store, most=MAX_WAITING)
            for name, count in compacted.items():
                _log.warning("projection %s has not fetched %d entries: it will be built anew", name, count)
    except MnemicError as error:
        _log.warning("the outbox could not be looked after: %s", error.reason)


_LOOK_AFTER = 256
"""Number of changes between checks of the outbox: without readers it is emptied, and a growing one is compacted."""


_DELIVERED = BATCH // 2


class Publisher:
    """Feeds projections right after a commit, each at its own pace: a failing one does not delay the others.

    Pending memories are never published. Without a registered projection the outbox is emptied from time to time: a
    projection that is added later is built from the memories, and so is one that has fetched nothing for too long.
    """

    def __init__(self, store: RecordStore, clock: Clock, projections: Sequence[Projection] = ()) -> None:
        self._store = store
        self.feeds: tuple[OutboxConsumer, ...] = _feeds(projections, store, clock) if projections else ()
        self._unseen = 0
        self.looking: asyncio.Task[None] | None = None

    @property
    def failures(self) -> Counter[str]:
        """Number of times each projection missed something since the start; `outbox`: the store refused the entries."""
        return sum((feed.failures for feed in self.feeds), Counter())

    async def publish(self, changes: Sequence[Change], *, deadline: Deadline | None = None) -> tuple[str, ...]:
        """Apply the changes after the earlier backlog; return the names of the projections that lag now, and `outbox`
        if the store failed. Never raises for failures of projections or store.
        """
        if not changes:
            return ()
        # Counted in this process only: an estimate that saves a read of the outbox per write.
        self._unseen += len(changes)
        if self._unseen >= _LOOK_AFTER:
            self._unseen = 0
            self.looking = await maintain_outbox(self._store, fed=bool(self.feeds), before=self.looking)
        missed: tuple[str, ...] = ()
        # In parts that a consumer takes at once, or it would seem to lag.
        for first in range(0, len(changes) if self.feeds else 0, _DELIVERED):
            missed = await self.catch_up(changes[first : first + _DELIVERED], deadline=deadline)
        return missed

    async def catch_up(self, known: Sequence[Change] = (), *, deadline: Deadline | None = None) -> tuple[str, ...]:
        """Deliver the contents of the outbox in the same way, up to one batch for each projection."""
        # Side by side: a projection that waits for its timeout delays no other.
        caught = await asyncio.gather(*(feed.catch_up(known, deadline=deadline) for feed in self.feeds))
        return tuple(
            sorted({one.failed or feed.name for feed, one in zip(self.feeds, caught, strict=True) if one.behind})
        )


def _feeds(projections: Sequence[Projection], store: RecordStore, clock: Clock) -> tuple[OutboxConsumer, ...]:
    return tuple(OutboxConsumer(projection, store, clock) for projection in projections)
