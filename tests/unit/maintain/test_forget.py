"""Taking one memory away: with its versions, with what was drawn from it, and from nobody else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic.bootstrap import build_store
from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, MemoryNotFound
from mnemic.stores.encryption import Sealer
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, ForgetResult, Kind, Memory, Origin, Status
from mnemic.unit_of_work import apply
from mnemic.write.derived_memories import mark_tenant
from mnemic.write.forget import forget


async def test_a_memory_goes_with_what_was_drawn_from_it(clock: ManualClock, ana: Actor, ben: Actor) -> None:
    store = InProcessStore()
    async with MemoryEngine(store=store, embedder=WordEmbedder(), clock=clock) as engine:
        memory_id = (await engine.add("I have a boat.", actor=ana)).memory_id or ""
        other_id = (await engine.add("My office is in Porto.", actor=ana)).memory_id or ""
        await engine.update(memory_id, "I have a red boat.", actor=ana)
        own = ana.scope("user")
        held = await store.get(memory_id, scopes=[own])
        assert held is not None
        drawn: dict[str, Any] = {"kind": Kind.EPISODIC, "category": "summary", "version": 1}
        summaries = [
            replace(held, memory_id=f"s-{one}", fingerprint=f"f-{one}", data={"sources": [one]}, **drawn)
            for one in (memory_id, other_id)
        ]

        async def put(tx: Any) -> None:
            for summary in summaries:
                await tx.insert(summary)

        await apply(store, mark_tenant("default"))
        await store.transact(put)
        for nobody in ("no-such-memory", memory_id):
            with pytest.raises(MemoryNotFound):
                await forget(store, clock, nobody, actor=ben, scopes=(ben.scope("user"),))
        assert len(await left(store)) == 4
        await forget(store, clock, memory_id, actor=ben, scopes=(ben.scope("user"), own))
        assert {memory.memory_id for memory in await left(store)} == {other_id, f"s-{other_id}"}
        assert await store.versions(memory_id, scopes=[own]) == []
        told = [event for event in await store.audit("default") if event.action == "forgotten"]
        assert [(event.memory_id, event.actor, event.at) for event in told] == [
            (memory_id, "ben", clock.now()),
            (f"s-{memory_id}", "ben", clock.now()),
        ]


# -- by a filter -------------------------------------------------------------------------------------------------------


async def noted_trips(engine: MemoryEngine, actor: Actor, trips: int) -> list[str]:
    """Add notes of one category, one a minute, and one of another; return the ids of the former, newest first."""
    made = []
    for number in range(trips):
        engine.clock.advance(timedelta(minutes=1))  # type: ignore[attr-defined]
        made.append(str((await engine.add(f"Note {number} of the trip", actor=actor, category="trip")).memory_id))
    await engine.add("The sea is wide.", actor=actor, category="sea")
    return made[::-1]


@pytest.fixture
async def in_memory(clock: ManualClock) -> AsyncIterator[MemoryEngine]:
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=clock) as engine:
        yield engine


async def test_the_newest_that_meet_the_filter_go_and_it_says_whether_there_are_more(
    in_memory: MemoryEngine, ana: Actor, ben: Actor
) -> None:
    ids = await noted_trips(in_memory, ana, 4)
    await noted_trips(in_memory, ben, 1)
    would = await in_memory.forget_matching(actor=ana, categories=["trip"], limit=3, dry_run=True)
    assert would == ForgetResult(memory_ids=tuple(ids[:3]), more=True, dry_run=True)
    assert await in_memory.count(actor=ana) == 5
    done = await in_memory.forget_matching(actor=ana, categories=["trip"], limit=3)
    assert done == ForgetResult(memory_ids=tuple(ids[:3]), more=True)
    rest = await in_memory.forget_matching(actor=ana, categories=["trip"], limit=1)
    assert rest == ForgetResult(memory_ids=(ids[3],), more=False), "as many as the limit are not more than it"
    assert [one.category for one in await in_memory.list(actor=ana)] == ["sea"]
    assert await in_memory.count(actor=ben) == 2
    assert await in_memory.forget_matching(actor=ana, categories=["trip"]) == ForgetResult()


async def test_a_filter_needs_a_bound_and_a_limit_from_1_to_1000(in_memory: MemoryEngine, ana: Actor) -> None:
    await noted_trips(in_memory, ana, 1)
    with pytest.raises(InvalidInput) as empty:
        await in_memory.forget_matching(actor=ana)
    assert empty.value.reason == "invalid_input:filter:empty"
    assert empty.value.hint == "name what to forget; `privacy.erase` deletes everything of a user"
    for limit in (0, -1, 1001, True, 1.0, "1"):
        with pytest.raises(InvalidInput) as refused:
            await in_memory.forget_matching(actor=ana, categories=["trip"], limit=limit)  # type: ignore[arg-type]
        assert (refused.value.reason, refused.value.hint) == ("invalid_input:limit", "1 to 1000")
    assert await in_memory.count(actor=ana) == 2
    assert len((await in_memory.forget_matching(actor=ana, categories=["trip"], limit=1000)).memory_ids) == 1


async def test_what_is_trusted_more_stays_and_is_named_and_the_rest_goes(in_memory: MemoryEngine, ana: Actor) -> None:
    model = replace(ana, channel=Origin.AGENT_INFERRED)
    (said,) = await noted_trips(in_memory, ana, 1)
    guessed = str((await in_memory.add("The trip was long.", actor=model, category="trip")).memory_id)
    done = await in_memory.forget_matching(actor=model, categories=["trip"])
    assert done == ForgetResult(memory_ids=(guessed,), refused=(said,))
    assert await in_memory.forget_matching(actor=ana, categories=["trip"]) == ForgetResult(memory_ids=(said,))


async def test_what_went_with_another_is_not_named(in_memory: MemoryEngine, ana: Actor) -> None:
    (older,) = await noted_trips(in_memory, ana, 1)
    inner = in_memory.list

    async def listed(**given: Any) -> list[Memory]:
        found = await inner(**given)
        return [replace(found[0], memory_id="already-gone"), *found]

    in_memory.list = listed  # type: ignore[method-assign, assignment]
    done = await in_memory.forget_matching(actor=ana, categories=["trip"])
    assert (done.memory_ids, done.refused) == ((older,), ()), "what is gone does not stop the rest"


async def left(store: InProcessStore) -> list[Memory]:
    return await store.scan("default", statuses=list(Status))


async def test_forgetting_a_memory_reads_no_other(tmp_path: Path, ana: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    store = build_store(str(tmp_path / "memories.db"), durability="fast")
    async with MemoryEngine(store=store, embedder=WordEmbedder()) as engine:
        buses = [Candidate(content=f"Bus {number} stops here.", kind=Kind.EPISODIC) for number in range(50)]
        kept = await engine.add_many(buses, actor=ana)
        read, decode = list[bytes](), Sealer.decode_checked

        def noted(sealer: Sealer, body: bytes, *row: Any) -> Memory:
            read.append(body)
            return decode(sealer, body, *row)

        monkeypatch.setattr(Sealer, "decode_checked", noted)
        await engine.forget(kept[7].memory_id or "", actor=ana)
        assert len(read) <= 2
        await engine.list(actor=ana, limit=50)
        assert len(read) > 40, "rows are counted here"
