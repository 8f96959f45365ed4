"""No path keeps a memory longer than the policy allows."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput
from mnemic.maintenance.archive import ArchivedMemory
from mnemic.policy.expiry_rule import FOREVER
from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.policy.limits import Limits, Retention
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Kind, Memory, Message, Origin, Outcome, Status
from mnemic.types.scope import new_id

DAY = timedelta(days=1)
ANA, BEN = Actor(user="ana", workspace="crew"), Actor(user="ben", workspace="crew")
POLICY = Policy(keys={"seat": KeyRule("seat", ttl_days=3)}, open_keys=True, default_ttl_days=180)
LIMITS = Limits(retention={kind: Retention(longest=30 * DAY) for kind in (Kind.LONG_TERM, Kind.EPISODIC)})
WISHES = [None, FOREVER, DAY, 29 * DAY, 400 * DAY]


def opened() -> MemoryEngine:
    return MemoryEngine(
        store=InProcessStore(), embedder=WordEmbedder(), clock=ManualClock(), policy=POLICY, limits=LIMITS
    )


def allowed(memory: Memory) -> timedelta:
    return 3 * DAY if memory.key == "seat" else 30 * DAY


async def everything(engine: MemoryEngine) -> list[Memory]:
    return list(await engine.store.scan(ANA.tenant, statuses=list(Status)))


async def add(engine: MemoryEngine, wish: timedelta | None, key: str | None) -> None:
    await engine.add("aisle", actor=ANA, key=key, ttl=wish)


async def add_many(engine: MemoryEngine, wish: timedelta | None, key: str | None) -> None:
    kinds = (Kind.LONG_TERM, Kind.EPISODIC)
    await engine.add_many([Candidate(content="window", key=key, kind=kind, ttl=wish) for kind in kinds], actor=ANA)


async def capture(engine: MemoryEngine, wish: timedelta | None, key: str | None) -> None:
    await engine.capture("I prefer aisle seats. I live in Oslo.", actor=ANA)


async def record(engine: MemoryEngine, wish: timedelta | None, key: str | None) -> None:
    await engine.record([Message(role="user", content="I live in Oslo.", session="s")], actor=ANA)


async def update(engine: MemoryEngine, wish: timedelta | None, key: str | None) -> None:
    for memory in (await engine.list(actor=ANA))[:1]:
        with suppress(InvalidInput):  # another memory already says this
            await engine.update(memory.memory_id, f"{memory.content}s", actor=ANA)


async def contradict(engine: MemoryEngine, wish: timedelta | None, key: str | None) -> None:
    told = {"category": "instruction", "origin": Origin.AGENT_INFERRED}
    await engine.add("Refunds need a manager.", actor=ANA, ttl=wish, **told)


async def approve(engine: MemoryEngine, wish: timedelta | None, key: str | None) -> None:
    for waiting in await engine.reviews(actor=BEN, whole_tenant=True):
        await engine.approve(waiting.memory.memory_id, actor=BEN, whole_tenant=True)


STEPS: list[Any] = [add, add_many, capture, record, update, contradict, approve]


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(STEPS), st.sampled_from(WISHES), st.sampled_from([None, "seat", "diet"]), st.integers(0, 9)
        ),
        min_size=1,
        max_size=8,
    )
)
def test_whatever_is_done_nothing_is_kept_longer(steps: list[tuple[Any, timedelta | None, str | None, int]]) -> None:
    async def work() -> list[Memory]:
        async with opened() as engine:
            clock = engine.clock
            assert isinstance(clock, ManualClock)
            for step, wish, key, days in steps:
                await step(engine, wish, key)
                clock.advance(days * DAY)
            return await everything(engine)

    for memory in asyncio.run(work()):
        assert memory.expires_at is not None
        confirmed_at = memory.updated_at if memory.key == "seat" else memory.created_at
        assert memory.expires_at <= confirmed_at + allowed(memory)


@pytest.mark.parametrize("step", [add, add_many, record, contradict])
async def test_the_control_lives_longer_without_a_limit(step: Any) -> None:
    async with opened().under(
        policy=Policy(), grant=opened().gateway.grant, budget=opened().gateway.budget, limits=Limits()
    ) as engine:
        await step(engine, FOREVER, None)
        assert [memory.expires_at for memory in await everything(engine)] != []
        assert {memory.expires_at for memory in await everything(engine)} == {None}


async def test_a_limit_that_comes_later_binds_what_is_approved() -> None:
    async with opened() as engine:
        free = engine.under(policy=Policy(), grant=engine.gateway.grant, budget=engine.gateway.budget, limits=Limits())
        await contradict(free, FOREVER, None)
        await approve(engine, None, None)
        (approved,) = await engine.list(actor=ANA)
        assert approved.expires_at == approved.created_at + 30 * DAY


async def rolled_back(engine: MemoryEngine, old: str, new: str) -> str:
    await engine.rollback(old, 1, actor=ANA)
    return old


async def undone(engine: MemoryEngine, old: str, new: str) -> str:
    await engine.undo(new, actor=ANA)
    return old


async def told_again(engine: MemoryEngine, old: str, new: str) -> str:
    return (await engine.add("window", key="seat", actor=ANA)).memory_id or ""


@pytest.mark.parametrize("days", [0, 2, 100])
@pytest.mark.parametrize("step", [rolled_back, undone, told_again])
async def test_a_limit_that_comes_later_binds_what_is_brought_back_or_told_again(step: Any, days: int) -> None:
    async with opened() as engine:
        free = engine.under(policy=Policy(), grant=engine.gateway.grant, budget=engine.gateway.budget, limits=Limits())
        old = await free.add("aisle", key="seat", actor=ANA)
        new = await free.add("window", key="seat", actor=ANA)
        assert new.superseded == (old.memory_id,)
        engine.clock.advance(timedelta(days=days))  # type: ignore[attr-defined]
        memory_id = await step(engine, old.memory_id, new.memory_id)
        (live,) = await engine.store.scan("default", statuses=[Status.ACTIVE], memory_ids=[memory_id])
        now = engine.clock.now()
        assert live.expires_at is not None
        if step is told_again:
            assert live.expires_at == now + 3 * DAY
        else:
            assert live.expires_at == min(now + 3 * DAY, live.created_at + 30 * DAY)


async def test_what_claims_to_be_from_the_future_is_kept_no_longer() -> None:
    async with opened() as engine:
        told = await engine.add("The canaries are called Pip and Squeak.", actor=ANA)
        (memory,) = await engine.list(actor=ANA)
        await engine.forget(told.memory_id or "", actor=ANA)
        ahead = replace(memory, memory_id=new_id(memory.created_at), created_at=memory.created_at + 9000 * DAY)
        ahead = replace(ahead, updated_at=ahead.created_at, content="The parrot is called Polly.", expires_at=None)
        receipt = await engine.restore(ArchivedMemory((ahead,)), actor=ANA)
        assert receipt.outcome is Outcome.CREATED
        (live,) = await engine.list(actor=ANA)
        assert live.expires_at == engine.clock.now() + 30 * DAY
