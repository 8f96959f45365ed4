"""Pooled connections that work as the application's role, and the course of a transaction from BEGIN to COMMIT.

The driver's errors become mnemic's. Their messages are dropped: they may quote values.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar
from urllib.parse import urlsplit

import asyncpg

from mnemic.errors import (
    CommitUnknown,
    InvalidConfig,
    InvalidInput,
    MnemicError,
    SpaceMismatch,
    StoreBusy,
    StoreCorrupt,
    StoreFailed,
    StoreFull,
    StoreNewer,
    StoreUnavailable,
)
from mnemic.stores.postgres.loop_thread import LoopThread, Tasks
from mnemic.stores.postgres.statements import load
from mnemic.types import Deadline

DRIVER_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, EOFError)
"""Everything the driver raises. A TimeoutError is an OSError; the client's own follow a broken connection."""

ANSWER_ERRORS = (*DRIVER_ERRORS, AttributeError)
"""The same with the errors of asyncpg 0.30 at a truncated answer: PgDog 0.1.17 gives such answers to statements after
the loss of a server.
"""

_LOST_RACES = {"40001", "40P01"}
"""Serialization failure, deadlock."""

_OTHER_SPACE = re.compile("expected \\d+ dimensions|different vector dimensions")
"""pgvector's message about a vector of another length: the space was changed meanwhile."""

_ENDED = {"57P01", "57P02", "57P05", "25P03"}
"""The server closed the connection: shutdown, crash, idle too long."""

# SQLSTATE, or the class that its first two characters name (PostgreSQL documentation, appendix A).
_BY_STATE: dict[str, tuple[type[StoreFailed], str]] = {
    "55P03": (StoreBusy, "another writer held a lock for too long; try again"),
    "57014": (StoreBusy, "the statement took too long; try again"),
    "40": (StoreBusy, "other writers won every time; try again"),
    "53100": (StoreFull, "free some disk space on the server and try again"),
    "53": (StoreUnavailable, "the server is short of connections or memory"),
    "08": (StoreUnavailable, "the connection to the server was lost"),
    "57": (StoreUnavailable, "the server is stopping or starting"),
    "58": (StoreUnavailable, "the server's system failed"),
    "28": (StoreUnavailable, "the server refused the name or the password"),
    "3D": (StoreUnavailable, "there is no such database on the server"),
    "42501": (StoreUnavailable, "the database role lacks a privilege"),
    "25006": (StoreUnavailable, "the server is a read-only replica"),
    "42P01": (StoreCorrupt, "tables of mnemic are missing"),
    "42703": (StoreCorrupt, "columns of mnemic are missing"),
    "XX001": (StoreCorrupt, "the server found damaged data"),
    "XX002": (StoreCorrupt, "the server found a damaged index"),
}


def lost_race(error: BaseException) -> bool:
    """Return True if the same transaction may succeed when it is run again at once."""
    if isinstance(error, asyncpg.InvalidCachedStatementError):
        return True  # the table was changed under a prepared statement
    return isinstance(error, asyncpg.PostgresError) and error.sqlstate in _LOST_RACES


def lost_connection(error: BaseException) -> bool:
    """Return True if the connection broke, so that the same may succeed on another one."""
    if isinstance(error, asyncpg.PostgresError):
        state = error.sqlstate or ""
        return state in _ENDED or state.startswith("08")
    return isinstance(error, ANSWER_ERRORS) and not isinstance(error, TimeoutError | asyncpg.DataError)


def as_mnemic_error(error: BaseException) -> MnemicError:
    """Return mnemic's error for the driver's `error`."""
    if isinstance(error, asyncpg.PostgresError):
        if error.sqlstate == "22000" and _OTHER_SPACE.search(str(error)):
            return SpaceMismatch(hint="the vectors were made by another model; open the store with that one")
        return _of_state(error.sqlstate or "", type(error).__name__)
    if isinstance(error, asyncpg.DataError | UnicodeError | OverflowError):
        return InvalidInput("value", hint="a text or a number that the database cannot hold")
    if isinstance(error, TimeoutError):
        return StoreBusy(hint="the server did not answer in time")
    if isinstance(error, ANSWER_ERRORS):
        return StoreUnavailable(hint="check that the server runs and can be reached")
    return StoreFailed(type(error).__name__)


