"""Embedding that does not wait for the store, by what the last search knew of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TypeVar

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import StoreUnavailable
from mnemic.ports import Snapshot
from mnemic.ports.record_store import Marks
from mnemic.retrieve.prefetch import MOST, SpeakerCache
from mnemic.retrieve.search import Searcher
from mnemic.retrieve.search_state import Decisions
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Deadline, Level, Message, Vector, Where

T = TypeVar("T")
ANA = Actor(user="ana", session="harbour")
MINE = Where(scopes=ANA.scopes([Level.USER]))


class HearingEmbedder(WordEmbedder):
    """Says when it is called, and keeps what it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = asyncio.Event()
        self.asked: list[list[str]] = []

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        self.asked.append(list(texts))
        self.begun.set()
        return await super().embed(texts, deadline=deadline)


class PatientStore(InProcessStore):
    """Answers only once `before` has happened, or not at all."""

    before: asyncio.Event | None = None
    down = False
    reads = 0

    async def read(self, work: Callable[[Snapshot], Awaitable[T]]) -> T:
        self.reads += 1
        if self.down:
            raise StoreUnavailable
        if self.before is not None:
            await self.before.wait()
        return await super().read(work)


@pytest.fixture
async def store() -> AsyncIterator[PatientStore]:
    store = PatientStore()
    async with MemoryEngine(store=store, embedder=WordEmbedder()) as engine:
        await engine.record([Message(role="user", speaker="Ana", content="My ship lies in the harbour.")], actor=ANA)
        yield store


async def test_the_second_search_embeds_before_the_store_has_answered(store: PatientStore) -> None:
    embedder = HearingEmbedder()
    searcher = Searcher(store, embedder)
    first = await searcher.search("Where is Ana's ship?", MINE, top_k=1)
    embedder.begun.clear()
    store.before = embedder.begun  # would wait for good if the embedder waited for the store
    second = await searcher.search("Where is Ana's ship?", MINE, top_k=1)
    assert second.hits == first.hits
    assert embedder.asked == [["Where is my ship?"]] * 2


async def test_whoever_has_spoken_since_is_heard(store: PatientStore) -> None:
    embedder = HearingEmbedder()
    searcher = Searcher(store, embedder)
    await searcher.search("What has Ben got?", MINE, top_k=1)
    async with MemoryEngine(store=store, embedder=WordEmbedder()) as engine:
        await engine.record([Message(role="user", speaker="Ben", content="I have got a kite.")], actor=ANA)
        found = await searcher.search("What has Ben got?", MINE, top_k=1)
    assert embedder.asked == [["What has Ben got?"], ["What has Ben got?"], ["What has I got?"]]
    assert found.plan is not None
    assert found.plan.speakers == ("Ben",)
    assert found.hits[0].memory.source.speaker == "Ben"


async def test_a_store_that_is_down_is_said_and_what_was_begun_is_given_up(store: PatientStore) -> None:
    searcher = Searcher(store, HearingEmbedder())
    await searcher.search("the ship", MINE, top_k=1)
    store.down = True
    with pytest.raises(StoreUnavailable):
        await searcher.search("the ship", MINE, top_k=1)
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_what_is_hidden_is_read_meanwhile_and_not_found(store: PatientStore) -> None:
    async def hidden(_: Marks) -> Decisions:
        return Decisions(frozenset({"ship"}))

    async with MemoryEngine(store=store, embedder=WordEmbedder()) as engine:
        await engine.add("The Petrel", key="ship", actor=ANA)
        searcher = Searcher(store, WordEmbedder())
        assert "ship" in {hit.memory.key for hit in (await searcher.search("ship", MINE, top_k=5)).hits}
        for query in ("ship", ""):
            found = await searcher.search(query, MINE, top_k=5, decisions=hidden)
            assert {hit.memory.key for hit in found.hits} == {None}


async def test_a_later_search_reads_the_store_twice(store: PatientStore) -> None:
    searcher = Searcher(store, WordEmbedder())
    first = await searcher.search("the ship", MINE, top_k=1)
    store.reads = 0
    second = await searcher.search("the ship", MINE, top_k=1)
    assert store.reads == 2
    assert second == first


async def test_an_earlier_value_under_a_hidden_key_is_not_found_by_a_question_about_the_past() -> None:
    async def hidden(_: Marks) -> Decisions:
        return Decisions(frozenset({"home"}))

    asked = "Where did I live before?"
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder()) as engine:
        await engine.add("I live in Berlin.", key="home", actor=ANA)
        await engine.add("I live in Madrid.", key="home", actor=ANA)
        searcher = Searcher(engine.store, WordEmbedder())
        found = await searcher.search(asked, MINE, top_k=5)
        assert "I live in Berlin." in {hit.memory.content for hit in found.hits}
        for _ in range(2):  # the second one makes its lists in the first read
            assert (await searcher.search(asked, MINE, top_k=5, decisions=hidden)).hits == ()


def test_of_few_scopes_is_kept_who_spoke_there() -> None:
    spoken = SpeakerCache()
    for number in range(MOST + 1):
        spoken.note(Actor(user=f"u{number}").scopes([Level.USER]), frozenset({"Ana"}))
    assert spoken.last(Actor(user="u0").scopes([Level.USER])) is None
    assert spoken.last(Actor(user=f"u{MOST}").scopes([Level.USER])) == frozenset({"Ana"})


async def test_an_erasure_leaves_no_name_of_a_speaker_in_memory() -> None:
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder()) as engine:
        await engine.record([Message(role="user", speaker="Ana", content="My ship lies in the harbour.")], actor=ANA)
        spoken, result = engine.gateway.searcher.spoken, await engine.search("ships", actor=ANA)
        assert result.where is not None
        assert spoken.last(result.where.scopes)
        await engine.erase("ana", actor=ANA)
        assert spoken.last(result.where.scopes) is None
