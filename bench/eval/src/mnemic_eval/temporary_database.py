"""A temporary database for a measurement, and the cost of a bare commit in it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit
from uuid import uuid4

import asyncpg

from mnemic.stores.postgres.connections import DRIVER_ERRORS, as_mnemic_error

_SECONDS = 30
_TABLE = "CREATE TABLE IF NOT EXISTS bare (number bigserial PRIMARY KEY, content text, vector bytea)"


class ScratchDatabase:
    """A new, empty database on the server of `dsn`, whose user may create databases, from `__enter__` to `__exit__`.

    For callers without an event loop. Raises StoreUnavailable.
    """

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._name = f"mnemic_scratch_{uuid4().hex[:12]}"

    @property
    def location(self) -> str:
        """Address of the database."""
        return urlsplit(self._dsn)._replace(path=f"/{self._name}").geturl()

    def __enter__(self) -> Self:
        asyncio.run(_run(self._dsn, f"CREATE DATABASE {self._name} ENCODING 'UTF8' TEMPLATE template0"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run(_run(self._dsn, f"DROP DATABASE IF EXISTS {self._name} WITH (FORCE)"))

    def size(self) -> int:
        """Bytes that the database occupies on the server's disk."""
        ((size,),) = asyncio.run(_run(self.location, "SELECT pg_database_size(current_database())"))
        return int(size)

    def bare_commits(self, rows: Sequence[tuple[str, bytes]], *, durability: str = "durable") -> list[float]:
        """Seconds that each of `rows` (a text, a vector) took to insert and commit: no version, audit, outbox or
        index.
        """
        return bare_commits(self.location, rows, durability=durability)


def bare_commits(dsn: str, rows: Sequence[tuple[str, bytes]], *, durability: str = "durable") -> list[float]:
    """Return the seconds of bare commits in any database; several processes may run it at once."""
    return asyncio.run(_bare_commits(dsn, rows, "on" if durability == "durable" else "off"))


async def _bare_commits(dsn: str, rows: Sequence[tuple[str, bytes]], synchronous: str) -> list[float]:
    connection = await asyncpg.connect(dsn, timeout=_SECONDS, server_settings={"synchronous_commit": synchronous})
    try:
        await connection.execute(_TABLE)
        return [await _commit(connection, row) for row in rows]
    finally:
        await connection.close()


async def _commit(connection: Any, row: tuple[str, bytes]) -> float:
    began = time.perf_counter()
    await connection.execute("INSERT INTO bare (content, vector) VALUES ($1, $2)", *row)
    return time.perf_counter() - began


async def _run(dsn: str, statement: str) -> list[Any]:
    try:
        connection = await asyncpg.connect(dsn, timeout=_SECONDS)
        try:
            return list(await connection.fetch(statement))
        finally:
            await connection.close()
    except DRIVER_ERRORS as error:
        raise as_mnemic_error(error) from None
