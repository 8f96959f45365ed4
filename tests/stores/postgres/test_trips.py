"""Statements that a write on PostgreSQL sends, and the refresh of state cached between writes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.ports import Transaction
from mnemic.stores.postgres import PostgresStore, group_commit
from mnemic.stores.postgres.connections import Session
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, AuditEvent, Candidate, Outcome
from tests.servers import PostgresServer

ANA = Actor(user="ana")


async def test_a_write_goes_to_the_server_eight_times(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Consents, duplicate; BEGIN, entering with the gate, erasures begun since, insert, trail, COMMIT."""
    asked = counting(monkeypatch)
    async with MemoryEngine(store=PostgresStore(postgres.database(tmp_path)), embedder=WordEmbedder()) as engine:
        await engine.add("The sea is calm and blue.", actor=ANA)
        await engine.add("The sea is calm and grey today.", actor=ANA)
        asked.clear()
        await engine.add("The sea is calm and green in the evening.", actor=ANA)
        assert len(asked) <= 8, [" ".join(statement.split())[:60] for statement in asked]


async def test_a_batch_of_writes_goes_to_the_server_eleven_times(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Consents; duplicates in three; BEGIN, the scope with the gate, the fingerprints, neighbours, all rows, the trail,
    COMMIT.
    """
    asked = counting(monkeypatch)
    monkeypatch.setattr(group_commit, "MAX_LOCK_SECONDS", 60.0)
    async with MemoryEngine(store=PostgresStore(postgres.database(tmp_path)), embedder=WordEmbedder()) as engine:
        await engine.add("The sea is calm and blue.", actor=ANA)
        await engine.add("The sea is calm and grey today.", actor=ANA)
        asked.clear()
        given = [Candidate(content=f"The harbour of town {number} is {number} km away.") for number in range(32)]
        receipts = await engine.add_many(given, actor=ANA)
        assert {receipt.outcome for receipt in receipts} == {Outcome.CREATED}
        assert len(asked) <= 11, [" ".join(statement.split())[:60] for statement in asked]


async def test_a_search_after_a_write_goes_to_the_server_four_times(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Consents; the scopes for speakers with lists, and for the answer; the memories that were found."""
    asked = counting(monkeypatch)
    async with MemoryEngine(store=PostgresStore(postgres.database(tmp_path)), embedder=WordEmbedder()) as engine:
        await engine.add("The sea is calm and blue.", actor=ANA)
        await engine.search("the blue sea", actor=ANA)
        await engine.add("The boat in the harbour is green.", actor=ANA)
        asked.clear()
        found = await engine.search("the green boat", actor=ANA)
        assert [hit.memory.content for hit in found.hits][:1] == ["The boat in the harbour is green."]
        assert len(asked) <= 4, [" ".join(statement.split())[:60] for statement in asked]


def counting(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list to which every statement that goes to the server is added."""
    asked: list[str] = []
    for name in ("fetch", "fetch_each", "execute"):
        passed_on = getattr(Session, name)

        async def counted(self: Session, statement: str, *values: Any, on: Any = passed_on, name: str = name) -> Any:
            if name != "fetch_each" or len(values[0]) > 1:  # a single one goes through `fetch`
                asked.append(statement)
            return await on(self, statement, *values)

        monkeypatch.setattr(Session, name, counted)
    return asked


async def test_an_audit_that_another_process_went_on_with_stays_one_chain(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    stores = [PostgresStore(postgres.database(tmp_path)) for _ in range(2)]
    for store in stores:
        await store.open(WordEmbedder().space)
    for turn in (0, 0, 1, 1, 0, 1):
        await stores[turn].transact(appended)
    assert await stores[0].broken_audit("acme") == (6, None, (await stores[1].audit("acme"))[-1].hash)
    for store in stores:
        await store.close()


async def appended(transaction: Transaction) -> None:
    await transaction.append_audit(
        AuditEvent(tenant="acme", action="created", at=datetime(2026, 1, 1, tzinfo=UTC), actor="ana")
    )
