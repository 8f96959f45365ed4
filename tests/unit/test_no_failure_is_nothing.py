"""Failures to look something up, or to do it in time, are reported, never passed off as "nothing is known" or "nothing
is asked".
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from mnemic.agents.langgraph import memory_graph
from mnemic.engine import MemoryEngine
from mnemic.errors import RunStopped, StoreUnavailable
from mnemic.policy.budget import Budget
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Message
from mnemic.types.trace import RunStatus
from tests.faults.failing_calls import FailingEmbedder, FailingStore

ANA = Actor(user="ana")
KNOWN = "I have a dog called Biscuit."
IMPLIED = "Biscuit died."
REQUEST = "Forget what I told you about my dog."
EIGHT = (
    "I live in Oslo. I am vegetarian. I work as a nurse. My sister is called Hana. I drive a Skoda. I play chess on"
    " Thursdays. I'm allergic to peanuts. My dentist is Dr. Wolf."
)
NO_TIME = 1e-9
"""A budget of seconds that is used up before anything begins."""


class Ports:
    def __init__(self) -> None:
        self.store = FailingStore(InProcessStore())
        self.embedder = FailingEmbedder(WordEmbedder())
        self.engine = MemoryEngine(store=self.store, embedder=self.embedder)


@pytest.fixture
async def ports() -> AsyncIterator[Ports]:
    made = Ports()
    async with made.engine:
        await made.engine.capture(KNOWN, actor=ANA)
        yield made


def message(text: str) -> Message:
    return Message(role="user", content=text, sent_at=datetime(2026, 3, 2, 9, tzinfo=UTC), session="s")


async def down(*_: object, **__: object) -> None:
    raise StoreUnavailable("down")


@pytest.mark.parametrize("many", [False, True])
async def test_a_change_that_could_not_be_looked_up_is_in_the_report(ports: Ports, many: bool) -> None:
    ports.embedder.nth.fail(1)
    if many:
        (report,) = await ports.engine.capture_many([message(IMPLIED)], actor=ANA)
    else:
        report = await ports.engine.capture(message(IMPLIED), actor=ANA)
    assert report is not None
    assert ports.embedder.nth.failed is not None
    assert [one for one in report.errors if one.startswith("capture:known: embedder_failed")], report.errors


async def test_a_store_that_does_not_tell_what_is_known_is_in_each_report(
    ports: Ports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemic.engine.extraction.with_later_words", down)
    (report,) = await ports.engine.capture_many([message("I live in Oslo.")], actor=ANA)
    assert report is not None
    assert [one for one in report.errors if one.startswith("capture:known: store_")], report.errors
    assert report.receipts, "the rest is written"


async def test_a_request_that_could_not_be_looked_up_is_an_error_of_the_turn(
    ports: Ports, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = memory_graph(ports.engine, lambda _: "ok")
    asked = {"input": REQUEST, "user_id": "ana", "thread_id": "t"}
    assert (await graph.ainvoke(asked))["final_output"]["memory_requests"]
    monkeypatch.setattr("mnemic.agents.steps.memory_backend.requests_in", down)
    turn = (await graph.ainvoke(asked))["final_output"]
    assert "memory_requests" not in turn
    assert [one for one in turn["errors"] if one.startswith("extract_memory_candidates: store_")], turn["errors"]


async def test_eight_sentences_without_time_are_reported_as_that() -> None:
    engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), budget=Budget(max_seconds=NO_TIME))
    async with engine:
        report = await engine.capture(EIGHT, actor=ANA)
        assert (report.status, report.stop_reason) == (RunStatus.STOPPED, "max_seconds")
        assert report.receipts == ()
        with pytest.raises(RunStopped, match="max_seconds"):
            await engine.remember(EIGHT, actor=ANA)
        assert await engine.count(actor=ANA) == 0
    enough = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder())
    async with enough:
        report = await enough.capture(EIGHT, actor=ANA)
        assert len(report.receipts) >= 8
