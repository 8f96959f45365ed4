"""Consumer of the outbox: drain it into the projections, once or continuously in the background."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from mnemic.ports.projections import Outbox
from mnemic.write.outbox_consumer import BATCH, SHORTEST_REST, OutboxConsumer

IDLE_SECONDS = 30.0
"""Seconds between two looks of the background worker for entries that other processes left."""

_OUTBOX_PAGE = 1000


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
        return DrainReport(behind=waiting or {"outbox": len(await outbox.pending(limit=_OUTBOX_PAGE))})
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
    while waiting := await outbox.pending(limit=_OUTBOX_PAGE):
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
