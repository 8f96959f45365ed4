"""The driver, with a time limit on every call, and its errors as mnemic's."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

from neo4j import AsyncDriver, AsyncGraphDatabase, NotificationMinimumSeverity, Query, unit_of_work
from neo4j.exceptions import (
    AuthError,
    ClientError,
    ConfigurationError,
    ConstraintError,
    DriverError,
    Neo4jError,
    TransientError,
)

from mnemic.errors import InvalidConfig, MnemicError, StoreBusy, StoreFailed, StoreUnavailable

T = TypeVar("T")

DRIVER_ERRORS = (DriverError, Neo4jError, OSError)
_SCHEMES = frozenset({"neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc"})
_VANISHED = frozenset({"Neo.ClientError.Statement.EntityNotFound"})
_ATTEMPTS = 5
_RETRY_SECONDS = 0.05


class Address(NamedTuple):
    """Address of a server, and the login, as in a URL."""

    uri: str
    auth: tuple[str, str] | None
    database: str | None

    @classmethod
    def parse(cls, url: str) -> Address:
        """Return the address `neo4j://user:password@host:port/database`. Raises InvalidConfig
        (`invalid_config:graph`).
        """
        parts = urlsplit(url)
        if parts.scheme not in _SCHEMES or not parts.hostname:
            raise InvalidConfig("graph", hint="use neo4j://user:password@host:port/database, or bolt://")
        host = parts.netloc.rpartition("@")[2]
        auth = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
        return cls(urlunsplit((parts.scheme, host, "", parts.query, "")), auth, unquote(parts.path.strip("/")) or None)


class Transaction:
    """One managed transaction: statements in, rows as dictionaries out."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def run(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        """Return the rows of a statement."""
        result = await self._inner.run(statement, parameters)
        return [record.data() async for record in result]


class Connection:
    """A pool of connections to one server. No call takes longer than `seconds`."""

    def __init__(self, url: str, *, pool_size: int, seconds: float) -> None:
        self._address = Address.parse(url)
        self._pool_size = pool_size
        self._seconds = seconds
        self._driver: AsyncDriver | None = None

    async def close(self) -> None:
        """Close the connections. May be called twice."""
        driver, self._driver = self._driver, None
        if driver is not None:
            try:
                async with asyncio.timeout(self._seconds):
                    await driver.close()
            except (TimeoutError, *DRIVER_ERRORS):
                return

    async def read(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """`work` in a transaction that only reads; it may be run again from the start."""
        return await self._call_within(lambda: self._run_managed("execute_read", work))

    async def write(self, work: Callable[[Transaction], Awaitable[T]], *, turn: asyncio.Lock | None = None) -> T:
        """`work` in a transaction that is committed when this returns; it may be run again from the start. It waits for
        its `turn`.
        """

        async def in_turn() -> T:
            async with turn or nullcontext():
                return await self._run_managed("execute_write", work)

        return await self._call_within(in_turn)

    async def once(
        self, statement: str, *, turn: asyncio.Lock | None = None, **parameters: Any
    ) -> list[dict[str, Any]]:
        """Return the rows of one autocommitted statement: one round trip to the server instead of the three of a
        transaction. It waits for its `turn`. None if the server asks to try again; the statement may have been executed
        then, or not.
        """

        async def run_once() -> list[dict[str, Any]]:
            async with turn or nullcontext():
                session = self._session()
                try:
                    result = await session.run(Query(statement, timeout=self._seconds), parameters)
                    rows = [record.data() async for record in result]
                    await session.close()
                except BaseException as error:
                    session.cancel()  # closing it first would wait for a server that may not answer
                    await session.close()
                    if isinstance(error, ConstraintError) or getattr(error, "is_retryable", bool)():
                        return []
                    raise
                return rows

        return await self._call_within(run_once)

    async def run_alone(self, statement: str) -> None:
        """Run a statement that must not be in a transaction with others, such as a constraint."""

        async def run_once() -> None:
            async with self._session() as session:
                await (await session.run(statement)).consume()

        await self._call_within(run_once)

    async def _run_managed(self, method: str, work: Callable[[Transaction], Awaitable[T]]) -> T:
        @unit_of_work(timeout=self._seconds)
        async def run(inner: Any) -> T:
            return await work(Transaction(inner))

        for attempt in range(_ATTEMPTS):
            try:
                async with self._session() as session:
                    result: T = await getattr(session, method)(run)
                    return result
            except ClientError as error:
                # A matched row was removed before it was locked: a new attempt sees the new state.
                vanished = error.code in _VANISHED or isinstance(error, ConstraintError)
                if not vanished or attempt + 1 == _ATTEMPTS:
                    raise
        raise AssertionError

    def _session(self) -> Any:
        if self._driver is None:
            self._driver = self._make_driver()
        return self._driver.session(database=self._address.database, initial_retry_delay=_RETRY_SECONDS)

    def _make_driver(self) -> AsyncDriver:
        try:
            return AsyncGraphDatabase.driver(
                self._address.uri,
                auth=self._address.auth,
                max_connection_pool_size=self._pool_size,
                connection_timeout=self._seconds,
                connection_write_timeout=self._seconds,
                connection_acquisition_timeout=self._seconds,
                max_transaction_retry_time=self._seconds,
                liveness_check_timeout=30.0,
                notifications_min_severity=NotificationMinimumSeverity.OFF,
                telemetry_disabled=True,
                user_agent="mnemic",
            )
        except ConfigurationError:
            raise InvalidConfig("graph", hint="check the address of the graph server") from None

    async def _call_within(self, call: Callable[[], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(self._seconds):
                return await call()
        except TimeoutError:
            raise StoreBusy(hint="the graph did not answer in time") from None
        except MnemicError:
            raise
        except Exception as error:  # noqa: BLE001 - a damaged answer may make the driver raise any error
            raise _as_mnemic_error(error) from None


def _as_mnemic_error(error: BaseException) -> MnemicError:
    """Return mnemic's error for the driver's `error`; its message is dropped: it may quote values."""
    if isinstance(error, AuthError):
        return StoreUnavailable(hint="the graph server refused the name or the password")
    if isinstance(error, TransientError):
        return StoreBusy(hint="the graph server could not finish; try again")
    if isinstance(error, Neo4jError):
        return StoreFailed(error.code or type(error).__name__)
    return StoreUnavailable(hint="check that the graph server runs and can be reached")
