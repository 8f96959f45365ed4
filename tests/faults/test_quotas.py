"""Quotas hold however many write at once: in processes on one file, side by side on every store."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from mnemic.engine import MemoryEngine
from mnemic.policy.limits import Limits, Quota
from mnemic.ports import RecordStore
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor
from tests.faults.aftermath import examine
from tests.faults.many_processes import TENANT_ROWS, USER_ROWS, run_crowd
from tests.faults.scale import size
from tests.servers import PostgresServer

WRITERS = 24
ROWS = 7


def test_eight_processes_stop_at_the_quota(tmp_path: Path, say: Callable[[str], None]) -> None:
    turns = size(5, 50)
    seen = run_crowd(tmp_path / "m.db", "within_quota", processes=8, turns=turns)
    say(f"8 processes x {2 * turns} adds within quotas: {dict(seen)}")

    assert seen.pop("created") == len(examine(tmp_path / "m.db").memories) == TENANT_ROWS
    assert set(seen) <= {"quota_exceeded:user.rows", "quota_exceeded:tenant.rows"}
    assert seen.total() == 8 * 2 * turns - TENANT_ROWS
    assert USER_ROWS < TENANT_ROWS


@pytest.fixture(params=["inprocess", "sqlite", "postgres"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> list[RecordStore]:
    """Four ways in to the same memories."""
    if request.param == "inprocess":
        return [InProcessStore()] * 4
    if request.param == "sqlite":
        return [SqliteStore(tmp_path / "m.db") for _ in range(4)]
    server: PostgresServer = request.getfixturevalue("postgres")
    return [PostgresStore(server.database(tmp_path)) for _ in range(4)]


@pytest.mark.parametrize(
    ("quota", "reason"),
    [
        (Quota(per="user", rows=ROWS), "quota_exceeded:user.rows"),
        (Quota(per="tenant", rows=ROWS), "quota_exceeded:tenant.rows"),
        (Quota(per="tenant", writes_a_minute=ROWS), "quota_exceeded:tenant.writes_a_minute"),
    ],
    ids=["user", "tenant", "rate"],
)
async def test_side_by_side_on_every_store(stores: list[RecordStore], quota: Quota, reason: str) -> None:
    limits = Limits(quotas=(quota,))
    engines = [MemoryEngine(store=store, embedder=WordEmbedder(), limits=limits) for store in stores]
    for engine in engines:
        await engine.open()
    try:
        receipts = await asyncio.gather(*(_add(engines[number % 4], number, quota) for number in range(WRITERS)))
        told = Counter(receipt.reason or receipt.outcome.value for receipt in receipts)
        assert told == {"created": ROWS, reason: WRITERS - ROWS}
        held = await stores[0].usage("default", since=engines[0].clock.now())
        assert sum(usage.rows for usage in held.values()) == ROWS
        again = await _add(engines[0], next(place for place, one in enumerate(receipts) if one.stored), quota)
        assert not again.stored or again.was_duplicate
    finally:
        for engine in engines:
            await engine.close()


async def _add(engine: MemoryEngine, number: int, quota: Quota):  # type: ignore[no-untyped-def]
    actor = Actor(user="ana" if quota.per == "user" else f"user{number % 3}")
    return await engine.add(f"Statement number {number} of many others", actor=actor)
