"""Access to a database: its logins, and the parts of an open one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, Self, TypeVar

from mnemic.errors import InvalidConfig
from mnemic.stores.postgres.connections import Connections, Session
from mnemic.stores.postgres.direct_connections import Server, Servers
from mnemic.stores.postgres.loop_thread import LoopThread
from mnemic.stores.postgres.owner_maintenance import OwnerConnection
from mnemic.stores.postgres.pool import connect, open_pool, session_settings
from mnemic.stores.postgres.replica import Replica
from mnemic.stores.postgres.router_servers import connected, prepare_all
from mnemic.stores.postgres.routing import Route, Router, digest_of
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
    router: Router | None = None

    @classmethod
    def checked(
        cls,
        dsn: str,
        owner_dsn: str | None,
        pool_size: int,
        statement_timeout: float,
        durability: Literal["durable", "fast"],
        replica_dsn: str | None = None,
        router: str | None = None,
        servers: Sequence[str] = (),
    ) -> Self:
        """Check the settings of the connections. Raises InvalidConfig (`invalid_config:durability`,
        `invalid_config:postgres`, `invalid_config:router`).
        """
        led = Router.checked(router, servers)
        if led is not None and (replica_dsn or owner_dsn):
            raise InvalidConfig("router", hint="behind a router there is no replica and no owner_dsn")
        if durability not in ("durable", "fast"):
            raise InvalidConfig("durability", hint="durable or fast")
        if pool_size < 1 or not 0 < statement_timeout <= 3600:
            raise InvalidConfig("postgres", hint="pool_size is at least 1, statement_timeout above 0 and at most 3600")
        return cls(dsn, owner_dsn or dsn, pool_size, statement_timeout, durability == "fast", replica_dsn, led)

    @property
    def server_dsns(self) -> tuple[str, ...]:
        """Addresses for work with the owner's rights: one for each server."""
        return (self.owner_dsn,) if self.router is None else self.router.servers

    async def open(self, space: VectorSpace | None) -> OpenDatabase:
        """Migrate with the owner's rights, then connect as the application. Without a `space`, claim none.

        Raises the errors of `prepare` and `open_pool`.
        """
        thread = LoopThread("mnemic-postgres")
        try:
            return await thread.run(self._opened(space, thread))
        except BaseException:
            await asyncio.to_thread(thread.stop)
            raise

    def open_and_wait(self) -> OpenDatabase:
        """`open` without a vector space, for a thread that has no loop."""
        thread = LoopThread("mnemic-postgres")
        try:
            return thread.call(self._opened(None, thread))
        except BaseException:
            thread.stop()
            raise

    async def _opened(self, space: VectorSpace | None, thread: LoopThread) -> OpenDatabase:
        if self.router is not None:
            return await self._led(self.router, space, thread)
        owner = await connect(self.owner_dsn, self.seconds, {"application_name": "mnemic"})
        try:
            ready = await prepare(owner, space)
        finally:
            owner.terminate()
        settings = self._settings(ready)
        connections = await self._connected(self.dsn, self.seconds, settings, thread)
        members = Servers([Server(connections, OwnerConnection(self.owner_dsn, self.seconds, ready.search_path))])
        if self.replica_dsn is None:
            return OpenDatabase(thread, connections, ready, members)
        given = partial(self._connected, self.replica_dsn, self.seconds / 2, settings, thread)
        replica = Replica(given, seconds=self.seconds)
        connections.after_commit = replica.note
        await connections.write(replica.note)
        return OpenDatabase(thread, connections, ready, members, replica)

    async def _led(self, router: Router, space: VectorSpace | None, thread: LoopThread) -> OpenDatabase:
        """Open the servers behind the router under their own addresses, then the router itself."""
        async with connected(router.servers, self.seconds) as owners:
            ready = await prepare_all(owners, space)
        made = []
        for dsn, one in zip(router.servers, ready, strict=True):
            direct = await self._connected(dsn, self.seconds, self._settings(one), thread)
            made.append(Server(direct, OwnerConnection(dsn, self.seconds, one.search_path)))
        members, first = Servers(made), ready[0]
        settings = session_settings(self.seconds, self._settings(first))
        schema = migrations()[-1].number
        route = Route(router.announcement, settings, digest_of(first.salt), schema, members.ask_any)
        connections = await self._connected(self.dsn, self.seconds, None, thread, route)
        whole = replace(first, durable=all(one.durable for one in ready))
        return OpenDatabase(thread, connections, whole, members, routed=True)

    def _settings(self, ready: Prepared) -> dict[str, str]:
        settings = {"application_name": "mnemic", "search_path": ready.search_path}
        if self.fast:
            settings["synchronous_commit"] = "off"
        elif ready.synchronous == "off":
            settings["synchronous_commit"] = "on"
        return settings

    async def _connected(
        self,
        dsn: str,
        seconds: float,
        settings: Mapping[str, str] | None,
        thread: LoopThread,
        route: Route | None = None,
    ) -> Connections:
        pool = await open_pool(dsn, size=self.pool_size, seconds=seconds, settings=settings)
        return Connections(pool, thread, seconds=seconds, schema=migrations()[-1].number, route=route)


@dataclass(frozen=True, slots=True)
class OpenDatabase:
    """Open database: the thread with its loop, its connections, facts determined at opening, and the server or the
    servers of the router, if it is `routed`.
    """

    thread: LoopThread
    connections: Connections
    ready: Prepared
    members: Servers
    replica: Replica | None = None
    routed: bool = False

    async def read(self, work: Callable[[Session], Awaitable[T]]) -> T:
        """Run `work` on the current committed state, or on the replica if it has every commit of this store."""
        if self.replica is None:
            return await self.connections.read(work)
        return await self.thread.run(self.replica.read(work, self.connections))

    async def close(self) -> None:
        """Finish running work, then release everything."""
        if self.replica is not None:
            await self.thread.run(self.replica.close())
        await self.thread.run(self._closed())
        await asyncio.to_thread(self.thread.stop)

    def close_and_wait(self) -> None:
        """`close`, for a thread that has no loop."""
        self.thread.call(self._closed())
        self.thread.stop()

    async def _closed(self) -> None:
        await self.connections.close()
        await self.members.close(self.connections)
