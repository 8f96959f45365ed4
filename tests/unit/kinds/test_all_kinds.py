"""Every kind where it lives, and one answer across them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, NotSupported, StoreUnavailable
from mnemic.kinds.all_kinds import SevenKinds
from mnemic.ports import Snapshot
from mnemic.runtime.sync_facade import async_mode
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.in_process_sessions import InProcessSessions
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Candidate, Kind, Message, Outcome, Scope
from tests.unit.kinds.conftest import ANA, BEN, House


async def test_add_takes_every_kind_to_its_home(house: House) -> None:
    kinds = house.kinds()
    scratch = await kinds.add("Paris", "working", key="destination")
    assert (scratch.key, scratch.durable, scratch.memory_id) == ("destination", False, None)
    assert kinds.working.get("destination") == "Paris"
    unnamed = await kinds.add("Rome", Kind.WORKING)
    assert kinds.working.get(unnamed.key or "") == "Rome"
    assert not (await kinds.add("What about a hotel there?", "short_term")).durable
    assert [(one.role, one.content) for one in await kinds.short_term.tail()] == [("user", "What about a hotel there?")]
    levels = dict.fromkeys(("long_term", "episodic", "entity", "structured"), "user") | {"persona": "agent"}
    for kind, level in levels.items():
        shaped = {"category": "Thing", "data": {"name": "x"}} if kind == "structured" else {}
        receipt = await kinds.add(f"Something of the kind {kind}.", kind, **shaped)
        assert receipt.level == level
        assert receipt.outcome is (Outcome.PENDING_REVIEW if kind == "persona" else Outcome.CREATED)
    assert {memory.kind for memory in await house.engine.list(actor=ANA)} == {
        Kind.LONG_TERM, Kind.EPISODIC, Kind.ENTITY, Kind.STRUCTURED,
    }  # fmt: skip


async def test_a_candidate_goes_by_its_own_kind(house: House) -> None:
    kinds = house.kinds()
    await kinds.add(Candidate(content="Hello.", kind=Kind.SHORT_TERM))
    assert len(await kinds.short_term.tail()) == 1
    assert (await kinds.add(Candidate(content="Likes tea."))).durable is False  # an in-process store
    assert await house.engine.count(actor=ANA) == 1


async def test_retrieve_goes_across_kinds_and_the_nearer_comes_first(house: House) -> None:
    kinds = house.kinds()
    await kinds.add("The hotel in Paris is by the river.")
    await kinds.add("The hotel in Rome was loud.", "episodic")
    await kinds.short_term.append("assistant", "Which hotel do you mean?")
    kinds.working.set("hotel", "Ritz")
    kinds.working.set("price", 200)
    found = await kinds.retrieve("the hotel in Paris by the river")
    assert [hit.kind for hit in found] == ["working", "short_term", "long_term", "episodic"]
    assert [hit.score for hit in found[:3]] == [1.0, 1.0, 1.0]
    assert found[3].score < 1
    assert [hit.memory_id is None for hit in found] == [True, True, False, False]
    assert [hit.kind for hit in await kinds.retrieve("hotel", ["episodic", Kind.WORKING])] == ["working", "episodic"]
    assert len(await kinds.retrieve("hotel", top_k=2)) == 2


async def test_what_is_added_to_working_memory_is_redacted_and_so_is_what_is_retrieved(house: House) -> None:
    kinds = house.kinds()
    await kinds.add("Write to jane@acme.com", "working", key="mail")
    assert "jane@acme.com" not in kinds.working.get("mail")
    kinds.working.set("address", "jane@acme.com")
    assert kinds.working.get("address") == "jane@acme.com", "the program's own"
    (*found,) = await kinds.retrieve("mail address", ["working"])
    assert sorted(hit.key or "" for hit in found) == ["address", "mail"]
    assert not any("jane@acme.com" in hit.content for hit in found)


async def test_common_words_find_no_message(house: House) -> None:
    kinds = house.kinds()
    await kinds.short_term.append("user", "What is the time where you are?")
    assert await kinds.retrieve("what is the price of the hotel?", ["short_term"]) == []


async def test_approved_traits_are_retrieved_too(house: House) -> None:
    receipt = await house.kinds().persona.learn("Speaks about mountains gladly.")
    assert await house.kinds().retrieve("mountains", ["persona"]) == []
    await house.engine.approve(receipt.memory_id or "", actor=BEN, whole_tenant=True)
    assert [hit.content for hit in await house.kinds().retrieve("mountains")] == ["Speaks about mountains gladly."]


async def test_without_a_query_the_newest_come(house: House) -> None:
    kinds = house.kinds()
    for text in ("first", "second"):
        await kinds.short_term.append("user", text)
        await kinds.add(f"The {text} one.")
    found = await kinds.retrieve("")
    assert [hit.content for hit in found] == ["second", "The second one.", "first", "The first one."]


async def test_what_cannot_be_is_refused(house: House) -> None:
    with pytest.raises(InvalidInput, match="kind"):
        await house.kinds().add("x", "olfactory")
    with pytest.raises(InvalidInput, match="kind"):
        await house.kinds().retrieve("x", ["olfactory"])
    with pytest.raises(InvalidInput, match="top_k"):
        await house.kinds().retrieve("x", top_k=0)
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder()) as engine:
        kinds = SevenKinds(engine, ANA, async_mode())
        assert await kinds.retrieve("x") == []
        with pytest.raises(NotSupported):
            await kinds.short_term.tail()


class SessionsDown(InProcessSessions):
    """A session store that is away."""

    async def tail(self, scope: Scope, *, limit: int) -> list[Message]:
        raise StoreUnavailable("redis")


class StoreDown(InProcessStore):
    """A store that answers no read."""

    async def read(self, work: Callable[[Snapshot], Any]) -> Any:
        raise StoreUnavailable("postgres")

    async def newest(self, *_: object, **__: object) -> Any:
        raise StoreUnavailable("postgres")


async def test_a_home_that_is_down_is_named_and_the_others_answer() -> None:
    engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), sessions=SessionsDown(ManualClock()))
    async with engine:
        kinds = SevenKinds(engine, ANA, async_mode())
        await kinds.add("The gate is green.")
        kinds.working.set("gate", "green")
        found = await kinds.retrieve("gate")
        assert [hit.kind for hit in found] == ["working", "long_term"]
        assert (found.errors, found.degraded) == ({"short_term": "store_unavailable:redis"}, True)
        whole = await kinds.retrieve("gate", ["long_term"])
        assert (len(whole), whole.errors, whole.degraded) == (1, {}, False)
        with pytest.raises(StoreUnavailable):
            await kinds.retrieve("gate", ["short_term"])


async def test_the_store_that_is_down_is_named_beside_what_the_session_has() -> None:
    engine = MemoryEngine(store=StoreDown(), embedder=WordEmbedder(), sessions=InProcessSessions(ManualClock()))
    async with engine:
        kinds = SevenKinds(engine, ANA, async_mode())
        await kinds.short_term.append("user", "The gate is green.")
        found = await kinds.retrieve("gate", ["short_term", "long_term", "persona"])
        assert [hit.kind for hit in found] == ["short_term"]
        assert found.errors == {"store": "store_unavailable:postgres", "persona": "store_unavailable:postgres"}
        with pytest.raises(StoreUnavailable):
            await kinds.retrieve("gate", ["long_term", "persona"])
