"""The contestants that keep their data in PostgreSQL, each on a private server with its default settings."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import asyncpg

from bench.race.contestants import LangGraph, Mnemic
from bench.race.vectors import Vectors
from tests.servers import PostgresServer, in_thread


class OnServer:
    """A private PostgreSQL server with its default settings, for one contestant."""

    durability = "PostgreSQL 18, fsync and synchronous_commit on"

    def _start(self) -> str:
        self._server = PostgresServer()
        self._server.start()
        self._empty = self._weight()
        return self._server.dsn()

    def _weight(self) -> int:
        [(size,)] = in_thread(partial(fetched, self._server.dsn(), "SELECT pg_database_size(current_database())"))
        return int(size)

    def _stop(self) -> None:
        self._stored = self._weight() - self._empty
        self._server.stop()

    def size(self, folder: Path) -> int:
        """Return what the database weighed beyond an empty one, its log left out."""
        return self._stored


async def fetched(dsn: str, statement: str) -> list[Any]:
    """Return the rows of a statement."""
    connection = await asyncpg.connect(dsn)
    try:
        rows: list[Any] = await connection.fetch(statement)
    finally:
        await connection.close()
    return rows


class MnemicOnPostgres(OnServer, Mnemic):
    """This product on a server, default settings."""

    name = "mnemic on PostgreSQL"

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        self._open(self._start(), vectors)

    def close(self) -> None:
        super().close()
        self._stop()


class LangGraphOnPostgres(OnServer, LangGraph):
    """LangGraph's PostgresStore with its vector index (HNSW, as it makes it by default)."""

    name, package = "LangGraph PostgresStore", "langgraph-checkpoint-postgres"

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        from langgraph.store.postgres import PostgresStore

        index: Any = {"dims": 384, "embed": vectors.embed_documents, "fields": ["text"]}
        self._opened = PostgresStore.from_conn_string(self._start(), index=index)
        self._store = self._opened.__enter__()
        self._store.setup()

    def close(self) -> None:
        self._opened.__exit__(None, None, None)
        self._stop()
