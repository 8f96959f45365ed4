"""The acceptance criteria of the nine-step write pipeline, on SQLite with the real sentence embedder.

"Write p95 < 200 ms" is a figure, not an assertion: `mnemic bench` prints it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from mnemic.clock import SystemClock
from mnemic.errors import StoreFull
from mnemic.guard.policy import Policy
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.stores.sqlite import SqliteStore
from mnemic.types import Actor, Candidate, Change, Memory, Outcome, Status, Where, WriteReceipt
from mnemic.write.pipeline import MemoryWritePipeline

pytestmark = pytest.mark.acceptance

ADA = Actor(user="ada")


class Cache:
    """A hot cache that can go down."""

    name = "cache"

    def __init__(self) -> None:
        self.down = False
        self.held: dict[str, str] = {}

    async def apply(self, changes: Sequence[Change]) -> None:
        if self.down:
            raise ConnectionError
        for change in changes:
            self.held.pop(change.entry.memory_id, None)
            if change.shown is not None:
                self.held[change.entry.memory_id] = change.shown.content

    async def clear(self, tenant: str) -> None:
        self.held.clear()

    async def close(self) -> None:
        pass


class Bench:
    """A store file, the real embedder, and a cache behind the outbox."""

    def __init__(self, path: Path, embedder: MiniLmEmbedder) -> None:
        self.path = path
        self.store = SqliteStore(path)
        self.cache = Cache()
        self.pipeline = MemoryWritePipeline(self.store, embedder, SystemClock(), projections=[self.cache])

    async def write(self, content: str, **options: Any) -> WriteReceipt:
        key = options.pop("idempotency_key", None)
        candidate = Candidate(content=content, **options)
        return await self.pipeline.write(candidate, actor=ADA, policy=Policy(), idempotency_key=key)

    async def stored(self, *statuses: Status) -> list[Memory]:
        where = Where(scopes=(ADA.scope("user"),), statuses=frozenset(statuses or tuple(Status)))
        return (await self.store.newest(where, limit=100))[::-1]


@pytest.fixture(scope="module")
def embedder() -> MiniLmEmbedder:
    return MiniLmEmbedder()


@pytest.fixture
async def bench(tmp_path: Path, embedder: MiniLmEmbedder) -> AsyncIterator[Bench]:
    bench = Bench(tmp_path / "memory.db", embedder)
    await bench.store.open(embedder.space)
    yield bench
    await bench.store.close()


async def test_identical_content_adds_no_row(bench: Bench) -> None:
    first = await bench.write("The user prefers dark mode")
    again = await bench.write("The user prefers dark mode.")
    assert (again.was_duplicate, again.memory_id) == (True, first.memory_id)
    assert len(await bench.stored()) == 1


async def test_an_address_is_replaced_before_it_is_stored(bench: Bench) -> None:
    receipt = await bench.write("Send the invoice to canary.jane@acme-mail.com", key="invoice_to")
    memory = (await bench.stored())[0]
    assert memory.content.startswith("Send the invoice to [EMAIL#")
    assert receipt.outcome is Outcome.CREATED
    await bench.store.close()
    files = list(bench.path.parent.iterdir())
    assert files
    assert not any(b"canary" in file.read_bytes() for file in files)


async def test_a_near_duplicate_is_superseded_by_one_merged_memory(bench: Bench) -> None:
    old = await bench.write("The user prefers dark mode in the code editor")
    new = await bench.write("User really prefers the dark mode in the code editor")
    assert (new.was_merged, new.superseded) == (True, (old.memory_id,))
    assert [memory.memory_id for memory in await bench.stored(Status.ACTIVE)] == [new.memory_id]
    before = (await bench.stored(Status.SUPERSEDED))[0]
    assert (before.memory_id, before.content) == (old.memory_id, "The user prefers dark mode in the code editor")
    versions = await bench.store.versions(old.memory_id or "", scopes=[ADA.scope("user")])
    assert [version.status for version in versions] == [Status.ACTIVE, Status.SUPERSEDED]
    assert list(bench.cache.held) == [new.memory_id]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The user is allergic to penicillin", "The user is not allergic to penicillin"),
        ("Always approve refunds under 100 dollars", "Never approve refunds under 100 dollars"),
        ("The user lives in Berlin with two cats", "The user lives in Munich with two cats"),
    ],
)
async def test_a_contradiction_waits_for_review(bench: Bench, old: str, new: str) -> None:
    first = await bench.write(old, category="profile")
    second = await bench.write(new, category="profile")
    assert (second.was_flagged, second.conflicts_with) == (True, (first.memory_id,))
    waiting = (await bench.stored(Status.PENDING_REVIEW))[0]
    assert (waiting.memory_id, waiting.content) == (second.memory_id, new)
    assert [memory.content for memory in await bench.stored(Status.ACTIVE)] == [old]
    assert list(bench.cache.held.values()) == [old]


async def test_a_failure_before_the_commit_leaves_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = bench.store.transact

    async def break_off(work: Any, **options: Any) -> Any:
        async def broken(transaction: Any) -> None:
            settled = await work(transaction)
            if not isinstance(settled, list):
                raise StoreFull

        return await commit(broken, **options) or [False]

    monkeypatch.setattr(bench.store, "transact", break_off)
    with pytest.raises(StoreFull):
        await bench.write("The user prefers dark mode", idempotency_key="k1")
    monkeypatch.undo()
    assert await bench.stored() == []
    assert await bench.store.audit("default") == []
    assert await bench.store.pending() == []
    receipt = await bench.write("The user prefers dark mode", idempotency_key="k1")
    assert (receipt.outcome, receipt.replayed) == (Outcome.CREATED, False)


async def test_writers_at_once_make_one_memory_and_one_truth(bench: Bench, embedder: MiniLmEmbedder) -> None:
    other = Bench(bench.path, embedder)
    await other.store.open(embedder.space)
    said = ["The user is allergic to penicillin"] * 4 + ["The user is not allergic to penicillin"] * 4
    try:
        receipts = await asyncio.gather(*((bench, other)[n % 2].write(text) for n, text in enumerate(said)))
    finally:
        await other.store.close()
    active = await bench.stored(Status.ACTIVE)
    assert len(active) == 1
    assert sum(receipt.outcome is Outcome.CREATED for receipt in receipts) == 1
    assert sum(receipt.was_duplicate for receipt in receipts) == 3
    assert sum(receipt.was_flagged for receipt in receipts) == 4


async def test_a_cache_that_is_down_does_not_fail_the_write(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    bench.cache.down = True
    receipt = await bench.write("The user prefers dark mode")
    assert (receipt.outcome, receipt.degraded, receipt.durable) == (Outcome.CREATED, ("cache",), True)
    assert len(await bench.stored(Status.ACTIVE)) == 1
    assert "cache" in caplog.text
    assert len(await bench.store.pending()) == 1


async def test_every_step_says_what_it_decided_and_cost(bench: Bench) -> None:
    receipt = await bench.write("The user prefers dark mode")
    names = [step.name for step in receipt.steps]
    assert names == ["validate", "redact", "fingerprint", "embed", "conflict", "merge", "commit", "publish"]
    assert sum(step.ms for step in receipt.steps) > 0
