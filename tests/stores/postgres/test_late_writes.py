"""A write that is paused between its last check of consents and erasures and its commit, while the person is erased."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from concurrent.futures import Future
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest

from mnemic.engine import MemoryEngine
from mnemic.policy.grant import Grant
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.postgres.connections import Session
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Level, Memory, Status
from mnemic.write.turn_log import TurnTexts, keep_turn, turns_of
from tests.servers import PostgresServer

T = TypeVar("T")

ANA, BEN = (Actor(tenant="acme", user=name, workspace="travel") for name in ("ana", "ben"))
WAITING = """
    SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
    WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted
"""
TEXTS = ("The harbour is near.", "Tea is served at four.", "The boat is red.", "Bergen is rainy.")


class HeldCommit:
    """The next commit of any session waits until it is released."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._reached, self._free = Future[None](), Future[None]()
        execute = Session.execute

        async def held(session: Session, command: str) -> str:
            if command == "COMMIT" and not self._reached.done():
                self._reached.set_result(None)
                await asyncio.wrap_future(self._free)
            return await execute(session, command)

        monkeypatch.setattr(Session, "execute", held)

    async def reached(self) -> None:
        await asyncio.wrap_future(self._reached)

    def let_go(self) -> None:
        self._free.set_result(None)

    async def during(self, server: PostgresServer, work: Awaitable[T]) -> T:
        """Return the result of `work`, which begins while the commit is paused; the commit continues once `work` is
        done, or waits for a lock.
        """
        running = asyncio.ensure_future(work)
        await over_or_waiting(server, running)
        self.let_go()
        return await running


async def over_or_waiting(server: PostgresServer, running: asyncio.Future[Any]) -> None:
    """Return once this has ended, or waits for a lock."""
    while not running.done() and not await asyncio.to_thread(server.sql, WAITING):
        await asyncio.wait({running}, timeout=0.05)


@pytest.fixture
async def engines(postgres: PostgresServer, tmp_path: Path) -> AsyncIterator[tuple[MemoryEngine, MemoryEngine]]:
    """Two processes, from the database's point of view."""
    dsn = postgres.database(tmp_path)
    options: dict[str, Any] = {"embedder": WordEmbedder(), "grant": Grant(levels=frozenset({"user", "workspace"}))}
    async with (
        MemoryEngine(store=PostgresStore(dsn), **options) as one,
        MemoryEngine(store=PostgresStore(dsn), **options) as other,
    ):
        await one.add("The sea is calm.", actor=BEN, level="workspace")
        await other.search("sea", actor=ANA)
        yield one, other


async def left(engine: MemoryEngine) -> list[Memory]:
    return await engine.store.scan("acme", statuses=list(Status), author="ana")


@pytest.mark.parametrize("block", [False, True], ids=["returns", "blocked"])
@pytest.mark.parametrize("level", ["user", "workspace"])
async def test_what_is_not_committed_yet_is_erased_or_never_stored(
    engines: tuple[MemoryEngine, MemoryEngine],
    postgres: PostgresServer,
    monkeypatch: pytest.MonkeyPatch,
    level: str,
    block: bool,
) -> None:
    writing, erasing = engines
    held = HeldCommit(monkeypatch)
    added = asyncio.ensure_future(writing.add(TEXTS[0], actor=ANA, level=level))
    await held.reached()
    receipt = await held.during(postgres, erasing.erase("ana", actor=ANA, block=block))
    await added
    assert await left(erasing) == []
    assert receipt.counts["memories"] == 1


async def test_a_group_that_shares_a_commit_is_erased_with_it(
    engines: tuple[MemoryEngine, MemoryEngine], postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing, erasing = engines
    first = HeldCommit(monkeypatch)
    bens = asyncio.ensure_future(writing.add(TEXTS[0], actor=BEN, level="workspace"))
    await first.reached()
    group = asyncio.gather(*(writing.add(text, actor=ANA, level="workspace") for text in TEXTS[1:]))
    store = writing.store
    assert isinstance(store, PostgresStore)
    while len(store._ready.groups._waiting[ANA.scope(Level.WORKSPACE)]) < 3:
        await asyncio.wait({group}, timeout=0.05)
    held = HeldCommit(monkeypatch)
    first.let_go()
    await bens
    await held.reached()
    receipt = await held.during(postgres, erasing.erase("ana", actor=ANA, block=True))
    await group
    assert await left(erasing) == []
    assert receipt.counts["memories"] == 3
    assert len(await erasing.store.scan("acme", statuses=list(Status), author="ben")) == 2


async def test_what_is_under_a_revoked_key_is_erased_or_never_stored(
    engines: tuple[MemoryEngine, MemoryEngine], postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing, erasing = engines
    held = HeldCommit(monkeypatch)
    added = asyncio.ensure_future(writing.add("Vegetarian.", key="diet", actor=ANA))
    await held.reached()
    await held.during(postgres, erasing.revoke_consent("diet", actor=ANA, erase_held=True))
    await added
    assert await left(erasing) == []


async def test_a_turn_is_forgotten_or_never_kept(
    engines: tuple[MemoryEngine, MemoryEngine], postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing, erasing = engines
    turn = TurnTexts(run_id="r", at=writing.clock.now() - timedelta(seconds=1), question="Which seat?")
    held = HeldCommit(monkeypatch)
    kept = asyncio.ensure_future(keep_turn(writing, ANA, turn))
    await held.reached()
    receipt = await held.during(postgres, erasing.erase("ana", actor=ANA))
    await kept
    assert await turns_of(erasing.store, None, ANA) == {}
    assert receipt.counts["turns"] == 1


async def test_a_write_of_somebody_else_does_not_wait_for_an_erasure(
    engines: tuple[MemoryEngine, MemoryEngine], postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing, erasing = engines
    held = HeldCommit(monkeypatch)
    added = asyncio.ensure_future(writing.add(TEXTS[0], actor=ANA))
    await held.reached()
    erased = asyncio.ensure_future(erasing.erase("ana", actor=ANA))
    await over_or_waiting(postgres, erased)
    for level in ("user", "workspace"):
        assert (await writing.add(TEXTS[1], actor=BEN, level=level)).memory_id is not None
    assert not added.done()
    await held.during(postgres, erased)
    await added
