"""Steps 8 and 9: projections follow the commit and never spoil it."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from mnemic.errors import StoreUnavailable
from mnemic.types import Memory, Origin, OutboxEntry, Outcome
from mnemic.write.pipeline import MemoryWritePipeline


class HotSet:
    """What a cache would hold."""

    def __init__(self, name: str = "hot") -> None:
        self.name = name
        self.down = False
        self.held: dict[str, str] = {}

    async def apply(self, entry: OutboxEntry, memory: Memory | None) -> None:
        if self.down:
            raise ConnectionError("secret text of the driver")
        if entry.action == "remove" or memory is None:
            self.held.pop(entry.memory_id, None)
        else:
            self.held[entry.memory_id] = memory.content


@pytest.fixture
def hot(blind: Any) -> HotSet:
    hot = HotSet()
    blind.pipeline = MemoryWritePipeline(blind.store, blind.embedder, blind.clock, projections=[hot, HotSet("second")])
    return hot


async def test_active_memories_are_published_and_acknowledged(blind: Any, hot: HotSet) -> None:
    receipt = await blind.add("Likes tea")
    assert hot.held == {receipt.memory_id: "Likes tea"}
    assert await blind.store.pending() == []
    assert receipt.degraded == ()


async def test_superseded_memories_are_evicted(blind: Any, hot: HotSet) -> None:
    await blind.add("english", key="language")
    new = await blind.add("german", key="language")
    assert hot.held == {new.memory_id: "german"}


async def test_merged_ones_too(blind: Any, hot: HotSet) -> None:
    await blind.add("Prefers dark mode")
    await blind.add("Prefers dark mode in the editor")
    assert list(hot.held.values()) == ["Prefers dark mode in the editor"]


async def test_pending_memories_are_never_published(blind: Any, hot: HotSet) -> None:
    await blind.add("Likes tea")
    await blind.add("Does not like tea")
    await blind.add("german", key="language")
    await blind.add("english", key="language", origin=Origin.WEB)
    assert sorted(hot.held.values()) == ["Likes tea", "german"]


async def test_a_failing_projection_degrades_the_receipt_only(
    blind: Any, hot: HotSet, caplog: pytest.LogCaptureFixture
) -> None:
    hot.down = True
    with caplog.at_level(logging.WARNING, "mnemic.write"):
        receipt = await blind.add("Likes tea")
    assert (receipt.outcome, receipt.degraded) == (Outcome.CREATED, ("hot",))
    assert receipt.steps[-1].decision == "missed:hot"
    assert [entry.memory_id for entry in await blind.store.pending()] == [receipt.memory_id]
    assert blind.pipeline.failures == {"hot": 1}
    assert "ConnectionError" in caplog.text
    assert "tea" not in caplog.text
    assert "secret" not in caplog.text


async def test_an_outbox_that_cannot_be_acknowledged_is_said(blind: Any, hot: HotSet) -> None:
    async def fail(*_: Any, **__: Any) -> None:
        raise StoreUnavailable

    blind.store.acknowledge = fail
    receipt = await blind.add("Likes tea")
    assert receipt.degraded == ("outbox",)
    assert hot.held == {receipt.memory_id: "Likes tea"}


async def test_a_refresh_without_change_publishes_nothing(blind: Any, hot: HotSet) -> None:
    await blind.add("Likes tea")
    hot.held.clear()
    await blind.add("Likes tea")
    assert hot.held == {}


async def test_without_projections_the_outbox_keeps_the_work(blind: Any) -> None:
    receipt = await blind.add("Likes tea")
    assert receipt.degraded == ()
    assert len(await blind.store.pending()) == 1


async def test_an_outbox_that_nobody_reads_does_not_grow_for_ever(blind: Any) -> None:
    for number in range(600):
        await blind.add(f"Thing {number} of many others", key=f"thing_{number}")
    assert len(await blind.store.pending(limit=1000)) < 300