def _of_state(state: str, name: str) -> MnemicError:
    if state in ("22021", "22P05"):
        return InvalidInput("nul", hint="a name cannot hold the character U+0000")
    if state.startswith("54"):
        return InvalidInput("too_big")
    for key in (state, state[:2]):
        if key in _BY_STATE:
            kind, hint = _BY_STATE[key]
            return kind(hint=hint)
    return StoreFailed(name)


def outcome_unknown(error: BaseException) -> bool:
    """Return True if a COMMIT that failed so may have been carried out."""
    return not isinstance(error, asyncpg.PostgresError) or (error.sqlstate or "")[:2] in ("08", "57")


APP_ROLE = "mnemic_app"
BOUND = f"SELECT CASE current_user WHEN '{APP_ROLE}' THEN 0 ELSE current_user::text::integer END"
"""Statement that fails unless row-level security applies to the connection, since the name of another role is not a
number: a pooler may have given this connection to somebody else meanwhile.
"""
_SET = "SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS made(name, value)"
UNBOUND = "22P02"
"""Failure of `BOUND`."""

_PLANNING = {
    # One plan for all: every statement reads an index, whatever its parameters and however many rows there are today.
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "random_page_cost": "1.1",
    "jit": "off",
}
_QUERIES = 5000
"""Statements after which a connection is replaced, so that plans are made for the tables as they are by then."""
_OTHER_SCHEMA = "22012"
"""Division by zero, which only the check of the schema causes, where a transaction begins."""
_ROLE_REFUSED = {"22023", "42501"}


async def connect(dsn: str, seconds: float, settings: Mapping[str, str]) -> Any:
    """Open one connection outside the pool. Raises StoreUnavailable."""
    try:
        async with asyncio.timeout(seconds):
            return await asyncpg.connect(dsn, timeout=seconds, server_settings=dict(settings))
    except (*DRIVER_ERRORS, ValueError) as error:
        raise _unreachable(dsn, error) from None


async def open_pool(dsn: str, *, size: int, seconds: float, settings: Mapping[str, str]) -> Any:
    """Return a pool whose connections work as the application's role.

    Raises InvalidConfig (`invalid_config:postgres_role`) and StoreUnavailable.
    """
    made = session_settings(seconds, settings)

    async def set_up(connection: Any) -> None:
        # Not as parameters of the start: a pooler refuses those that it does not know.
        await connection.execute(_SET, list(made), list(made.values()))

    async def reset_nothing(connection: Any) -> None:
        """Nothing to reset: every setting ends with its transaction."""

    pool = asyncpg.create_pool(
        dsn,
        min_size=0,
        max_size=size,
        max_queries=_QUERIES,
        timeout=seconds,
        init=set_up,
        reset=reset_nothing,
    )
    try:
        async with asyncio.timeout(seconds):
            await pool
            await pool.execute(BOUND)
    except (*DRIVER_ERRORS, ValueError) as error:
        pool.terminate()
        if isinstance(error, asyncpg.PostgresError) and error.sqlstate == UNBOUND:
            raise unbound() from None
        if isinstance(error, asyncpg.PostgresError) and error.sqlstate in _ROLE_REFUSED:
            raise InvalidConfig("postgres_role", hint=f"GRANT {APP_ROLE} to the user of the connection") from None
        raise _unreachable(dsn, error) from None
    return pool


