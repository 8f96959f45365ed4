"""An archive brings back every version and state, once, and says which line it cannot take."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, ScopeDenied, SpaceMismatch, VersionConflict
from mnemic.importers.conversation_files import read_conversation
from mnemic.maintenance.archive import ArchivedMemory, read_line
from mnemic.maintenance.reembed import reembed
from mnemic.policy.grant import Grant
from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import (
    Actor,
    Candidate,
    Kind,
    Message,
    Origin,
    Outcome,
    Source,
    Status,
    Trust,
    VectorSpace,
    Where,
    WriteReceipt,
)

Line = dict[str, Any]
LEVELS = frozenset({"user", "workspace"})


class Renamed(WordEmbedder):
    """Vectors as long as before, and of another model."""

    def __init__(self) -> None:
        super().__init__()
        self._space = VectorSpace(model="another", dimension=self._space.dimension)


@pytest.fixture
async def other(clock: ManualClock, tmp_path: Path) -> AsyncIterator[MemoryEngine]:
    """An empty store elsewhere, with a secret of its own."""
    async with MemoryEngine(
        store=SqliteStore(tmp_path / "other.db"), embedder=WordEmbedder(), clock=clock, grant=Grant(levels=LEVELS)
    ) as engine:
        yield engine


async def fill(engine: MemoryEngine, clock: ManualClock, actor: Actor, reviewer: Actor) -> None:
    """Every state, several versions, lineage, validity, consents, a conversation."""
    source = Source(quote="the quote", ref="r", session="s1", speaker="Ana")
    first = await engine.add(Candidate(content="The harbour is near.", source=source, context="sea"), actor=actor)
    clock.advance(timedelta(hours=1))
    await engine.update(first.memory_id or "", "The harbour is far.", actor=actor, data={"km": [3, {"deep": True}]})
    for city in ("Berlin", "Munich"):
        clock.advance(timedelta(days=1))
        await engine.add(city, actor=actor, key="home_city")
    await engine.add("Ana loves the sea.", actor=actor)
    assert (
        await engine.add(Candidate(content="Ana never loves the sea.", source=Source(origin=Origin.WEB)), actor=actor)
    ).was_flagged
    web = Source(origin=Origin.WEB)
    rejected = await engine.add(Candidate(content="Ana does not love the sea at all, never.", source=web), actor=actor)
    if rejected.was_flagged:
        await engine.reject(rejected.memory_id or "", actor=reviewer, whole_tenant=True)
    await engine.record(
        [Message(role="user", content=f"message {number}", session="s1", speaker="Ana") for number in range(4)],
        actor=actor,
    )
    await engine.add("The office closes at six.", actor=actor, level="workspace", ttl=timedelta(days=3))
    bounds = {"valid_from": clock.now() - timedelta(days=9), "valid_to": clock.now() - timedelta(days=2)}
    await engine.add(Candidate(content="The bridge was shut.", **bounds), actor=actor)
    await engine.add("It is said so.", actor=actor, origin=Origin.WEB)
    await engine.grant_consent("diet", actor=actor)
    await engine.revoke_consent("seat", actor=actor)


async def archive(engine: MemoryEngine, actor: Actor) -> list[Line]:
    return [json.loads(json.dumps(line)) async for line in engine.export(actor=actor, archive=True)]


async def bring(engine: MemoryEngine, actor: Actor, lines: list[Line], *, own: bool = False) -> list[WriteReceipt]:
    return [await engine.restore(read_line(line), actor=actor, own=own) for line in lines]


async def test_an_archive_of_ones_own_comes_back_as_it_was(
    engine: MemoryEngine, other: MemoryEngine, clock: ManualClock, ana: Actor, ben: Actor
) -> None:
    await fill(engine, clock, ana, ben)
    lines = await archive(engine, ana)
    states = {version["status"] for line in lines if "versions" in line for version in line["versions"]}
    assert {"active", "superseded", "pending_review"} <= states
    clock.advance(timedelta(days=9))
    receipts = await bring(other, ana, lines, own=True)
    assert {receipt.outcome for receipt in receipts} == {Outcome.CREATED}
    assert await archive(other, ana) == lines
    assert await other.consents(actor=ana) == {"diet": True, "seat": False}
    assert [m.content for m in await other.list(actor=ana)] == [m.content for m in await engine.list(actor=ana)]
    again = await other.add(Candidate(content="The harbour is far.", source=Source(speaker="Ana")), actor=ana)
    assert again.was_duplicate
    report = await other.verify_audit(actor=ana)
    assert report.broken_at is None


async def test_it_is_found_by_words_by_meaning_and_as_of_then(
    engine: MemoryEngine, other: MemoryEngine, clock: ManualClock, ana: Actor, ben: Actor
) -> None:
    began = clock.now()
    await fill(engine, clock, ana, ben)
    await bring(other, ana, await archive(engine, ana), own=True)
    assert (await other.search("how far is the harbour?", actor=ana)).hits[0].memory.content == "The harbour is far."
    then = await other.list(actor=ana, known_at=began + timedelta(minutes=1))
    assert [memory.content for memory in then] == ["The harbour is near."]
    told = list(await other.list(actor=ana, kinds=["episodic"]))
    where = Where(scopes=(ana.scope("user"),))
    signals = await other.store.signals(where, [memory.memory_id for memory in told])
    assert [signals[memory.memory_id].turn for memory in reversed(told)] == [0, 1, 2, 3]


async def test_twice_changes_nothing_and_later_versions_follow(
    engine: MemoryEngine, other: MemoryEngine, clock: ManualClock, ana: Actor, ben: Actor
) -> None:
    await fill(engine, clock, ana, ben)
    lines = await archive(engine, ana)
    await bring(other, ana, lines)
    before = await archive(other, ana)
    assert {receipt.outcome for receipt in await bring(other, ana, lines)} == {Outcome.REFRESHED}
    assert await archive(other, ana) == before
    far = next(memory for memory in await engine.list(actor=ana) if memory.content == "The harbour is far.")
    clock.advance(timedelta(hours=1))
    await engine.update(far.memory_id, "The harbour is gone.", actor=ana)
    receipts = await bring(other, ana, await archive(engine, ana))
    assert [one.memory_id for one in receipts if one.outcome is Outcome.CREATED] == [far.memory_id]
    assert (await other.get(far.memory_id, actor=ana)).content == "The harbour is gone."


async def test_only_the_newest_version_is_embedded(
    engine: MemoryEngine, other: MemoryEngine, clock: ManualClock, ana: Actor
) -> None:
    added = await engine.add("The harbour is near.", actor=ana)
    for said in ("The harbour is far.", "The harbour is gone."):
        clock.advance(timedelta(hours=1))
        await engine.update(added.memory_id or "", said, actor=ana)
    before = other.embedder.texts  # type: ignore[attr-defined]
    await bring(other, ana, await archive(engine, ana))
    assert other.embedder.texts - before == 1  # type: ignore[attr-defined]
    versions = await other.history(added.memory_id or "", actor=ana)
    embedder = WordEmbedder()
    assert [one.vector for one in versions] == [None, None, embedder.vector("The harbour is gone.")]


async def test_a_vector_of_another_embedder_is_not_stored(
    engine: MemoryEngine, other: MemoryEngine, ana: Actor
) -> None:
    await engine.add("The harbour is near.", actor=ana)
    await reembed(other.store, Renamed())
    with pytest.raises(SpaceMismatch):
        await bring(other, ana, await archive(engine, ana))
    assert await other.count(actor=ana) == 0


async def test_without_a_word_for_it_everything_counts_as_imported(
    engine: MemoryEngine, other: MemoryEngine, clock: ManualClock, ana: Actor, ben: Actor
) -> None:
    await fill(engine, clock, ana, ben)
    trait = Candidate(content="Answers in rhyme.", kind=Kind.PERSONA, category="trait")
    waiting = await engine.add(trait, actor=ana)
    await engine.approve(waiting.memory_id or "", actor=ben, whole_tenant=True)
    await bring(other, ben, await archive(engine, ana))
    held = await other.store.scan(ben.tenant, statuses=list(Status))
    assert {memory.source.origin for memory in held} == {Origin.IMPORT, Origin.WEB}
    assert {memory.author for memory in held} == {"ben"}
    assert [memory.status for memory in held if memory.kind is Kind.PERSONA] == [Status.PENDING_REVIEW]
    assert {memory.scope.owner for memory in held} == {"ben", "travel"}


async def test_what_a_person_must_always_see_is_reviewed_again_also_in_ones_own_archive(
    engine: MemoryEngine, other: MemoryEngine, ana: Actor, ben: Actor
) -> None:
    trait = Candidate(content="Answers in rhyme.", kind=Kind.PERSONA, category="trait")
    waiting = await engine.add(trait, actor=ana)
    await engine.approve(waiting.memory_id or "", actor=ben, whole_tenant=True)
    (receipt,) = await bring(other, ana, await archive(engine, ana), own=True)
    (held,) = await other.store.scan(ana.tenant, statuses=list(Status))
    assert (receipt.outcome, held.status) == (Outcome.CREATED, Status.PENDING_REVIEW)
    assert held.source.origin is Origin.USER_STATED
    assert await other.list(actor=ana) == []
    await other.approve(held.memory_id, actor=ben, whole_tenant=True)
    assert [memory.content for memory in await other.list(actor=ana)] == ["Answers in rhyme."]


async def test_a_models_channel_brings_nothing_of_its_own(
    engine: MemoryEngine, other: MemoryEngine, ana: Actor
) -> None:
    await engine.add("The harbour is near.", actor=ana)
    await engine.add("The harbour closes at six.", actor=ana, level="workspace")
    lines = await archive(engine, ana)
    await bring(other, replace(ana, channel=Origin.AGENT_INFERRED), lines[:1], own=True)
    await bring(other, replace(ana, channel=Origin.TOOL_OUTPUT), lines[1:], own=True)
    held = await other.store.scan(ana.tenant, statuses=list(Status))
    found = {(one.source.origin, one.trust) for one in held}
    assert found == {(Origin.AGENT_INFERRED, Trust.MEDIUM), (Origin.TOOL_OUTPUT, Trust.LOW)}


@pytest.mark.parametrize(("own", "reason"), [(False, "lower_trust"), (True, "key_needs_review")])
async def test_it_never_comes_beside_another_value_of_its_key(
    engine: MemoryEngine, other: MemoryEngine, ana: Actor, own: bool, reason: str
) -> None:
    await engine.add("window", actor=ana, key="seat")
    there = await other.add("aisle", actor=ana, key="seat")
    lines = await archive(engine, ana)
    (receipt,) = await bring(other, ana, lines, own=own)
    assert (receipt.outcome, receipt.reason) == (Outcome.PENDING_REVIEW, reason)
    assert [one.content for one in await other.list(actor=ana)] == ["aisle"]
    (waiting,) = await other.reviews(actor=ana)
    assert [one.memory_id for one in waiting.against] == [there.memory_id]
    await other.approve(receipt.memory_id or "", actor=ana)
    assert [one.content for one in await other.list(actor=ana)] == ["window"]


async def test_values_of_a_key_that_has_many_come_beside_each_other(
    engine: MemoryEngine, clock: ManualClock, ana: Actor
) -> None:
    policy = Policy(keys={"hobby": KeyRule("hobby", on_change="accumulate")}, open_keys=True)
    store = InProcessStore()
    async with MemoryEngine(store=store, embedder=WordEmbedder(), clock=clock, policy=policy) as several:
        await several.add("chess", actor=ana, key="hobby")
        await engine.add("judo", actor=ana, key="hobby")
        (receipt,) = await bring(several, ana, await archive(engine, ana))
        assert receipt.outcome is Outcome.CREATED
        assert sorted(one.content for one in await several.list(actor=ana)) == ["chess", "judo"]


async def test_what_is_said_there_already_stays_one_memory(
    engine: MemoryEngine, other: MemoryEngine, ana: Actor
) -> None:
    await engine.add("The harbour is near.", actor=ana)
    there = await other.add("The harbour is near.", actor=ana)
    (receipt,) = await bring(other, ana, await archive(engine, ana))
    assert (receipt.outcome, receipt.memory_id, receipt.reason) == (Outcome.REFRESHED, there.memory_id, "said_already")
    assert await other.count(actor=ana) == 1


async def test_the_gate_redaction_and_the_grant_hold(
    engine: MemoryEngine, other: MemoryEngine, ana: Actor, ben: Actor
) -> None:
    added = await engine.add("vegan", actor=ana, key="diet")
    await engine.add("Team lunch is on Friday.", actor=ana, level="workspace")
    lines = await archive(engine, ana)
    lines[0]["versions"][0]["content"] = "write to jane@acme.com"
    await bring(other, ana, lines[:1], own=True)
    assert "jane@acme.com" not in (await other.get(added.memory_id or "", actor=ana)).content
    await other.revoke_consent("diet", actor=ben)
    (refused,) = await bring(other, ben, [_renamed(lines[0])])
    assert (refused.outcome, refused.reason) == (Outcome.BLOCKED, "consent_required:diet")
    await other.erase("ben", actor=ana, block=True)
    (refused,) = await bring(other, ben, [_renamed(lines[1])])
    assert refused.reason == "retention_denied:erased_subject"
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder()) as narrow:
        with pytest.raises(ScopeDenied):
            await bring(narrow, ana, lines[1:])


def _renamed(line: Line) -> Line:
    told = json.loads(json.dumps(line))
    for version in told["versions"]:
        version["memory_id"] = "0190b2ad-0000-7000-8000-000000000001"
    return dict(told)


async def test_a_memory_that_went_another_way_is_not_overwritten(
    engine: MemoryEngine, other: MemoryEngine, clock: ManualClock, ana: Actor, ben: Actor
) -> None:
    added = await engine.add("The harbour is near.", actor=ana)
    lines = await archive(engine, ana)
    await bring(other, ana, lines)
    with pytest.raises(VersionConflict):
        await bring(other, ben, lines)
    for engine_, words in ((other, "The harbour is old."), (engine, "The harbour is new.")):
        clock.advance(timedelta(hours=1))
        await engine_.update(added.memory_id or "", words, actor=ana)
    clock.advance(timedelta(hours=1))
    await engine.update(added.memory_id or "", "The harbour is newest.", actor=ana)
    with pytest.raises(VersionConflict):
        await bring(other, ana, await archive(engine, ana))
    assert (await other.get(added.memory_id or "", actor=ana)).content == "The harbour is old."


async def good(engine: MemoryEngine, actor: Actor) -> Line:
    await engine.add("The harbour is near.", actor=actor)
    return (await archive(engine, actor))[0]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"versions": []}, "archive:versions"),
        ({"versions": ["text"]}, "archive:versions"),
        ({"format": "mnemic-archive/9"}, "archive:format"),
        ({"consent": {"key": "diet"}}, "archive:consent"),
        ({"consent": {"key": "diet", "granted": 1, "at": "2026-01-01T00:00:00Z"}}, "archive:consent"),
        ({"memory_id": "x"}, "export:memory_id"),
        ({"version": 2}, "archive:versions"),
        ({"kind": "dream"}, "export:kind"),
        ({"trust": "blind"}, "export:trust"),
        ({"content": 7}, "export:content"),
        ({"data": [1]}, "export:data"),
        ({"source": {}}, "export:source"),
        ({"created_at": "yesterday"}, "export:created_at"),
        ({"created_at": None}, "export:created_at"),
        ({"owner": "a\tb"}, "owner"),
        ({"supersedes": ["x"]}, "export:supersedes"),
    ],
)
async def test_a_bad_line_is_refused_with_its_number_and_a_reason(
    engine: MemoryEngine, ana: Actor, tmp_path: Path, change: Line, reason: str
) -> None:
    line = await good(engine, ana)
    bad = json.loads(json.dumps(line))
    whole = change.keys() <= {"versions", "format", "consent"}
    (bad if whole else bad["versions"][0]).update(change)
    file = tmp_path / "archive.jsonl"
    file.write_text(f"{json.dumps(line)}\n{json.dumps(bad)}\n{json.dumps(line)}\n", encoding="utf-8")
    first, second, third = read_conversation(file)
    assert isinstance(first.content, ArchivedMemory)
    assert second.place == "line 2"
    assert isinstance(second.problem, InvalidInput)
    assert second.problem.reason == f"invalid_input:{reason}"
    assert third.content == first.content
