"""Work with the owner's rights, for all tenants at once: requested by operators, never by actors."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from mnemic.stores.postgres.failures import DRIVER_ERRORS, as_mnemic_error
from mnemic.stores.postgres.pool import connect

T = TypeVar("T")


class OwnerConnection:
    """One connection that sees every tenant (`mnemic.upkeep`), opened at first use and reopened if it was lost.

    It belongs to one loop, and runs one piece of work at a time.
    """

    def __init__(self, dsn: str, seconds: float, search_path: str) -> None:
        self._dsn = dsn
        self._seconds = seconds
        self._settings = {"application_name": "mnemic", "search_path": search_path, "mnemic.upkeep": "on"}
        self._connection: Any = None
        self._turn = asyncio.Lock()

    async def run(self, work: Callable[[Any], Awaitable[T]]) -> T:
        """Return the result of `work` on the connection. Raises StoreFailed."""
        async with self._turn:
            if self._connection is None or self._connection.is_closed():
                self._connection = await connect(self._dsn, self._seconds, self._settings)
            try:
                return await work(self._connection)
            except DRIVER_ERRORS as error:
                raise as_mnemic_error(error) from None

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.terminate()
