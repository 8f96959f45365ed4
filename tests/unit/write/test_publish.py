"""Steps 8 and 9: projections follow the commit and never spoil it."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from typing import Any

import pytest

from mnemic.errors import StoreUnavailable
from mnemic.policy.key_rules import Policy
from mnemic.types import Candidate, Deadline, Level, Origin, Outcome, Source
from mnemic.write.pipeline import MemoryWritePipeline
from tests.derived_copy import Copy


@pytest.fixture
def hot(blind: Any) -> Copy:
    hot = Copy()
    blind.pipeline = MemoryWritePipeline(blind.store, blind.embedder, blind.clock, projections=[hot, Copy("second")])
    return hot


async def test_active_memories_are_published_and_acknowledged(blind: Any, hot: Copy) -> None:
    receipt = await blind.add("Likes tea")
    assert hot.held == {receipt.memory_id: "Likes tea"}
    assert await blind.store.pending() == []
    assert receipt.degraded == ()


async def test_superseded_memories_are_evicted(blind: Any, hot: Copy) -> None:
    await blind.add("english", key="language")
    new = await blind.add("german", key="language")
    assert hot.held == {new.memory_id: "german"}


async def test_merged_ones_too(blind: Any, hot: Copy) -> None:
    await blind.add("Prefers dark mode")
    await blind.add("Prefers the dark mode")
    assert list(hot.held.values()) == ["Prefers the dark mode"]


async def test_pending_memories_are_never_published(blind: Any, hot: Copy) -> None:
    await blind.add("Likes tea", level=Level.AGENT)
    await blind.add("Does not like tea", level=Level.AGENT)
    await blind.add("german", key="language")
    await blind.add("english", key="language", origin=Origin.WEB)
    assert sorted(hot.held.values()) == ["Likes tea", "german"]


async def test_a_failing_projection_degrades_the_receipt_only(
    blind: Any, hot: Copy, caplog: pytest.LogCaptureFixture
) -> None:
    hot.down = True
    with caplog.at_level(logging.WARNING, "mnemic.write"):
        receipt = await blind.add("Likes tea")
    assert (receipt.outcome, receipt.degraded) == (Outcome.CREATED, ("hot",))
    assert receipt.steps[-1].decision == "missed:hot"
    assert [entry.memory_id for entry in await blind.store.pending()] == [receipt.memory_id]
    assert blind.pipeline.publisher.failures == {"hot": 1}
    assert "ConnectionError" in caplog.text
    assert "tea" not in caplog.text
    assert "secret" not in caplog.text


async def test_one_that_fails_holds_up_no_other(blind: Any, hot: Copy) -> None:
    second = blind.pipeline.publisher.feeds[1].projection
    hot.down = True
    receipts = [await blind.add(text) for text in ("Likes tea", "Owns a red bicycle")]
    assert [receipt.degraded for receipt in receipts] == [("hot",), ("hot",)]
    assert list(second.held.values()) == ["Likes tea", "Owns a red bicycle"]
    assert await blind.store.projections() == {"hot": 2, "second": 0}


async def test_one_that_is_back_hears_first_what_it_missed(blind: Any, hot: Copy) -> None:
    hot.down = True
    first = await blind.add("Likes tea")
    hot.down = False
    resting = await blind.add("Owns a red bicycle")
    assert (hot.calls, resting.degraded) == (1, ("hot",))
    degraded = [(await blind.add(f"Thing {n} of many", key=f"thing_{n}")).degraded for n in await _minutes(blind, 3)]
    assert degraded == [("hot",), ("hot",), ()]
    assert hot.heard[0][0] == first.memory_id
    assert len(hot.held) == 5
    assert await blind.store.pending() == []


async def _minutes(blind: Any, count: int) -> list[int]:
    blind.clock.advance(timedelta(minutes=1))
    return list(range(count))


async def test_a_copy_that_hangs_costs_a_write_no_more_than_its_deadline(blind: Any, hot: Copy) -> None:
    hot.gate = asyncio.Event()
    candidate = Candidate(content="Likes tea", source=Source(origin=Origin.USER_STATED))
    deadline = Deadline.after(timedelta(milliseconds=50), blind.clock.monotonic)
    receipt = await blind.pipeline.write(candidate, actor=blind.actor, policy=Policy(), deadline=deadline)
    assert (receipt.outcome, receipt.degraded) == (Outcome.CREATED, ("hot",))


async def test_an_outbox_that_cannot_be_acknowledged_is_said(blind: Any, hot: Copy) -> None:
    async def fail(*_: Any, **__: Any) -> None:
        raise StoreUnavailable

    blind.store.acknowledge = fail
    receipt = await blind.add("Likes tea")
    assert receipt.degraded == ("outbox",)
    assert hot.held == {receipt.memory_id: "Likes tea"}


async def test_a_refresh_without_change_publishes_nothing(blind: Any, hot: Copy) -> None:
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
