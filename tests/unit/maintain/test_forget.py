"""Taking one memory away: with its versions, with what was drawn from it, and from nobody else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import MemoryNotFound
from mnemic.types import Actor, Kind, Memory, Status
from mnemic.unit_of_work import apply
from mnemic.write.derived_memories import noted
from mnemic.write.forget import forget
from mnemic_stores.in_memory_store import InProcessStore
from mnemic_testing.clock import ManualClock
from mnemic_testing.embedder import WordEmbedder


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

        await apply(store, noted("default"))
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


async def left(store: InProcessStore) -> list[Memory]:
    return await store.scan("default", statuses=list(Status))
