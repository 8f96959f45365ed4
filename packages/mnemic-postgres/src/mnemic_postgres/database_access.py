"""The way to a database: who connects, and what an open one consists of."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, Self, TypeVar

from mnemic.errors import InvalidConfig
from mnemic.types import VectorSpace
from mnemic_postgres.connections import Connections, Session
from mnemic_postgres.loop_thread import LoopThread
from mnemic_postgres.pool import connect, open_pool
from mnemic_postgres.replica import Replica
from mnemic_postgres.schema import Prepared, migrations, prepare

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Access:
    """An address with what a store may do there: see `PostgresStore`."""

    dsn: str
    owner_dsn: str
    pool_size: int
    seconds: float
    fast: bool
    replica_dsn: str | None = None

    @classmethod
    def checked(
        cls,
        dsn: str,
        owner_dsn: str | None,
        pool_size: int,
        statement_timeout: float,
        durability: Literal["durable", "fast"],
        replica_dsn: str | None = None,
    ) -> Self:
        """Check the settings of the connections. Raises InvalidConfig (`invalid_config:durability`,
        `invalid_config:postgres`).
        """
        if durability not in ("durable", "fast"):
            raise InvalidConfig("durability", hint="durable or fast")
        if pool_size < 1 or not 0 < statement_timeout <= 3600:
            raise InvalidConfig("postgres", hint="pool_size is at least 1, statement_timeout above 0 and at most 3600")
        return cls(dsn, owner_dsn or dsn, pool_size, statement_timeout, durability == "fast", replica_dsn)

    async def open(self, space: VectorSpace | None) -> Opened:
        """Migrate with the owner's rights, then connect as the application. Without a `space` none is claimed.

        Raises what `prepare` and `open_pool` raise.
        """
        thread = LoopThread("mnemic-postgres")
        try:
            return await thread.run(self._opened(space, thread))
        except BaseException:
            await asyncio.to_thread(thread.stop)
            raise

    def open_and_wait(self) -> Opened:
        """`open` without a vector space, for a thread that has no loop."""
        thread = LoopThread("mnemic-postgres")
        try:
            return thread.call(self._opened(None, thread))
        except BaseException:
            thread.stop()
            raise

    async def _opened(self, space: VectorSpace | None, thread: LoopThread) -> Opened:
        owner = await connect(self.owner_dsn, self.seconds, {"application_name": "mnemic"})
        try:
            ready = await prepare(owner, space)
        finally:
            owner.terminate()
        settings = {"application_name": "mnemic", "search_path": ready.search_path}
        if self.fast:
            settings["synchronous_commit"] = "off"
        elif ready.synchronous == "off":
            settings["synchronous_commit"] = "on"

        async def connected(dsn: str, seconds: float) -> Connections:
            given = partial(open_pool, size=self.pool_size, settings=settings, vector_schema=ready.vector_schema)
            pool = await given(dsn, seconds=seconds)
            return Connections(pool, thread, seconds=seconds, schema=migrations()[-1].number)

        connections = await connected(self.dsn, self.seconds)
        if self.replica_dsn is None:
            return Opened(thread, connections, ready)
        replica = Replica(partial(connected, self.replica_dsn, self.seconds / 2), seconds=self.seconds)
        connections.after_commit = replica.note
        await connections.write(replica.note)
        return Opened(thread, connections, ready, replica)


@dataclass(frozen=True, slots=True)
class Opened:
    """An open database: the thread with its loop, the connections that live there, and what was found."""

    thread: LoopThread
    connections: Connections
    ready: Prepared
    replica: Replica | None = None

    async def read(self, work: Callable[[Session], Awaitable[T]]) -> T:
        """`work` on what is committed now, or on the replica, which has all that was committed here."""
        if self.replica is None:
            return await self.connections.read(work)
        return await self.thread.run(self.replica.read(work, self.connections))

    async def close(self) -> None:
        """Finish what runs, then end everything."""
        if self.replica is not None:
            await self.thread.run(self.replica.close())
        await self.thread.run(self.connections.close())
        await asyncio.to_thread(self.thread.stop)

    def close_and_wait(self) -> None:
        """`close`, for a thread that has no loop."""
        self.thread.call(self.connections.close())
        self.thread.stop()
