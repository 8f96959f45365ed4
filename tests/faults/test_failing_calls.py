"""Every call of a port fails once: no success that was none, and no "nothing is known" that was an outage."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import CommitUnknown, MemoryNotFound, MnemicError
from mnemic.ports import RecordStore
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types.trace import RunReport, RunStatus
from tests.faults.failing_calls import FailingEmbedder, FailingStore, Moment, NthCall
from tests.faults.oracle import ADA
from tests.faults.scale import FULL
from tests.faults.stores import store_named

KNOWN = "Kuvane belongs to ritoma and selune"
NEW = "Tarelo belongs to harbour and vatesi"
SAID = "I am vegetarian and I live in Oslo."

HINTS = {"expect"}
"""Calls that tell a store what it will be asked: whether they fail makes no difference to what is done."""

pytestmark = pytest.mark.parametrize("moment", ["before", "after"])


new_store: Callable[[], RecordStore] = InProcessStore
"""An empty store."""


@pytest.fixture(autouse=True, params=("inprocess", "sqlite", "postgres") if FULL else ("inprocess",))
def on_store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which store it is tried on: on the servers at the published size."""
    numbers = count()

    def new() -> RecordStore:
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        return store_named(request, folder, durability="fast")

    monkeypatch.setattr(sys.modules[__name__], "new_store", new)


@dataclass
class House:
    """An engine whose ports can fail, with one memory in it."""

    engine: MemoryEngine
    store: NthCall
    embedder: NthCall
    memory_id: str

    async def contents(self) -> Counter[str]:
        return Counter(memory.content for memory in await self.engine.list(actor=ADA, limit=100))


@asynccontextmanager
async def house() -> AsyncIterator[House]:
    store, embedder = FailingStore(new_store(), CommitUnknown), FailingEmbedder(WordEmbedder())
    async with MemoryEngine(store=store, embedder=embedder) as engine:  # type: ignore[arg-type]
        memory_id = (await engine.add(KNOWN, actor=ADA)).memory_id
        assert memory_id is not None
        yield House(engine, store.nth, embedder.nth, memory_id)


async def each_failure(moment: Moment, which: str, attempt: Callable[[House], Awaitable[None]]) -> int:
    """Run `attempt` once for each call of the port that it makes, with that call failing; how many there were."""
    nth = 0
    while True:
        nth += 1
        async with house() as one:
            calls: NthCall = getattr(one, which)
            calls.fail(nth, moment)
            await attempt(one)
            if not calls.failed:
                return nth - 1


@pytest.mark.parametrize("which", ["store", "embedder"])
async def test_add(moment: Moment, which: str) -> None:
    async def attempt(one: House) -> None:
        try:
            receipt = await one.engine.add(NEW, actor=ADA, idempotency_key="once")
        except MnemicError:
            stored = False
        else:
            stored = receipt.stored
        one.store.heal()
        one.embedder.heal()
        before = await one.contents()
        assert before <= Counter([KNOWN, NEW])
        assert before[NEW] or not stored
        again = await one.engine.add(NEW, actor=ADA, idempotency_key="once")
        assert again.stored
        assert again.replayed is bool(before[NEW])
        assert await one.contents() == Counter([KNOWN, NEW])

    assert await each_failure(moment, which, attempt) >= (8 if which == "store" else 1)


@pytest.mark.parametrize("which", ["store", "embedder"])
async def test_capture(moment: Moment, which: str) -> None:
    async with house() as untroubled:
        report = await untroubled.engine.capture(SAID, actor=ADA)
        expected = await untroubled.contents()
        assert len(report.receipts) == len(expected) - 1 > 1

    async def attempt(one: House) -> None:
        report = await one.engine.capture(SAID, actor=ADA, idempotency_key="once")
        one.store.heal()
        one.embedder.heal()
        await receipts_are_true(one, report)
        assert await one.contents() <= expected
        if len([receipt for receipt in report.receipts if receipt.stored]) < len(expected) - 1:
            assert report.errors
        again = await one.engine.capture(SAID, actor=ADA, idempotency_key="once")
        assert not again.errors
        assert await one.contents() == expected

    assert await each_failure(moment, which, attempt) >= (8 if which == "store" else 1)


