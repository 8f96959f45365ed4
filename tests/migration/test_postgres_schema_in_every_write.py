"""Every transaction that writes on PostgreSQL looks at the schema first: the server is asked which of them wrote."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from mnemic.engine import MemoryEngine
from mnemic.stores.postgres import PostgresStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from tests.migration.test_schema_in_every_write import ANA, write_by_every_verb
from tests.servers import PostgresServer

LOOK = "schema_version"
CHANGES = re.compile(r"\b(?:INSERT\s+INTO|DELETE\s+FROM|UPDATE\s+\w+\s+SET)\b", re.IGNORECASE)
CALLS = ("fetch", "fetchrow", "fetchval", "execute", "executemany")


class Watched:
    """The statements of each connection since its transaction began, and the transactions that wrote without a look."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.said: defaultdict[Any, list[str]] = defaultdict(list)
        self.writes = 0
        self.blind: list[list[str]] = []
        self._fetchval = asyncpg.Connection.fetchval
        for name in CALLS:
            monkeypatch.setattr(asyncpg.Connection, name, self._watching(getattr(asyncpg.Connection, name)))

    def _watching(self, real: Any) -> Any:
        async def call(connection: Any, statement: str, *values: Any, **options: Any) -> Any:
            await self._note(connection, statement)
            return await real(connection, statement, *values, **options)

        return call

    async def _note(self, connection: Any, statement: str) -> None:
        if statement.startswith("BEGIN"):
            self.said[connection] = []
        self.said[connection].append(statement)
        wrote = not connection.is_in_transaction() and CHANGES.search(statement) is not None
        if statement.startswith("COMMIT"):
            wrote = await self._fetchval(connection, "SELECT pg_current_xact_id_if_assigned()") is not None
        if wrote:
            self.writes += 1
            if not any(LOOK in one for one in self.said[connection]):
                self.blind.append(self.said[connection])


async def test_no_verb_writes_without_a_look_at_the_schema(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, store = ManualClock(), PostgresStore(postgres.database(tmp_path))
    async with MemoryEngine(store=store, embedder=WordEmbedder(), clock=clock) as engine:
        watched = Watched(monkeypatch)
        await write_by_every_verb(engine, clock)
    assert watched.writes > 10
    assert watched.blind == []


async def test_a_write_without_a_look_is_found(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control."""
    monkeypatch.setattr("mnemic.stores.postgres.connections._writing", lambda _: "BEGIN")
    async with MemoryEngine(store=PostgresStore(postgres.database(tmp_path)), embedder=WordEmbedder()) as engine:
        watched = Watched(monkeypatch)
        await engine.add("Ana has a boat.", actor=ANA)
    assert watched.blind
