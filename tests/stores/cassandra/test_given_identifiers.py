"""Identifiers that come with an archive: each is in one scope of its tenant."""

from __future__ import annotations

import asyncio
import secrets

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import VersionConflict
from mnemic.maintenance.archive import Archived, read_line
from mnemic.stores.cassandra import CassandraStore
from mnemic.testing.record_store.fixtures import EMBEDDER, everything, scope
from mnemic.types import Actor, Outcome, WriteReceipt

ADA, BOB, CAY = (Actor(tenant="acme", user=name) for name in ("ada", "bob", "cay"))


def made(cassandra: str) -> MemoryEngine:
    return MemoryEngine(store=CassandraStore(f"{cassandra}&prefix={secrets.token_hex(6)}"), embedder=EMBEDDER)


async def archive_of(engine: MemoryEngine, actor: Actor) -> Archived:
    (line,) = [line async for line in engine.export(actor=actor, archive=True)]
    return read_line(line)


async def test_an_archive_is_not_restored_to_a_second_user_of_the_tenant(cassandra: str) -> None:
    async with made(cassandra) as engine:
        await engine.add("The harbour is near.", actor=ADA)
        line = await archive_of(engine, ADA)
        with pytest.raises(VersionConflict):
            await engine.restore(line, actor=BOB)
        assert await engine.store.count(everything(scope("bob"))) == 0
        assert (await engine.restore(line, actor=ADA)).outcome is Outcome.REFRESHED


async def test_of_two_users_who_restore_at_the_same_time_one_is_refused(cassandra: str) -> None:
    async with made(cassandra) as here, made(cassandra) as there:
        await here.add("The harbour is near.", actor=ADA)
        line = await archive_of(here, ADA)
        told = await asyncio.gather(
            *(there.restore(line, actor=actor) for actor in (ADA, BOB, CAY)), return_exceptions=True
        )
        assert sorted(type(one).__name__ for one in told) == [*["VersionConflict"] * 2, WriteReceipt.__name__]
        found = [await there.store.count(everything(scope(name))) for name in ("ada", "bob", "cay")]
        assert sorted(found) == [0, 0, 1]
        winner = (ADA, BOB, CAY)[found.index(1)]
        assert (await there.restore(line, actor=winner)).outcome is Outcome.REFRESHED


async def test_a_claim_that_came_to_nothing_can_be_repeated(cassandra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with made(cassandra) as here, made(cassandra) as there:
        await here.add("The harbour is near.", actor=ADA)
        line = await archive_of(here, ADA)

        async def refused(*_: object) -> None:
            raise VersionConflict

        with monkeypatch.context() as patched:
            patched.setattr("mnemic.stores.cassandra.store.CassandraTransaction.insert", refused)
            with pytest.raises(VersionConflict):
                await there.restore(line, actor=ADA)
        assert (await there.restore(line, actor=ADA)).outcome is Outcome.CREATED