def session_settings(seconds: float, settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a new connection, the role first."""
    milliseconds = str(int(seconds * 1000))
    limits = {"statement_timeout": milliseconds, "idle_in_transaction_session_timeout": milliseconds}
    return {"role": APP_ROLE, **_PLANNING, **limits, **settings}


def transaction_error(cause: BaseException | None, failed: StoreFailed) -> MnemicError:
    """Return the error to raise if the beginning of a transaction failed."""
    state = getattr(cause, "sqlstate", None)
    if state == _OTHER_SCHEMA:
        return StoreNewer(hint="the database was migrated by a newer mnemic; update this one")
    return unbound() if state == UNBOUND else failed


def unbound() -> InvalidConfig:
    """Return the error of a connection that works as another role."""
    return InvalidConfig(
        "postgres_role",
        hint=f"the server did not take the role {APP_ROLE}, without which tenants are not kept apart: "
        "a pooler must pool by session",
    )


def _unreachable(dsn: str, error: BaseException) -> MnemicError:
    if isinstance(error, asyncpg.PostgresError):
        return as_mnemic_error(error)
    try:
        address = urlsplit(dsn)
        server = f"{address.hostname or 'localhost'}:{address.port or 5432}"
    except ValueError:
        return StoreUnavailable(hint="check the address of the server")
    return StoreUnavailable(hint=f"nothing answers at {server}: check the address, and that the server runs")


T = TypeVar("T")

_SESSION = load("session")
_MIGRATING = 0x6D6E656D6963  # "mnemic" in ASCII: an advisory lock, exclusive for a migration and shared by writers
_READ = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {BOUND}; SAVEPOINT begun"
_ALONE = ""
_AGAIN = "ROLLBACK TO SAVEPOINT begun"
_ATTEMPTS = 5
_END_SECONDS = 5.0  # that the end of a read may take before its connection is dropped
_GRACE = 0.05  # seconds that the server's own time limit has before the connection is given up


class Session:
    """Open transaction. It raises mnemic's errors; `failure` keeps the driver's for the decision about a retry.

    A failed statement aborts a transaction. A `forgiving` one begins again, since other reads may still succeed.
    `overtaken`: it used an index in memory that contains changes invisible to it. `committed` is called on the loop
    once its changes are durable.
    """

    def __init__(self, connection: Any, remaining: Callable[[], float], *, begin: str = "") -> None:
        self._connection = connection
        self._remaining = remaining
        self._begin = begin
        self._tenant: str | None = None
        self._approximate = False
        self.failure: BaseException | None = None
        self.overtaken = False
        self.committed: Callable[[], None] | None = None

    async def fetch(self, statement: str, *values: Any) -> list[Any]:
        """Return the rows of a statement."""
        return await self._rows_of(self._connection.fetch(statement, *values))

    async def fetch_each(self, statement: str, values: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Return the rows of a statement with each of these values, in their order. One trip for all of them."""
        if len(values) == 1:
            return await self.fetch(statement, *values[0])
        return await self._rows_of(self._connection.fetchmany(statement, values))

    async def _rows_of(self, asked: Awaitable[list[Any]]) -> list[Any]:
        try:
            rows = await asked
        except ANSWER_ERRORS as error:
            # A lost race decides that the whole transaction is run again, whatever failed after it.
            if self.failure is None or not lost_race(self.failure):
                self.failure = error
            if self._begin == _READ and not lost_connection(error) and not lost_race(self.failure):
                await self._begin_again()
            raise as_mnemic_error(error) from None
        return rows

    async def _begin_again(self) -> None:
        await self.execute(_AGAIN)
        self._tenant, self._approximate, self.failure = None, False, None

    async def execute(self, command: str) -> str:
        """Run a command without parameters; return the server's command tag."""
        try:
            status: str = await self._connection.execute(command)
        except ANSWER_ERRORS as error:
            self.failure = error
            raise as_mnemic_error(error) from None
        return status

    async def enter(self, tenant: str, lock: int | None = None) -> None:
        """Restrict row-level security to the rows of `tenant` from now on; with `lock`, after waiting for it."""
        if lock is not None:
            await self.fetch(_SESSION["lock"], tenant, self._limit(), lock)
        elif tenant != self._tenant:
            await self.fetch(_SESSION["name_tenant"], tenant, self._limit())
        self._tenant = tenant

    async def enter_scopes(self, tenant: str, levels: Sequence[str], owners: Sequence[str]) -> list[Any]:
        """Restrict row-level security to the rows of `tenant` from now on; return the rows of its scopes by level and
        owner, each after the current vector space.
        """
        rows = await self.fetch(_SESSION["enter"], tenant, self._limit(), levels, owners)
        self._tenant = tenant
        return rows

    async def enter_writing(
        self, tenant: str, level: str, owner: str, fingerprint: str, *, lock: int, mark: tuple[str, int] | None = None
    ) -> Any:
        """Enter one scope after waiting for `lock`; return its row with the active memory of `fingerprint`, and with a
        `mark` (name and lock), which is then shared.
        """
        name = "enter_writing" if mark is None else "enter_writing_marked"
        rows = await self.fetch(_SESSION[name], tenant, self._limit(), lock, level, owner, fingerprint, *(mark or ()))
        self._tenant = tenant
        return rows[0]

    async def approximate(self, on: bool) -> None:
        """Switch on or off, from here on, the planning of statements for the approximate index."""
        if on != self._approximate:
            await self.fetch(_SESSION["approximately" if on else "exactly"])
            self._approximate = on

    async def enter_drain(self) -> None:
        """Make the outbox of all tenants visible, and nothing else."""
        await self.fetch(_SESSION["name_drain"], self._limit())

    def _limit(self) -> str:
        """Return the server's time limit for a statement, in milliseconds."""
        return str(max(1, int(self._remaining() * 1000)))


class Connections:
    """Up to `size` connections to one database, each used by one transaction at a time.

    They belong to the loop of `thread`; `read` and `write` may be called on any. No call takes longer than `seconds` or
    than its deadline allows, whatever the network does. `after_commit` is awaited after each commit of a `write`,
    before that returns; it never raises. `schema`: the newest that this version knows.
    """

    def __init__(self, pool: Any, thread: LoopThread, *, seconds: float, schema: int) -> None:
        self._pool = pool
        self._thread = thread
        self._seconds = seconds
        self._ending = Tasks()
        self._begin_writing = _writing(schema)
        self.after_commit: Callable[[Session], Awaitable[None]] | None = None

    async def close(self) -> None:
        """Finish running work, then close the connections. Called on the loop they belong to."""
        try:
            # A server that hangs must not keep the process from ending.
            async with asyncio.timeout(self._seconds):
                await self._ending.wait_until_done()
                await self._pool.close()
        except TimeoutError:
            self._pool.terminate()

    async def read(
        self,
        work: Callable[[Session], Awaitable[T]],
        deadline: Deadline | None = None,
        *,
        seconds: float | None = None,
    ) -> T:
        """Run `work` on the current committed state; it sees no later commit. A background job has its separate limit,
        `seconds`.
        """
        return await self._thread.run(self._run(_READ, work, self._limit_seconds(deadline, seconds)))

    async def loosely(self, work: Callable[[Session], Awaitable[T]]) -> T:
        """Run `work`, whose statements can be repeated, outside a transaction."""
        return await self._thread.run(self._run(_ALONE, work, self._limit_seconds(None)))

    async def write(self, work: Callable[[Session], Awaitable[T]], deadline: Deadline | None = None) -> T:
        """`work` in a transaction that is durable when this returns. It is run again after a lost race. Raises
        StoreNewer if the database has a schema that this version does not know.
        """
        return await self._thread.run(self._run(self._begin_writing, work, self._limit_seconds(deadline)))

    async def ask(self, statement: str, *values: Any) -> list[Any]:
        """Return the rows of an autocommitted, repeatable statement."""
        return await self.loosely(lambda session: session.fetch(statement, *values))

    async def _run(self, begin: str, work: Callable[[Session], Awaitable[T]], limit: Callable[[], float]) -> T:
        # The first attempt and its repetitions share one limit of time.
        for attempt in range(_ATTEMPTS):
            if limit() <= 0:
                raise StoreBusy(hint="no time was left for the database")
            attempted = _Attempt(self._pool, begin, limit, self._ending, self.after_commit)
            try:
                # The server's own statement_timeout comes first; this one catches a network that delivers nothing.
                async with asyncio.timeout(limit() + _GRACE):
                    return await attempted.run(work)
            except TimeoutError:
                raise attempted.timed_out() from None
            except MnemicError:
                if attempt + 1 == _ATTEMPTS or not attempted.worth_another:
                    raise
        raise AssertionError

    def _limit_seconds(self, deadline: Deadline | None, seconds: float | None = None) -> Callable[[], float]:
        """Return a function that gives the number of seconds left."""
        now = time.monotonic
        until = now() + (self._seconds if seconds is None else seconds)

        def remaining() -> float:
            own = until - now()
            return own if deadline is None else min(own, deadline.remaining())

        return remaining


def _writing(schema: int) -> str:
    """Return the beginning of a writing transaction: it waits for a running migration, and requires a known schema.

    One command, for one round trip. A false condition becomes a division by zero: nothing else ends a transaction from
    within plain SQL.
    """
    return (
        f"BEGIN; {BOUND}; SELECT pg_advisory_xact_lock_shared({_MIGRATING}); "  # noqa: S608 - numbers alone
        f"SELECT 1 / (max(version) <= {schema})::integer FROM mnemic.schema_version"
    )


class _Attempt:
    """One transaction, tried once."""

    def __init__(
        self,
        pool: Any,
        begin: str,
        remaining: Callable[[], float],
        ending: Tasks,
        after_commit: Callable[[Session], Awaitable[None]] | None,
    ) -> None:
        self._pool = pool
        self._after_commit = after_commit
        self._ending = ending
        self._begin = begin
        self._remaining = remaining
        self._session: Session | None = None
        self._committing = False

    @property
    def worth_another(self) -> bool:
        """True if certainly nothing was committed and a second attempt may succeed."""
        failure = None if self._session is None else self._session.failure
        return failure is not None and (
            # A connection lost during COMMIT leaves the outcome unknown: repeating could write twice.
            lost_race(failure) or (not self._committing and lost_connection(failure) and not self._pool.is_closing())
        )

    def timed_out(self) -> StoreFailed:
        """Return the error to raise when the time is up."""
        if self._committing:
            return CommitUnknown(hint="retry with the same idempotency key")
        return StoreBusy(hint="the database did not answer in time")

    async def run(self, work: Callable[[Session], Awaitable[T]]) -> T:
        """BEGIN, `work`, COMMIT. After a failure an open transaction is rolled back, or the connection is closed."""
        try:
            connection = await self._pool.acquire()
        except DRIVER_ERRORS as error:
            if isinstance(error, TimeoutError):
                raise
            raise as_mnemic_error(error) from None
        session = self._session = Session(connection, self._remaining, begin=self._begin)
        clean = succeeded = False
        try:
            result = await self._through(session, work)
            clean = succeeded = True
            return result
        except Exception:
            clean = await _rolled_back(connection)
            raise
        finally:
            if succeeded and self._begin == _READ:
                self._ending.start(_read_ended(self._pool, connection))
            else:
                await _given_back(self._pool, connection, clean=clean)

    async def _through(self, session: Session, work: Callable[[Session], Awaitable[T]]) -> T:
        if self._begin == _ALONE:
            return await work(session)
        try:
            await session.execute(self._begin)
        except StoreFailed as failed:
            raise transaction_error(session.failure, failed) from None
        result = await work(session)
        if self._begin == _READ:
            # A caller that continues without a failed list does not notice that the whole snapshot was lost with it.
            if session.failure is not None and lost_race(session.failure):
                raise as_mnemic_error(session.failure)
            return result
        await self._commit(session)
        if self._after_commit is not None:
            await self._after_commit(session)
        if session.committed is not None:
            session.committed()
        return result

    async def _commit(self, session: Session) -> None:
        self._committing = True
        try:
            status = await session.execute("COMMIT")
        except StoreFailed:
            if session.failure is not None and outcome_unknown(session.failure):
                raise CommitUnknown(hint="retry with the same idempotency key") from None
            raise
        if status != "COMMIT":
            # A statement had failed and `work` continued regardless: the server undid everything.
            raise StoreFailed("rolled_back") if session.failure is None else as_mnemic_error(session.failure)


async def _given_back(pool: Any, connection: Any, *, clean: bool) -> None:
    """Return the connection to the pool, or close it if its state is unknown."""
    if not clean:
        with suppress(asyncpg.InterfaceError):  # the pool has already dropped a broken connection
            connection.terminate()
    with suppress(*ANSWER_ERRORS):  # the pool drops a connection that it cannot reset; the outcome is known
        await pool.release(connection)


async def _read_ended(pool: Any, connection: Any) -> None:
    """End a reader's transaction, which the reader does not wait for."""
    clean = False
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_SECONDS):
                clean = await _rolled_back(connection)
    finally:
        await _given_back(pool, connection, clean=clean)


async def _rolled_back(connection: Any) -> bool:
    """Roll the transaction back; return False if the connection cannot confirm it."""
    try:
        if connection.is_closed():
            return False
        await connection.execute("ROLLBACK")
    except ANSWER_ERRORS:
        return False
    return True
