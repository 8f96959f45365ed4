"""The graph in the same PostgreSQL database as its memories (`mnemic.stores.relational.graph`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from mnemic.stores.postgres.database_access import DatabaseAccess, OpenDatabase
from mnemic.stores.postgres.statements import asking, inside
from mnemic.stores.relational import graph
from mnemic.stores.relational.statements import Ask, load
from mnemic.types import Memory

T = TypeVar("T")

_GRAPH = load("graph", "postgres")


class PostgresGraph(graph.RelationalGraph[OpenDatabase]):
    """A `GraphStore` in the database at `dsn`; row-level security isolates tenants as it does for memories.

    `pool_size` bounds its connections, `statement_timeout` (seconds) every call. The first call migrates with the
    rights of `owner_dsn`, or of `dsn` if none is given.
    """

    def __init__(
        self,
        dsn: str,
        *,
        owner_dsn: str | None = None,
        pool_size: int = 4,
        statement_timeout: float = 10.0,
    ) -> None:
        super().__init__()
        self._access = DatabaseAccess.from_settings(dsn, owner_dsn, pool_size, statement_timeout, "fast")

    async def _open_database(self) -> OpenDatabase:
        return await self._access.open(None)

    async def _close_database(self, opened: OpenDatabase) -> None:
        await opened.close()

    async def _read(self, tenant: str, work: Callable[[Ask], Awaitable[T]]) -> T:
        return await (await self._ready()).connections.read(inside(tenant, _GRAPH, work))

    async def _write(self, tenant: str, work: Callable[[Ask], Awaitable[None]]) -> None:
        await (await self._ready()).connections.write(inside(tenant, _GRAPH, work))


async def relate(fetch: Callable[..., Awaitable[list[Any]]], memory: Memory, *, known: bool) -> None:
    """Replace the memory's part of the graph by its current content; `fetch` returns the rows of a statement."""
    await graph.relate(asking(fetch, _GRAPH), memory, known=known)
