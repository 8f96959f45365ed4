"""Access to a database: its logins, and the parts of an open one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal, Self, TypeVar

from mnemic.errors import InvalidConfig
from mnemic.stores.postgres.connections import Connections, Session
from mnemic.stores.postgres.loop_thread import LoopThread
from mnemic.stores.postgres.maintenance import OwnerConnection
from mnemic.stores.postgres.pool import connect, open_pool
from mnemic.stores.postgres.replica import Replica
from mnemic.stores.postgres.schema import Prepared, migrations, prepare
from mnemic.types import VectorSpace

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DatabaseAccess:
    """Address and permitted operations of a store: see `PostgresStore`."""

    dsn: str
    owner_dsn: str
    pool_size: int
    seconds: float
    fast: bool
    replica_dsn: str | None = None

    @classmethod
    def from_settings(
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

    async def open(self, space: VectorSpace | None) -> OpenDatabase:
        """Migrate with the owner's rights, then connect as the application. Without a `space`, claim none.

        Raises the errors of `prepare` and `open_pool`.
        """
        thread = LoopThread("mnemic-postgres")
        try:
            return await thread.run(self._open_database(space, thread))
        except BaseException:
            await asyncio.to_thread(thread.stop)
            raise

    def open_and_wait(self) -> OpenDatabase:
        """`open` without a vector space, for a thread that has no loop."""
        thread = LoopThread("mnemic-postgres")
        try:
            return thread.call(self._open_database(None, thread))
        except BaseException:
            thread.stop()
            raise

    async def _open_database(self, space: VectorSpace | None, thread: LoopThread) -> OpenDatabase:
        owner = await connect(self.owner_dsn, self.seconds, {"application_name": "mnemic"})
        try:
            ready = await prepare(owner, space)
        finally:
            owner.terminate()
        settings = self._settings(ready)
        connections = await self._connect(self.dsn, self.seconds, settings, thread)
        upkeep = OwnerConnection(self.owner_dsn, self.seconds, ready.search_path)
        if self.replica_dsn is None:
            return OpenDatabase(thread, connections, ready, upkeep)
        given = partial(self._connect, self.replica_dsn, self.seconds / 2, settings, thread)
        replica = Replica(given, seconds=self.seconds)
        connections.after_commit = replica.note
        await connections.write(replica.note)
        return OpenDatabase(thread, connections, ready, upkeep, replica)

    def _settings(self, ready: Prepared) -> dict[str, str]:
        settings = {"application_name": "mnemic", "search_path": ready.search_path}
        if self.fast:
            settings["synchronous_commit"] = "off"
        elif ready.synchronous == "off":
            settings["synchronous_commit"] = "on"
        return settings

    async def _connect(
        self,
        dsn: str,
        seconds: float,
        settings: Mapping[str, str],
        thread: LoopThread,
    ) -> Connections:
        pool = await open_pool(dsn, size=self.pool_size, seconds=seconds, settings=settings)
        return Connections(pool, thread, seconds=seconds, schema=migrations()[-1].number)


@dataclass(frozen=True, slots=True)
class OpenDatabase:
    """Open database: the thread with its loop, its connections, facts determined at opening, the owner's connection."""

    thread: LoopThread
    connections: Connections
    ready: Prepared
    owner: OwnerConnection
    replica: Replica | None = None

    async def read(self, work: Callable[[Session], Awaitable[T]]) -> T:
        """Run `work` on the current committed state, or on the replica if it has every commit of this store."""
        if self.replica is None:
            return await self.connections.read(work)
        return await self.thread.run(self.replica.read(work, self.connections))

    async def close(self) -> None:
        """Finish running work, then release everything."""
        if self.replica is not None:
            await self.thread.run(self.replica.close())
        await self.thread.run(self._close_all())
        await asyncio.to_thread(self.thread.stop)

    def close_and_wait(self) -> None:
        """`close`, for a thread that has no loop."""
        self.thread.call(self._close_all())
        self.thread.stop()

    async def _close_all(self) -> None:
        await self.connections.close()
        self.owner.close()
