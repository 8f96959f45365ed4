"""Partial erasures: a tenant's remaining memories in any scope, and those under one key, but no others."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.maintenance import erase
from mnemic.maintenance.background_capture import waiting_prefix
from mnemic.maintenance.bulk_import import import_prefix
from mnemic.policy.grant import Grant
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Memory, Outcome, Scope, Status
from mnemic.unit_of_work import Mutation, apply
from mnemic.write.limiter import subject_token, tombstone
from mnemic.write.missing_vectors import left_prefix
from mnemic.write.outbox import OutboxConsumer
from mnemic.write.tokenisation import token_prefix
from mnemic.write.turn_log import turn_prefix
from tests.derived_copy import Copy

RIVAL = Actor(tenant="rival", user="ana")


@pytest.fixture
async def engine(clock: ManualClock) -> AsyncIterator[MemoryEngine]:
    grant = Grant(levels=frozenset({"user", "workspace"}))
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=clock, grant=grant) as engine:
        yield engine


async def left(engine: MemoryEngine, tenant: str) -> list[Memory]:
    return await engine.store.scan(tenant, statuses=list(Status))


async def test_everything_of_one_tenant_goes_and_nothing_of_another(
    engine: MemoryEngine, ana: Actor, ben: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erase, "PAGE", 2)
    for number in range(3):
        await engine.add(f"Note {number} about ships.", actor=ana)
    await engine.add("Porto", actor=ben, key="office")
    assert (await engine.add("Lisbon", actor=ben, key="office")).outcome is Outcome.SUPERSEDED
    await engine.add("The office closes at six.", actor=ben, level="workspace")
    await engine.add("I have a boat.", actor=RIVAL)
    held, rivals = await left(engine, "default"), await left(engine, "rival")
    assert {memory.status for memory in held} == {Status.ACTIVE, Status.SUPERSEDED}

    receipt, scopes = await erase.erase_left(engine.store, engine.clock, actor=ben)

    assert await left(engine, "default") == []
    assert await left(engine, "rival") == rivals
    assert receipt.memory_ids == tuple(sorted(memory.memory_id for memory in held))
    assert set(receipt.fingerprints) == {memory.fingerprint for memory in held}
    assert (receipt.counts["memories"], receipt.counts["versions"]) == (6, 7), "what was replaced has two versions"
    assert (receipt.complete, receipt.blocks_relearning, receipt.kept) == (True, False, ())
    assert scopes == {ana.scope("user"), ben.scope("user"), ben.scope("workspace")}


async def test_its_receipt_and_its_lines_are_those_of_the_whole_tenant(
    engine: MemoryEngine, ana: Actor, ben: Actor
) -> None:
    await engine.add("I have a boat.", actor=ana)
    await engine.grant_consent("seat", actor=ana)
    receipt, _ = await erase.erase_left(engine.store, engine.clock, actor=ben)
    token = await subject_token(engine.store, "default", "tenant:default")
    assert (receipt.tenant, receipt.subject, receipt.at) == ("default", token, engine.clock.now())
    told = [event for event in await engine.store.audit("default") if event.action in ("erasing", "erased")]
    assert [(event.action, event.actor, event.at) for event in told] == [
        ("erasing", "ben", engine.clock.now()),
        ("erased", "ben", engine.clock.now()),
    ]
    assert receipt.receipt_id
    assert {(event.detail["subject"], event.detail["receipt"]) for event in told} == {(token, receipt.receipt_id)}
    assert await engine.store.marks("default", tombstone(token)) == {}, "the tenant may be used again"
    assert await engine.consents(actor=ana) == {}


async def test_its_copies_hear_of_it(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    copy = Copy("hot")
    feeds = [OutboxConsumer(copy, engine.store, engine.clock)]
    await engine.add("I have a boat.", actor=ana)
    await feeds[0].catch_up()
    assert len(copy.held) == 1
    receipt, _ = await erase.erase_left(engine.store, engine.clock, actor=ben, feeds=feeds)
    assert (copy.held, receipt.complete) == ({}, True)


async def test_what_is_written_meanwhile_goes_too(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    await engine.add("I have a boat.", actor=ana)
    inner, late = engine.store.projections, ["Written meanwhile."]

    async def projections() -> Any:
        while late:
            await engine.add(late.pop(), actor=ana, level="workspace")
        return await inner()

    engine.store.projections = projections  # type: ignore[method-assign]
    receipt, scopes = await erase.erase_left(engine.store, engine.clock, actor=ben)
    assert (len(receipt.memory_ids), await left(engine, "default")) == (2, [])
    assert scopes == {ana.scope("user"), ana.scope("workspace")}


async def test_an_empty_tenant_has_a_receipt_all_the_same(engine: MemoryEngine, ben: Actor) -> None:
    receipt, scopes = await erase.erase_left(engine.store, engine.clock, actor=ben)
    assert (receipt.memory_ids, receipt.complete, scopes) == ((), True, set[Scope]())


async def test_under_one_key_no_mark_of_anything_else_goes(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    gone = await engine.add("Porto", actor=ana, key="office")
    await engine.grant_consent("office", actor=ana)
    token = await subject_token(engine.store, "default", "ana")
    prefixes = (import_prefix(token), waiting_prefix(token), left_prefix(token), turn_prefix(token))
    marks: dict[str, str | None] = dict.fromkeys([f"{prefix}1" for prefix in prefixes], '{"shown": ["elsewhere"]}')
    await apply(engine.store, Mutation(tenant="default", marks=marks))
    before = await engine.store.marks("default", "")
    receipt = await erase.erase_key(engine.store, engine.clock, "office", user="ana", actor=ben)
    assert receipt.memory_ids == (gone.memory_id,)
    assert await engine.store.marks("default", "") == before
    await apply(engine.store, Mutation(tenant="default", marks={f"{token_prefix(token)}1": "sealed"}))
    whole = await erase.erase(engine.store, engine.clock, "ana", actor=ben)
    kept = {name for name in await engine.store.marks("default", "") if token in name}
    assert kept == {tombstone(token)}
    assert [whole.counts[name] for name in ("turns", "consents", "vault")] == [1, 1, 1]


async def test_every_version_is_counted_and_looked_for(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    memory_id = str((await engine.add("I have a boat.", actor=ana)).memory_id)
    for content in ("I have a red boat.", "I have a blue boat."):
        await engine.update(memory_id, content, actor=ana)
    await engine.add("The sea is wide.", actor=replace(ana, user="eve"))
    prints = {one.fingerprint for one in await engine.history(memory_id, actor=ana)}
    receipt, _ = await erase.erase_left(engine.store, engine.clock, actor=ben)
    assert (receipt.counts["versions"], receipt.counts["memories"], len(prints)) == (4, 2, 3)
    assert prints < set(receipt.fingerprints)
