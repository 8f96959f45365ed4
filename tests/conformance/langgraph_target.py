"""Our store as LangGraph's own tests take it: `STORE_FACTORY=tests.conformance.langgraph_target:make_store`."""

from __future__ import annotations

import tempfile
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

import apsw
from langgraph.store.base import IndexConfig, TTLConfig

from mnemic.integrations.langgraph import AsyncMnemicStore, MnemicStore
from mnemic.stores.sqlite.documents import path_of

_FILES: dict[int, Path] = {}


class make_store:  # noqa: N801 - the harness calls it as a function and enters what it returns, with or without async
    """A store in a new file, synchronous or asynchronous as it is entered."""

    supports = frozenset(
        {"sync", "async", "vector", "ttl", "async_ttl", "omit_expired", "loop_bound", "validates_batch"}
    )

    def __init__(self, index: IndexConfig | None = None, ttl: TTLConfig | None = None) -> None:
        self._options: dict[str, Any] = {"index": index, "ttl": ttl}
        self._folder = tempfile.TemporaryDirectory(prefix="mnemic-conformance-")
        self._sync = ExitStack()
        self._async = AsyncExitStack()

    @property
    def _path(self) -> Path:
        return Path(self._folder.name) / "store.db"

    def __enter__(self) -> MnemicStore:
        self._sync.callback(self._folder.cleanup)
        store = self._sync.enter_context(MnemicStore(self._path, **self._options))
        _FILES[id(store)] = self._path
        return store

    def __exit__(self, *_: object) -> None:
        self._sync.close()

    async def __aenter__(self) -> AsyncMnemicStore:
        self._async.callback(self._folder.cleanup)
        store = await self._async.enter_async_context(AsyncMnemicStore(self._path, **self._options))
        _FILES[id(store)] = self._path
        return store

    async def __aexit__(self, *_: object) -> None:
        await self._async.aclose()

    @staticmethod
    def expire_now(store: object, namespace: tuple[str, ...], key: str) -> None:
        """Let a document have expired."""
        _run(store, "UPDATE document SET expires_at = 1 WHERE path = ? AND key = ?", namespace, key)

    @staticmethod
    def row_exists(store: object, namespace: tuple[str, ...], key: str) -> bool:
        """Whether the document is still in the file."""
        return bool(_run(store, "SELECT 1 FROM document WHERE path = ? AND key = ?", namespace, key))

    @staticmethod
    def expires_at(store: object, namespace: tuple[str, ...], key: str) -> int:
        """When the file says that it expires."""
        moment: int = _run(store, "SELECT expires_at FROM document WHERE path = ? AND key = ?", namespace, key)[0][0]
        return moment


def _run(store: object, sql: str, namespace: tuple[str, ...], key: str) -> list[tuple[Any, ...]]:
    connection = apsw.Connection(str(_FILES[id(store)]))
    try:
        return connection.execute(sql, (path_of(namespace), key)).fetchall()
    finally:
        connection.close()
