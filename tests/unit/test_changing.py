"""A left-out sentence is kept where it changes something known, and only there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import EmbedderFailed, StoreUnavailable
from mnemic.guard.policy import Policy
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.stores.inprocess import InProcessStore
from mnemic.types import Actor

ANA = Actor(user="ana", session="s1")
KNOWN = "I live in Leeds, near Headingley."
CHANGE = "so we're finally unpacked in Sheffield lol, boxes everywhere."


@pytest.fixture
async def engine() -> AsyncIterator[MemoryEngine]:
    async with MemoryEngine(store=InProcessStore(), embedder=MiniLmEmbedder()) as made:
        yield made


async def texts(engine: MemoryEngine) -> list[str]:
    return sorted(one.content for one in await engine.list(actor=ANA))


async def test_beside_what_it_changes_it_is_kept(engine: MemoryEngine) -> None:
    await engine.add(KNOWN, actor=ANA)
    report = await engine.capture(CHANGE, actor=ANA)
    assert [one.outcome for one in report.receipts] == ["superseded"]
    assert report.skipped == ()
    assert await texts(engine) == ["S" + CHANGE[1:]]


async def test_alone_it_is_not(engine: MemoryEngine) -> None:
    assert (await engine.capture(CHANGE, actor=ANA)).receipts == ()
    await engine.add("My bike has a red bell.", actor=ANA)
    assert (await engine.capture("the printer is finally quiet now lol", actor=ANA)).receipts == ()


async def test_a_policy_without_statements_takes_none() -> None:
    policy = Policy.of("home_city")
    async with MemoryEngine(store=InProcessStore(), embedder=MiniLmEmbedder(), policy=policy) as engine:
        await engine.add("Leeds", key="home_city", actor=ANA)
        assert (await engine.capture(CHANGE, actor=ANA)).receipts == ()


@pytest.mark.parametrize(("part", "verb"), [("store", "nearest"), ("embedder", "embed")])
async def test_an_outage_keeps_the_rest(
    engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch, part: str, verb: str
) -> None:
    await engine.add(KNOWN, actor=ANA)

    async def broken(*_: Any, **__: Any) -> Any:
        raise StoreUnavailable if part == "store" else EmbedderFailed("down")

    monkeypatch.setattr(getattr(engine, part), verb, broken)
    report = await engine.capture(CHANGE, actor=ANA)
    assert report.receipts == ()
    assert ("capture:known: store_unavailable" in report.errors) is (part == "store")
