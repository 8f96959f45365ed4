"""Our store as LangGraph's own tests take it: `STORE_FACTORY=tests.conformance.langgraph_target:make_store`."""

from __future__ import annotations

import tempfile
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import apsw
import asyncpg
from langgraph.store.base import IndexConfig, TTLConfig

from mnemic.agents.langgraph import AsyncMnemicStore, MnemicStore
from mnemic.stores.relational.documents import path_of
from tests.conformance.backend import ON_POSTGRES, read_along, server
from tests.servers import in_thread

_PLACES: dict[int, make_store] = {}


class make_store:  # noqa: N801 - the harness calls it as a function and enters what it returns, with or without async
    """An empty store, synchronous or asynchronous as it is entered: a new file, or a new tenant of the server."""

    supports = frozenset(
        {"sync", "async", "vector", "ttl", "async_ttl", "omit_expired", "loop_bound", "validates_batch"}
    )

    def __init__(self, index: IndexConfig | None = None, ttl: TTLConfig | None = None) -> None:
        read_along()
        self.tenant = uuid4().hex
        self._options: dict[str, Any] = {"index": index, "ttl": ttl, "tenant": self.tenant}
        self._folder = tempfile.TemporaryDirectory(prefix="mnemic-conformance-")
        self._sync = ExitStack()
        self._async = AsyncExitStack()

    @property
    def location(self) -> str:
        """Where it is."""
        return server().dsn() if ON_POSTGRES else str(Path(self._folder.name) / "store.db")

    def __enter__(self) -> MnemicStore:
        self._sync.callback(self._folder.cleanup)
        store = self._sync.enter_context(MnemicStore(self.location, **self._options))
        _PLACES[id(store)] = self
        return store

    def __exit__(self, *_: object) -> None:
        self._sync.close()

    async def __aenter__(self) -> AsyncMnemicStore:
        self._async.callback(self._folder.cleanup)
        store = await self._async.enter_async_context(AsyncMnemicStore(self.location, **self._options))
        _PLACES[id(store)] = self
        return store

    async def __aexit__(self, *_: object) -> None:
        await self._async.aclose()

    @staticmethod
    def expire_now(store: object, namespace: tuple[str, ...], key: str) -> None:
        """Let a document have expired."""
        _run(store, "UPDATE {document} SET expires_at = 1 WHERE {place}", namespace, key)

    @staticmethod
    def row_exists(store: object, namespace: tuple[str, ...], key: str) -> bool:
        """Whether the document is still there."""
        return bool(_run(store, "SELECT 1 FROM {document} WHERE {place}", namespace, key))

    @staticmethod
    def expires_at(store: object, namespace: tuple[str, ...], key: str) -> int:
        """When the row says that it expires."""
        moment: int = _run(store, "SELECT expires_at FROM {document} WHERE {place}", namespace, key)[0][0]
        return moment


def _run(store: object, sql: str, namespace: tuple[str, ...], key: str) -> list[Any]:
    """The rows of a statement of ours, past the store."""
    place, path = _PLACES[id(store)], path_of(namespace)
    if not ON_POSTGRES:
        statement = sql.format(document="document", place="tenant = ? AND path = ? AND key = ?")
        connection = apsw.Connection(place.location)
        try:
            return connection.execute(statement, (place.tenant, path, key)).fetchall()
        finally:
            connection.close()
    statement = sql.format(document="mnemic.document", place="tenant = $1 AND path = $2 AND key = $3")

    async def run() -> list[Any]:
        connection = await asyncpg.connect(place.location)
        try:
            return list(await connection.fetch(statement, place.tenant, path.encode(), key.encode()))
        finally:
            await connection.close()

    return in_thread(run)
