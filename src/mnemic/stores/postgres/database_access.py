"""Access to a database: its logins, the parts of an open one, and reads from a replica as far as it has caught up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal, Self, TypeVar

from mnemic.errors import InvalidConfig, MnemicError, StoreBusy, StoreUnavailable
from mnemic.stores.postgres.connections import Connections, Session, as_mnemic_error, connect, open_pool
from mnemic.stores.postgres.loop_thread import LoopThread
from mnemic.stores.postgres.maintenance import OwnerConnection
from mnemic.stores.postgres.schema import Prepared, migrations, prepare
from mnemic.types import VectorSpace


class Backoff:
    """Pause after failures of one server, from `shortest` to `longest` seconds. An answer ends it."""

    def __init__(self, shortest: float, longest: float) -> None:
        self._shortest, self._longest = shortest, longest
        self._pause, self._until = 0.0, float("-inf")

    @property
    def failing(self) -> bool:
        """True if the server did not answer when it was last asked."""
        return self._pause > 0

    @property
    def pausing(self) -> bool:
        """True while it is not asked."""
        return time.monotonic() < self._until

    def begin_pause(self) -> None:
        """Begin the next pause."""
        self._pause = min(self._longest, max(self._shortest, 2 * self._pause))
        self._until = time.monotonic() + self._pause

    def reset_pause(self) -> None:
        """Let the next failure begin with the shortest pause again."""
        self._pause = 0.0


BELIEVED = 1.0
"""Seconds for which the replica's last report counts."""
SHORTEST_REST, LONGEST_REST = 1.0, 60.0
"""Seconds for which a replica that failed is not asked; twice as long each time."""

_COMMITTED = "SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint AS lsn"
_FOLLOWING = """
    SELECT pg_is_in_recovery() AND EXISTS (SELECT FROM pg_stat_wal_receiver) AS follows,
           (coalesce(pg_last_wal_replay_lsn(), '0/0') - '0/0')::bigint AS replayed
"""


class Replica:
    """Sends reads to the replica once it has replayed every commit of this store, while it is connected to the primary;
    all others, and all reads while the replica fails, go to the primary.

    Positions are bytes of the write-ahead log. All of it runs on the loop of the connections, which `opened` creates at
    first need. No read takes longer than `seconds`, of which the replica gets half.
    """

    def __init__(self, opened: Callable[[], Awaitable[Connections]], *, seconds: float) -> None:
        self._open = opened
        self._seconds = seconds
        self._connections: Connections | None = None
        self._needed: int | None = None
        self._unnoted = 0
        self._replayed = 0
        self._looked_at = float("-inf")
        self._looking = False
        self._backoff = Backoff(SHORTEST_REST, LONGEST_REST)

    @property
    def failing(self) -> bool:
        """True if it did not answer when last asked, or does not follow the primary."""
        return self._backoff.failing

    async def note(self, session: Session) -> None:
        """Record a commit on the primary: the replica must have replayed it before it is asked again. Never raises."""
        failures = self._unnoted
        try:
            (row,) = await session.fetch(_COMMITTED)
        except MnemicError:
            # The position of this commit is unknown, so no position of the replica is known to be far enough.
            self._unnoted += 1
            self._needed = None
            return
        # Another note may have failed meanwhile; its commit could be the later one.
        if failures == self._unnoted:
            self._needed = max(self._needed or 0, row["lsn"])

    async def read(self, work: Callable[[Session], Awaitable[T]], primary: Connections) -> T:
        """Read as `Connections.read` does."""
        began = time.monotonic()
        if await self._serves():
            try:
                # Half of the time, so that the primary can still answer if the replica hangs.
                return await self._ready.read(_to_the_end(work), seconds=self._seconds / 2)
            except _Overtaken:
                pass
            except (StoreUnavailable, StoreBusy):
                self._note_failure()
        return await primary.read(work, seconds=self._seconds - (time.monotonic() - began))

    async def close(self) -> None:
        """Close the connections."""
        if self._connections is not None:
            await self._connections.close()

    async def _serves(self) -> bool:
        now = time.monotonic()
        # One caller asks the replica for its position; the others go to the primary meanwhile instead of queueing.
        if self._needed is None or self._looking or self._backoff.pausing:
            return False
        if self._needed <= self._replayed and now < self._looked_at + BELIEVED:
            return True
        self._looking = True
        try:
            return await self._look_at_lag()
        except MnemicError:
            self._note_failure()
            return False
        finally:
            self._looking = False

    async def _look_at_lag(self) -> bool:
        if self._connections is None:
            self._connections = await self._open()
        needed = self._needed
        (row,) = await self._ready.ask(_FOLLOWING)
        if not row["follows"]:
            raise StoreUnavailable("replica", hint="it does not follow the primary")
        self._replayed, self._looked_at = row["replayed"], time.monotonic()
        self._backoff.reset_pause()
        return needed is not None and needed <= self._replayed

    @property
    def _ready(self) -> Connections:
        assert self._connections is not None
        return self._connections

    def _note_failure(self) -> None:
        # A replica that is down is not asked before every read.
        self._backoff.begin_pause()
        self._looked_at = float("-inf")


class _Overtaken(Exception):
    """Signal that the index in memory was ahead of the replica, which may lack its results. Never
    leaves this module.
    """


def _to_the_end(work: Callable[[Session], Awaitable[T]]) -> Callable[[Session], Awaitable[T]]:
    """Run `work`; fail if one of its queries failed, because it may have gone on with less, or if it was overtaken."""

    async def whole(session: Session) -> T:
        result = await work(session)
        if session.failure is not None:
            raise as_mnemic_error(session.failure)
        if session.overtaken:
            raise _Overtaken
        return result

    return whole


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