@pytest.mark.parametrize("which", ["store", "embedder"])
async def test_search(moment: Moment, which: str) -> None:
    async def attempt(one: House) -> None:
        try:
            result = await one.engine.search("Who does Kuvane belong to?", actor=ADA)
        except MnemicError:
            return
        assert [hit.memory.memory_id for hit in result.hits] == [one.memory_id]
        assert result.errors or not getattr(one, which).failed

    assert await each_failure(moment, which, attempt) >= (5 if which == "store" else 1)


@pytest.mark.parametrize("which", ["store", "embedder"])
async def test_run(moment: Moment, which: str) -> None:
    async def attempt(one: House) -> None:
        report = await one.engine.run(
            actor=ADA, message=SAID, goal="Who does Kuvane belong to?", idempotency_key="once"
        )
        one.store.heal()
        one.embedder.heal()
        await receipts_are_true(one, report)
        if getattr(one, which).failed not in (None, *HINTS):
            degraded = any(receipt.degraded for receipt in report.receipts)
            assert report.status is not RunStatus.OK or report.errors or degraded
        else:
            assert len(report.receipts) == len([receipt for receipt in report.receipts if receipt.stored]) > 1
            assert report.status is RunStatus.OK
            assert one.memory_id in {hit.memory.memory_id for hit in report.hits}

    assert await each_failure(moment, which, attempt) >= (15 if which == "store" else 2)


async def test_update(moment: Moment) -> None:
    async def attempt(one: House) -> None:
        try:
            receipt = await one.engine.update(one.memory_id, NEW, actor=ADA, expected_version=1)
        except MnemicError:
            stored = False
        else:
            stored = receipt.stored
        one.store.heal()
        history = [memory.content for memory in await one.engine.history(one.memory_id, actor=ADA)]
        assert history in ([KNOWN], [KNOWN, NEW])
        assert history == [KNOWN, NEW] or not stored

    assert await each_failure(moment, "store", attempt) >= 6


async def test_forget(moment: Moment) -> None:
    async def attempt(one: House) -> None:
        try:
            await one.engine.forget(one.memory_id, actor=ADA)
        except MnemicError:
            gone = False
        else:
            gone = True
        one.store.heal()
        left = await one.contents()
        assert not (gone and left)
        if left:
            await one.engine.forget(one.memory_id, actor=ADA)
        with pytest.raises(MemoryNotFound):
            await one.engine.get(one.memory_id, actor=ADA)
        lines = await one.engine.audit(actor=ADA)
        assert [line.action for line in lines].count("forgotten") == 1

    assert await each_failure(moment, "store", attempt) >= 4


async def test_reading(moment: Moment) -> None:
    async def attempt(one: House) -> None:
        for read in (
            lambda: one.engine.get(one.memory_id, actor=ADA),
            lambda: one.engine.list(actor=ADA),
            lambda: one.engine.count(actor=ADA),
            lambda: one.engine.history(one.memory_id, actor=ADA),
            lambda: one.engine.audit(actor=ADA),
        ):
            with suppress(MnemicError):
                assert await read()
        assert one.store.failed or one.store.calls == 7  # a list and a count ask for consents first

    assert await each_failure(moment, "store", attempt) >= 5


async def receipts_are_true(one: House, report: RunReport) -> None:
    """What a receipt calls stored is there, in the version it names."""
    for receipt in report.receipts:
        if receipt.stored:
            memory = await one.engine.get(receipt.memory_id or "", actor=ADA)
            assert memory.version == receipt.version
        else:
            assert receipt.reason
