"""The waist of ten verbs on Cassandra."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from mnemic.errors import MnemicError, StoreBusy
from mnemic.ports.database_backend import RowChange, RowReads
from mnemic.stores.async_transactions import drive
from mnemic.stores.cassandra.address import Address
from mnemic.stores.cassandra.buckets import Buckets
from mnemic.stores.cassandra.commit import Commits
from mnemic.stores.cassandra.connection import Connection, pause
from mnemic.stores.cassandra.partitions import Partitions
from mnemic.stores.cassandra.routing import EVERYWHERE, Partition, of_tenant
from mnemic.stores.cassandra.transaction_view import PartitionChanged, UnansweredTransaction, View
from mnemic.stores.cassandra.upkeep import Upkeep
from mnemic.types import Deadline
from mnemic.types.capabilities import Capabilities

T = TypeVar("T")

_LIMIT = 20.0
"""Seconds for which a transaction without a deadline is tried."""


class CassandraRows:
    """A `RowStore` in a keyspace. Transactions read without locks, and run again if the rows read have changed."""

    def __init__(self, address: Address) -> None:
        self.link = Connection(address)
        self.partitions = Partitions(self.link, address.prefix)
        self.split_above = address.split_above
        self._buckets = Buckets(self.partitions, above=address.split_above, size=address.bucket_size)
        self._commits = Commits(self._buckets)
        self.upkeep = Upkeep(self, self._buckets, self._commits)
        self._turns: WeakValueDictionary[tuple[int, Partition], asyncio.Lock] = WeakValueDictionary()

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(name="cassandra", durable=self.link.durable, shared=True, collects=True, reads_marks=True)

    async def open(self) -> None:
        await self.link.open()

    async def close(self) -> None:
        await self.link.close()

    async def transact(self, work: Callable[[RowChange], Awaitable[T]], *, deadline: Deadline | None = None) -> T:
        return await self._repeat_work(work, _LIMIT if deadline is None else deadline.remaining(), recalls=True)

    async def read(self, work: Callable[[RowReads], Awaitable[T]]) -> T:
        return await self._repeat_work(work, _LIMIT)

    async def know(self, home: Partition) -> None:
        """Read what every write to a scope begins with, unless this process knows it."""
        if not self.partitions.knows_marks(home):
            await self._commits.prepare(home)

    async def read_before_write(
        self, work: Callable[[RowReads], Awaitable[T]], home: Partition, path: str, request: str | None
    ) -> T:
        """Run `work` on a scope and what a write to it checks outside it: marks under this path, an idempotency key.
        The write itself checks all of it again, so nothing is confirmed here.
        """
        known = await self._commits.prepare(home, path, request)
        view = View(self._buckets)
        heads = {home: known.head, of_tenant(home.tenant): known.tenant, EVERYWHERE: known.everywhere}
        view.heads |= {one: replace(head) for one, head in heads.items() if head is not None}
        try:
            result = await drive(work, view)
        except PartitionChanged:
            self.partitions.unlearn(home)
            return await self.read(work)
        self.partitions.answers.keep(view.answers)
        return result

    async def tidy(self, *, whole: bool = False) -> int:
        """Remove leftovers of ended processes, and finish moving rows into buckets. The nodes' compactions drop the
        removed rows once `gc_grace_seconds` are over.
        """
        await self.partitions.sweep()
        await self.upkeep.tidy()
        return 0

    async def _repeat_work(self, work: Callable[[Any], Awaitable[T]], seconds: float, *, recalls: bool = False) -> T:
        until = time.monotonic() + seconds
        wanted: Collection[Partition] = ()
        unanswered: list[tuple[UnansweredTransaction, T]] = []
        tried = 0
        while True:
            view = View(self._buckets, recalls=recalls and tried == 0)
            async with self._in_turn(wanted):
                try:
                    if arrived := await self._late_results(unanswered):
                        return arrived[0]
                    result = await self._run_work(work, view)
                    if await self._commits.commit(view):
                        return result
                    if view.unanswered is not None:
                        unanswered.append((view.unanswered, result))
                except PartitionChanged:
                    pass
                except MnemicError:
                    # It may have met its own change, which arrived while it was running again.
                    if arrived := await self._late_results(unanswered):
                        return arrived[0]
                    raise
            for home in view.heads:
                self.partitions.unlearn(home)
            tried += 1
            wanted = [home for home, changes in view.changes.items() if changes and home != EVERYWHERE]
            if time.monotonic() > until:
                raise StoreBusy(hint="others have written to the same memories every time; try again")
            await pause(0.0, 0.005 * min(tried, 10))

    async def _late_results(self, unanswered: list[tuple[UnansweredTransaction, T]]) -> list[T]:
        """Return the results of attempts that were committed after all: one or none. Drops failed ones."""
        made = [(result, await self._commits.was_made(attempt)) for attempt, result in unanswered]
        unanswered[:] = [one for one, (_, known) in zip(unanswered, made, strict=True) if known is None]
        return [result for result, known in made if known]

    async def _run_work(self, work: Callable[[Any], Awaitable[T]], view: View) -> T:
        """Run `work`. Its error counts only if its reads are of one moment, and of now."""
        try:
            return await drive(work, view)
        except PartitionChanged:
            raise
        except Exception as error:
            if not (view.recalls or isinstance(error, MnemicError)):
                raise
            if not await self._commits.holds(view, list(view.heads)):
                raise PartitionChanged from None
            raise

    @asynccontextmanager
    async def _in_turn(self, wanted: Collection[Partition]) -> AsyncIterator[None]:
        """Retry transactions of this process that competed for a partition, one after the other."""
        async with AsyncExitStack() as turns:
            for home in sorted(wanted):
                key = (id(asyncio.get_running_loop()), home)
                lock = self._turns.get(key) or self._turns.setdefault(key, asyncio.Lock())
                await turns.enter_async_context(lock)
            yield
