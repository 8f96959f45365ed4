"""Every transaction that writes looks at the schema first: each statement that the file gets is watched."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

from mnemic.engine import MemoryEngine
from mnemic.maintenance.tenant_registry import Tenants
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Message

ANA, BEN = Actor(tenant="acme", user="ana"), Actor(tenant="acme", user="ben")
LOOK = "user_version"
OUTSIDE = ("PRAGMA", "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "ATTACH", "DETACH", "VACUUM")
"""What changes no row: `VACUUM` writes the rows that are there once more."""


class Watched:
    """The connections that are opened, and what each has written without a look at the schema before."""

    def __init__(self) -> None:
        self.looked: dict[int, bool] = {}
        self.writes = 0
        self.blind: list[str] = []

    def __call__(self, connection: apsw.Connection) -> None:
        connection.exec_trace = self.traced

    def traced(self, cursor: apsw.Cursor, sql: str, _: Any) -> bool:
        connection, words = cursor.connection, sql.split(None, 1)
        if sql.startswith("BEGIN"):
            self.looked[id(connection)] = False
        elif LOOK in sql:
            self.looked[id(connection)] = True
        elif words and words[0].upper() not in OUTSIDE and not cursor.is_readonly:
            self.writes += 1
            if not (connection.in_transaction and self.looked.get(id(connection))):
                self.blind.append(sql[:80])
        return True


@pytest.fixture
def watched() -> Iterator[Watched]:
    one = Watched()
    apsw.connection_hooks.append(one)
    yield one
    apsw.connection_hooks.remove(one)


async def write_by_every_verb(engine: MemoryEngine, clock: ManualClock) -> None:
    created, *_ = [await engine.add(f"Ana has boat {number}.", actor=ANA) for number in range(3)]
    assert created.memory_id
    await engine.add_many([Candidate(content="Ben lives in Oslo.", key="home_city")], actor=BEN)
    await engine.update(created.memory_id, "Ana has a ship.", actor=ANA)
    await engine.rollback(created.memory_id, 1, actor=ANA)
    await engine.search("Which boat?", actor=ANA)
    await engine.forget(created.memory_id, actor=ANA)
    await engine.record([Message(role="user", content="The bus was late.")], actor=ANA)
    clock.advance(timedelta(days=400))
    await engine.maintain(actor=ANA)
    await engine.erase("ben", actor=ANA)
    await Tenants(engine.store, clock).create("rival", by="olga")


async def test_no_verb_writes_without_a_look_at_the_schema(tmp_path: Path, watched: Watched) -> None:
    clock = ManualClock()
    store = SqliteStore(tmp_path / "m.db")
    async with MemoryEngine(store=store, embedder=WordEmbedder(), clock=clock) as engine:
        await write_by_every_verb(engine, clock)
    assert watched.writes > 50
    assert watched.blind == []


async def test_a_write_without_a_look_is_found(
    tmp_path: Path, watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control."""
    async with MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder()) as engine:
        monkeypatch.setattr("mnemic.stores.sqlite.database_file.check_schema", lambda _: None)
        await engine.add("Ana has a boat.", actor=ANA)
    assert watched.blind
