"""Entities noticed in ordinary writes: in whose words, by which verbs, and what becomes of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from mnemic.bootstrap import build_engine
from mnemic.config import Settings
from mnemic.dispatch import Watchers
from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidConfig, ModelTimeout, ModelUnavailable
from mnemic.extract.entities import EntityReading
from mnemic.extract.layered_extractor import LayeredExtractor
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.kinds.entity import EntityMemory
from mnemic.kinds.entity_noticing import EntityNoticing
from mnemic.kinds.entity_readers.model_reader import LayeredEntityReader
from mnemic.kinds.entity_readers.rules import RuleEntityReader
from mnemic.runtime.sync_facade import Awaited, async_mode
from mnemic.stores.graph import InProcessGraph
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.stores.sqlite.transaction import SqliteGraph
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Completion, Deadline, Kind, Message, Origin, Outcome, Prompt, Status

ANA, BEN = Actor(user="ana"), Actor(user="ben")
SAID = "My sister Eva works at Siemens in Berlin."


@pytest_asyncio.fixture
async def engine(tmp_path: Path) -> AsyncIterator[MemoryEngine]:
    store, graph = SqliteStore(tmp_path / "m.db"), SqliteGraph(tmp_path / "m.db")
    made = MemoryEngine(
        store=store,
        graph=graph,
        embedder=WordEmbedder(),
        clock=ManualClock(),
        middleware=[EntityNoticing(RuleEntityReader())],
    )
    async with made as engine:
        yield engine


@pytest.fixture
def entity(engine: MemoryEngine) -> EntityMemory[Awaited]:
    return EntityMemory(engine, ANA, async_mode())


async def around(entity: EntityMemory[Awaited]) -> dict[str, int]:
    return {one.node.name: one.hops for one in await entity.neighbours(hops=3)}


EVA = {"Eva": 1, "Siemens": 2, "Berlin": 3}


async def test_every_verb_that_writes_what_the_user_says_is_read(
    engine: MemoryEngine, entity: EntityMemory[Awaited]
) -> None:
    await engine.add(SAID, actor=ANA)
    assert await around(entity) == EVA
    await engine.record([Message(role="user", content="My brother Tom lives in Porto.")], actor=ANA)
    await engine.capture("My friend Zoe moved to Oslo.", actor=ANA)
    await engine.add_many([Candidate(content="My boss Kim works at Bosch.")], actor=ANA)
    assert {"Tom", "Porto", "Zoe", "Oslo", "Kim", "Bosch"} <= set(await around(entity))
    assert await EntityMemory(engine, BEN, async_mode()).of_user() == []


async def test_only_the_users_own_sentences_are_read(engine: MemoryEngine, entity: EntityMemory[Awaited]) -> None:
    await engine.record([Message(role="assistant", content=SAID)], actor=ANA)
    await engine.record([Message(role="user", speaker="Tom", content=SAID)], actor=ANA)
    await engine.add(SAID, actor=ANA, origin=Origin.WEB)
    await engine.add("Siemens in Berlin", actor=ANA, key="employer")
    await engine.add("Does my sister Eva work at Siemens in Berlin?", actor=ANA, kind=Kind.EPISODIC)
    assert await entity.of_user() == []


async def test_a_later_sentence_ends_what_the_earlier_one_told(
    engine: MemoryEngine, entity: EntityMemory[Awaited]
) -> None:
    await engine.add("My sister Eva works at Siemens.", actor=ANA)
    await engine.add("Good news: my sister Eva now works at Bosch.", actor=ANA, kind=Kind.EPISODIC)
    assert set(await around(entity)) == {"Eva", "Bosch"}


async def test_what_was_read_names_its_memory_and_is_forgotten_with_it(
    engine: MemoryEngine, entity: EntityMemory[Awaited]
) -> None:
    said = await engine.add(SAID, actor=ANA)
    kept = await engine.add("My brother Tom lives in Porto.", actor=ANA)
    read = await engine.list(actor=ANA, kinds=[Kind.ENTITY])
    assert {memory.source.ref for memory in read} == {said.memory_id, kept.memory_id}
    await engine.forget(said.memory_id or "", actor=ANA)
    assert set(await around(entity)) == {"Tom", "Porto"}


async def test_what_has_ended_of_what_was_read_is_forgotten_with_its_memory_too(engine: MemoryEngine) -> None:
    said = await engine.add("My sister Eva works at Siemens.", actor=ANA)
    await engine.add("Good news: my sister Eva now works at Bosch.", actor=ANA)

    async def read() -> list[str]:
        held = await engine.store.scan(ANA.tenant, statuses=list(Status), limit=100)
        return [one.content for one in held if one.kind is Kind.ENTITY and one.source.ref == said.memory_id]

    assert any("Siemens" in content for content in await read())
    await engine.forget(said.memory_id or "", actor=ANA)
    assert await read() == []


async def test_many_captures_and_a_correction_are_read_too(engine: MemoryEngine, entity: EntityMemory[Awaited]) -> None:
    await engine.capture_many([Message(role="user", content=SAID)], actor=ANA)
    assert await around(entity) == EVA
    receipt = await engine.add("My brother Tom lives in Porto.", actor=ANA)
    assert "Tom" in await around(entity)
    await engine.update(receipt.memory_id or "", "My friend Zoe lives in Faro.", actor=ANA)
    names = set(await around(entity))
    assert {"Zoe", "Faro"} <= names
    assert not {"Tom", "Porto"} & names, "what the old words named is forgotten"


async def test_told_again_nothing_is_read_again(engine: MemoryEngine) -> None:
    await engine.add(SAID, actor=ANA)
    before = await engine.count(actor=ANA)
    again = await engine.add(SAID, actor=ANA)
    assert again.outcome is Outcome.REFRESHED
    assert await engine.count(actor=ANA) == before


class Broken:
    """A reader whose model is away."""

    async def read(self, message: Message, *, deadline: Deadline) -> EntityReading:
        raise ModelUnavailable


async def test_a_reader_that_fails_costs_no_memory() -> None:
    made = MemoryEngine(
        store=InProcessStore(),
        graph=InProcessGraph(),
        embedder=WordEmbedder(),
        middleware=[EntityNoticing(Broken())],
    )
    async with made as engine:
        await _fails_to_read(engine)


async def _fails_to_read(engine: MemoryEngine) -> None:
    receipt = await engine.add(SAID, actor=ANA)
    assert receipt.outcome is Outcome.CREATED
    assert receipt.degraded == ("entities",)
    report = await engine.capture("I live in Oslo.", actor=ANA)
    assert report.errors[-1].startswith("entities: ")
    assert any(one.stored for one in report.receipts)


async def test_what_is_redacted_is_not_shown_to_the_reader() -> None:
    shown: list[str] = []

    class Watching(RuleEntityReader):
        async def read(self, message: Message, *, deadline: Deadline) -> EntityReading:
            shown.append(message.content)
            return await super().read(message, deadline=deadline)

    made = MemoryEngine(
        store=InProcessStore(),
        graph=InProcessGraph(),
        embedder=WordEmbedder(),
        middleware=[EntityNoticing(Watching())],
    )
    async with made as engine:
        await engine.add("Write to jane.doe@example.com in Berlin.", actor=ANA)
    assert len(shown) == 1
    assert "jane.doe" not in shown[0]


def test_the_policy_file_says_what_reads(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    settings = Settings(store="memory:", policy=policy)
    policy.write_text("")
    assert [type(one) for one in build_engine(settings).dispatcher.middleware] == [Watchers]
    policy.write_text('[entities]\nread = "rules"\n')
    noticing = build_engine(settings)
    assert [type(one) for one in noticing.dispatcher.middleware] == [EntityNoticing, Watchers]
    assert noticing.reads == "rules"
    policy.write_text('[entities]\nread = "model"\n')
    with pytest.raises(InvalidConfig, match=r"entities\.read"):
        build_engine(settings)
    policy.write_text('[entities]\nread = "guessing"\n')
    with pytest.raises(InvalidConfig, match=r"policy:entities\.read"):
        build_engine(settings)


class SlowModel:
    """A model that answers after all the time it is given."""

    model = "slow"

    def __init__(self, clock: ManualClock) -> None:
        self.clock, self.given = clock, list[float]()

    async def complete(self, prompt: Prompt, *, deadline: Deadline) -> Completion:
        self.given.append(deadline.remaining())
        self.clock.advance(timedelta(seconds=deadline.remaining()))
        raise ModelTimeout

    async def close(self) -> None:
        """Nothing to free."""


async def test_a_turn_with_a_slow_model_ends_in_its_time_with_the_names_that_rules_read(tmp_path: Path) -> None:
    clock = ManualClock()
    model = SlowModel(clock)
    made = MemoryEngine(
        store=SqliteStore(tmp_path / "m.db"),
        graph=SqliteGraph(tmp_path / "m.db"),
        embedder=WordEmbedder(),
        clock=clock,
        extractor=LayeredExtractor(ModelExtractor(model)),
        middleware=[EntityNoticing(LayeredEntityReader(model))],
    )
    async with made as engine:
        begun = clock.monotonic()
        report = await engine.capture(SAID, actor=ANA)
        assert clock.monotonic() - begun <= engine.rules.budget.max_seconds
        assert report.errors == ("extract:model: llm_timeout", "entities: llm_timeout")
        assert await around(EntityMemory(engine, ANA, async_mode())) == EVA
