"""Each place that an erasure covers, on the in-process store: the removed data, the rest, the receipt,
and what an interrupted one leaves.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, StoreFailed, StoreFull, StoreUnavailable
from mnemic.keys import KeyFolder, MasterKeys
from mnemic.maintenance import erase
from mnemic.maintenance.bulk_import import import_prefix, take_part
from mnemic.maintenance.erase import ErasureReceipt, erase_key, made_of, verify
from mnemic.policy.grant import Grant
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.in_process_sessions import InProcessSessions
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Kind, Level, Memory, Message, Outcome, Scope, Source, Status, Where
from mnemic.unit_of_work import Mutation, apply
from mnemic.write.derived_memories import mark_tenant
from mnemic.write.limiter import subject_token, tombstone, waiting_prefix
from mnemic.write.missing_vectors import left_prefix
from mnemic.write.outbox import OutboxConsumer
from mnemic.write.tokenisation import token_prefix
from mnemic.write.turn_log import turn_prefix
from tests.derived_copy import Copy

DAY = timedelta(days=1)
TEAM = Scope(tenant="default", level=Level.WORKSPACE, owner="travel")


class Looked(Copy):
    """A copy that can be searched, or cannot be reached."""

    reached = True

    async def traces(self, tenant: str, memory_ids: Collection[str]) -> int:
        if not self.reached:
            raise StoreUnavailable("offline")
        return sum(name in memory_ids and self._tenants[name] == tenant for name in self.held)


@pytest.fixture
async def engine(clock: ManualClock) -> AsyncIterator[MemoryEngine]:
    grant = Grant(levels=frozenset({"user", "workspace"}))
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=clock, grant=grant) as engine:
        yield engine


async def kept(engine: MemoryEngine, content: str, actor: Actor, **fields: Any) -> Memory:
    memory_id = (await engine.add(content, actor=actor, **fields)).memory_id or ""
    level = fields.get("level", "user")
    memory = await engine.store.get(memory_id, scopes=[actor.scope(level)])
    assert memory is not None
    return memory


async def put(engine: MemoryEngine, *memories: Memory) -> None:
    """Memories as a store may hold them, without the write path."""

    async def work(tx: Any) -> None:
        for memory in memories:
            await tx.insert(memory)

    await engine.store.transact(work)


def receipt_of(**given: Any) -> ErasureReceipt:
    told: dict[str, Any] = {
        "receipt_id": "r1",
        "tenant": "default",
        "subject": "abc",
        "at": ManualClock().now(),
        "counts": {"memories": 2},
        "traces": {"memory": 0},
        "memory_ids": ("m1", "m2"),
        "fingerprints": ("f1",),
        "blocks_relearning": True,
    }
    return ErasureReceipt(**told | given)


# -- the receipt -------------------------------------------------------------------------------------------------------


def test_a_receipt_is_kept_as_json() -> None:
    assert receipt_of().as_dict() == {
        "format": "mnemic-erasure/1",
        "receipt_id": "r1",
        "tenant": "default",
        "subject": "abc",
        "at": "2026-01-05T09:00:00+00:00",
        "complete": True,
        "blocks_relearning": True,
        "counts": {"memories": 2},
        "traces": {"memory": 0},
        "memory_ids": ["m1", "m2"],
        "fingerprints": ["f1"],
        "removed_at": None,
        "kept": None,
    }
    assert not receipt_of(traces={"memory": 0, "bytes": 1}).complete
    assert "m1" not in repr(receipt_of())


@pytest.mark.parametrize("blocks", [True, False])
def test_a_receipt_comes_back_from_json(blocks: bool) -> None:
    receipt = receipt_of(blocks_relearning=blocks, traces={"bytes": 3})
    again = ErasureReceipt.from_dict(json.loads(json.dumps(receipt.as_dict())))
    assert again == receipt
    assert (again.memory_ids, again.fingerprints, again.at.tzinfo) == (("m1", "m2"), ("f1",), receipt.at.tzinfo)


NO_FIELD = ["receipt_id", "tenant", "subject", "at", "counts", "traces", "memory_ids", "fingerprints"]


@pytest.mark.parametrize(
    "changes",
    [
        *({"missing": name} for name in [*NO_FIELD, "format", "blocks_relearning"]),
        {"format": "mnemic-erasure/2"},
        {"tenant": ""},
        {"at": "yesterday"},
        {"counts": 3},
        {"memory_ids": None},
    ],
)
def test_what_is_no_receipt_says_so(changes: dict[str, Any]) -> None:
    data = receipt_of().as_dict() | changes
    data.pop(changes.get("missing"), None)
    with pytest.raises(InvalidInput) as refused:
        ErasureReceipt.from_dict(data)
    assert refused.value.reason == "invalid_input:erasure_receipt"
    assert refused.value.hint


# -- what goes ---------------------------------------------------------------------------------------------------------


async def test_the_receipt_counts_what_went_and_where(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    first = await kept(engine, "The harbour is near.", ana, idempotency_key="k")
    await engine.update(first.memory_id, "The harbour is far.", actor=ana)
    shared = await kept(engine, "Tea is served at four.", ana, level="workspace")
    bens = await kept(engine, "My boat is red.", ben)
    await engine.grant_consent("seat", actor=ana)
    receipt = await erase.erase(engine.store, engine.clock, "ana", actor=ben, block=True)
    assert dict(receipt.counts) == {
        "memories": 2,
        "versions": 3,
        "requests": 1,
        "consents": 1,
        "vault": 0,
        "derived": 0,
        "api_keys": 0,
        "turns": 0,
        "outbox": 3,  # of her memories, without the one of ben's
    }
    assert receipt.memory_ids == tuple(sorted([first.memory_id, shared.memory_id]))
    assert first.fingerprint in receipt.fingerprints
    assert len(receipt.fingerprints) == 3, "of both versions, and of what was shared"
    token = await subject_token(engine.store, "default", "ana")
    assert (receipt.tenant, receipt.subject, receipt.at) == ("default", token, engine.clock.now())
    assert (receipt.complete, receipt.blocks_relearning) == (True, True)
    assert await engine.store.get(bens.memory_id, scopes=[bens.scope]) == bens


async def test_all_that_stays_is_the_tombstone_and_two_kinds_of_lines(
    engine: MemoryEngine, ana: Actor, ben: Actor
) -> None:
    await take_part(engine, ana, "import-1", 0, [Candidate(content="I have a boat.")])
    await engine.grant_consent("seat", actor=ana)
    token = await subject_token(engine.store, "default", "ana")
    before = await engine.store.marks("default", "")
    assert {name.split("/")[0] for name in before if token in name} == {"import", "imported", "subject"}
    receipt = await erase.erase(engine.store, engine.clock, "ana", actor=ben, block=False)
    left = {name: value for name, value in (await engine.store.marks("default", "")).items() if token in name}
    assert {name: json.loads(value) for name, value in left.items()} == {
        tombstone(token): {"block": False, "at": engine.clock.now().isoformat()}
    }
    told = [event for event in await engine.store.audit("default") if event.action in ("erasing", "erased")]
    assert [(event.action, event.actor, event.at, event.tenant) for event in told] == [
        ("erasing", "ben", engine.clock.now(), "default"),
        ("erased", "ben", engine.clock.now(), "default"),
    ]
    assert told[0].detail == {"subject": token, "receipt": receipt.receipt_id, "memories": 1}
    assert {**told[1].detail, "memories": 1, "receipt": receipt.receipt_id, "subject": token} == told[1].detail


@pytest.mark.parametrize("subject", ["", "a\u200b", None])
async def test_only_a_name_can_be_erased(engine: MemoryEngine, ben: Actor, subject: Any) -> None:
    with pytest.raises(InvalidInput, match="subject"):
        await erase.erase(engine.store, engine.clock, subject, actor=ben)
    assert await engine.store.audit("default") == []


async def test_the_conversations_that_memories_came_from_end_and_no_others(
    engine: MemoryEngine, clock: ManualClock, ana: Actor, ben: Actor
) -> None:
    sessions = InProcessSessions(clock)
    places = [Scope(tenant="default", level=Level.SESSION, owner=name) for name in ("trip", "other")]
    for place in places:
        await sessions.append(place, Message(role="user", content="hello"), ttl=DAY, keep=9)
    source = Source(session="trip")
    await engine.add(Candidate(content="I have a boat.", source=source), actor=ana)
    odd = await kept(engine, "I have a horse.", ana)
    await put(engine, replace(odd, memory_id="m-odd", fingerprint="f-odd", source=Source(session="\u200b")))
    receipt = await erase.erase(engine.store, clock, "ana", actor=ben, sessions=sessions)
    assert [len(await sessions.tail(place, limit=9)) for place in places] == [0, 1]
    # A name that no conversation can have is none.
    assert receipt.counts["sessions"] == len({"trip", odd.source.session} - {None})
    assert (receipt.complete, receipt.traces["sessions"], receipt.traces["marks"]) == (True, 0, 0)
    assert "sessions" not in (await erase.erase(engine.store, clock, "ana", actor=ben)).counts


async def test_the_subjects_key_is_destroyed_and_nobody_elses(
    engine: MemoryEngine, tmp_path: Path, ana: Actor, ben: Actor
) -> None:
    MasterKeys.make(tmp_path / "master.key")
    ring = KeyFolder(tmp_path / "keys", tmp_path / "master.key")
    for actor in (ana, ben):
        ring.seal(actor.scope("user"), b"x", b"y")
    counts = [
        (await erase.erase(engine.store, engine.clock, "ana", actor=ben, keyring=ring)).counts["keys"] for _ in range(2)
    ]
    assert counts == [1, 0]
    assert [ring.holds(actor.scope("user")) for actor in (ana, ben)] == [False, True]


# -- what was made of it -----------------------------------------------------------------------------------------------


def like(memory: Memory, memory_id: str, content: str, *older: Memory, **fields: Any) -> Memory:
    told = {"supersedes": tuple(one.memory_id for one in older), "author": "ben"} | fields
    return replace(memory, memory_id=memory_id, fingerprint=f"f-{memory_id}", content=content, **told)


async def test_what_carries_on_what_somebody_said_goes_with_it(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    said = await kept(engine, "Ana likes the red bicycle.", ana, level="workspace")
    merged = like(said, "0-merged", "Ana likes the red bicycle in town.", said)
    again = like(said, "1-again", "In town Ana likes the red bicycle best.", merged)
    apart = like(said, "2-apart", "The office closes at six.")
    later = like(said, "3-later", "It closes at seven.", apart)
    await put(engine, again, merged, apart, later)
    receipt = await erase.erase(engine.store, engine.clock, "ana", actor=ben)
    assert (receipt.counts["derived"], receipt.counts["memories"], receipt.complete) == (2, 3, True)
    assert set(receipt.memory_ids) == {said.memory_id, "0-merged", "1-again"}
    left = await engine.store.newest(Where(scopes=(TEAM,), statuses=frozenset(Status)), limit=9)
    assert {memory.memory_id for memory in left} == {"2-apart", "3-later"}


async def test_what_was_made_in_two_places_is_counted_in_both(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    for workspace in ("travel", "work"):
        there = replace(ana, workspace=workspace)
        said = await kept(engine, "Ana likes the red bicycle.", there, level="workspace")
        await put(engine, like(said, f"made-in-{workspace}", "Ana likes the red bicycle in town.", said))
    receipt = await erase.erase(engine.store, engine.clock, "ana", actor=ben)
    assert (receipt.counts["derived"], receipt.counts["memories"]) == (2, 4)


async def test_what_says_it_again_is_told_by_what_it_took_the_place_of(engine: MemoryEngine, ana: Actor) -> None:
    old = await kept(engine, "Porto", ana, key="office", data={"city": "Porto", "floor": 3})
    gone = {old.memory_id: old}
    assert not made_of(like(old, "x", "Porto"), gone), "it took the place of nothing"
    assert not made_of(like(old, "x", "Porto", replace(old, memory_id="other")), gone)
    assert made_of(like(old, "x", "Porto", old), gone)
    assert made_of(like(old, "x", "Lisbon", old), gone), "it carries over its data"
    assert made_of(like(old, "x", "Lisbon", old, data={"floor": 3}), gone)
    assert not made_of(like(old, "x", "Lisbon", old, data={"city": "Lisbon", "floor": 4}), gone)
    assert made_of(like(old, "x", "Lisbon", old, key=None, data={}), gone), "without a key it was merged"
    bare = replace(old, data={"city": None})
    assert not made_of(like(old, "x", "Lisbon", old, data={"floor": 3}), {old.memory_id: replace(bare, data={})})


# -- by key ------------------------------------------------------------------------------------------------------------


async def test_under_one_key_everything_goes_in_every_status(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    for value in ("Porto", "Lisbon"):
        await engine.add(value, actor=ana, key="office", idempotency_key=value)
    stays = await kept(engine, "aisle", ana, key="seat", idempotency_key="seat")
    bens = await kept(engine, "Braga", ben, key="office")
    await engine.grant_consent("office", actor=ana)
    receipt = await erase_key(engine.store, engine.clock, "office", user="ana", actor=ben)
    assert (receipt.counts["memories"], receipt.counts["requests"], receipt.counts["consents"]) == (2, 2, 0)
    assert (receipt.counts["vault"], receipt.complete, receipt.blocks_relearning) == (0, True, False)
    left = await engine.store.scan("default", statuses=list(Status))
    assert {memory.memory_id for memory in left} == {stays.memory_id, bens.memory_id}
    assert [entry.idempotency_key.rpartition(":")[0] for entry in await engine.store.requests("default")]
    token = await subject_token(engine.store, "default", "ana")
    assert receipt.subject == token
    assert await engine.store.marks("default", tombstone(token)) == {}, "nobody was erased"
    assert await engine.consents(actor=ana) == {"office": True}
    told = (await engine.store.audit("default"))[-1]
    assert (told.action, told.actor, told.detail["receipt"]) == ("erased", "ben", receipt.receipt_id)


async def test_what_was_drawn_from_a_key_goes_with_it(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    held = await kept(engine, "Porto", ana, key="office")
    await apply(engine.store, mark_tenant("default"))
    drawn = {"key": None, "kind": Kind.EPISODIC, "category": "summary"}
    summary = like(held, "s1", "She works in Porto.", **drawn, data={"sources": [held.memory_id]})
    above = like(held, "s2", "She is in Portugal.", **drawn, data={"sources": ["s1"]})
    other = like(held, "s3", "She sails.", **drawn, data={"sources": ["elsewhere"]})
    await put(engine, summary, above, other)
    receipt = await erase_key(engine.store, engine.clock, "office", user="ana", actor=ben)
    assert set(receipt.memory_ids) >= {held.memory_id, "s1"}
    left = await engine.store.scan("default", statuses=list(Status))
    assert "s3" in {memory.memory_id for memory in left}
    assert not {held.memory_id, "s1"} & {memory.memory_id for memory in left}


# -- copies, disks, failures -------------------------------------------------------------------------------------------


def fed(engine: MemoryEngine, *copies: Copy) -> list[OutboxConsumer]:
    return [OutboxConsumer(copy, engine.store, engine.clock) for copy in copies]


async def test_copies_hear_of_it_and_are_looked_through(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    looked, deaf = Looked("index"), Copy("hot")
    feeds = fed(engine, looked, deaf)
    mine = await kept(engine, "I have a boat.", ana)
    other = await kept(engine, "I have a horse.", ben)
    for feed in feeds:
        await feed.catch_up()
    assert set(looked.held) == {mine.memory_id, other.memory_id}
    receipt = await erase.erase(engine.store, engine.clock, "ana", actor=ben, feeds=feeds)
    assert (set(looked.held), mine.memory_id in deaf.held) == ({other.memory_id}, False)
    assert (receipt.complete, receipt.traces["index"], "hot" in receipt.traces) == (True, 0, False)
    looked.held[mine.memory_id] = "it came back"
    assert (await verify(engine.store, receipt, feeds=feeds))["index"] == 1
    looked.reached = False
    assert (await verify(engine.store, receipt, feeds=feeds))["index"] == len(receipt.memory_ids)
    assert "index" not in await verify(engine.store, receipt)


async def test_where_nobody_listens_the_outbox_holds_no_more_of_it(
    engine: MemoryEngine, ana: Actor, ben: Actor
) -> None:
    await engine.add("I have a boat.", actor=ana)
    assert await engine.store.pending()
    receipt = await erase.erase(engine.store, engine.clock, "ana", actor=ben)
    assert (receipt.traces["outbox"], await engine.store.pending()) == (0, [])


class Narrow(InProcessStore):
    """A store with a full disk, for so many transactions that remove memories."""

    full = 0
    taken: Sequence[int] = ()

    async def transact(self, work: Callable[..., Any], **options: Any) -> Any:
        async def limited(tx: Any) -> Any:
            if self.full:
                tx = _NoRoom(tx, self)
            return await work(tx)

        return await super().transact(limited, **options)


class _NoRoom:
    """A transaction that cannot remove anything."""

    def __init__(self, tx: Any, store: Narrow) -> None:
        self._tx, self._store = tx, store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)

    async def remove(self, *_: Any, **__: Any) -> bool:
        self._store.full -= 1
        raise StoreFull


async def narrow(full: int, clock: ManualClock, ana: Actor) -> Narrow:
    store = Narrow()
    async with MemoryEngine(store=store, embedder=WordEmbedder(), clock=clock) as engine:
        for number in range(10):
            await engine.add(f"Note {number} about ships.", actor=ana)
        store.full = full
        await erase.erase(store, clock, "ana", actor=ana)
        return store


async def test_what_is_too_much_at_once_goes_in_halves(
    clock: ManualClock, ana: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erase, "BATCH", 8)
    for full, batches in ((0, [8, 2]), (1, [4, 4, 2]), (2, [2] * 5), (3, [1] * 10)):
        store = await narrow(full, clock, ana)
        await store.open(None)
        told = [event for event in await store.audit("default") if event.action == "erasing"]
        assert [event.detail["memories"] for event in told] == batches
    with pytest.raises(StoreFull):
        await narrow(4, clock, ana)


class Stubborn(InProcessStore):
    """A store with a file that still contains some of it until it is rewritten."""

    def __init__(self, *, yields: bool) -> None:
        super().__init__()
        self.yields, self.tidied = yields, list[bool]()

    async def tidy(self, *, whole: bool = False) -> int:
        self.tidied.append(whole)
        if whole and not self.yields:
            raise StoreFailed("disk")
        return await super().tidy(whole=whole)

    async def traces(self, tenant: str, *asked: Any) -> dict[str, int]:
        return {**await super().traces(tenant, *asked), "bytes": 0 if True in self.tidied and self.yields else 2}


@pytest.mark.parametrize("yields", [True, False])
async def test_a_file_that_still_shows_it_is_written_anew_or_told_of(
    clock: ManualClock, ana: Actor, yields: bool
) -> None:
    store = Stubborn(yields=yields)
    async with MemoryEngine(store=store, embedder=WordEmbedder(), clock=clock) as engine:
        await engine.add("I have a boat.", actor=ana)
        receipt = await erase.erase(store, clock, "ana", actor=ana)
    assert store.tidied == [False, True]
    assert (receipt.complete, receipt.traces["bytes"]) == (yields, 0 if yields else 2)


async def test_it_does_not_look_again_for_ever(
    engine: MemoryEngine, ana: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erase, "MAX_ROUNDS", 3)
    inner, numbers = engine.store.transact, iter(range(100))
    writing = False

    async def transact(work: Any, **options: Any) -> Any:
        nonlocal writing
        done = await inner(work, **options)
        if not writing:
            writing = True
            await engine.add(f"Written meanwhile, number {next(numbers)}.", actor=ana)
            writing = False
        return done

    engine.store.transact = transact  # type: ignore[method-assign]
    receipt = await erase.erase(engine.store, engine.clock, "ana", actor=ana)
    assert next(numbers) < 20
    assert receipt.receipt_id


RIVAL = Actor(tenant="rival", user="ana")


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
