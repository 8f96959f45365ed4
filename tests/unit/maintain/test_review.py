"""What waits for a person: unseen, decided by somebody else, each decision in the audit."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidCandidates, MemoryNotFound, ReviewDenied, VersionConflict
from mnemic.policy.limits import Limits
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Origin, Outcome, Source, Status, Trust

DAY = timedelta(days=1)


async def contradiction(engine: MemoryEngine, actor: Actor, **told: Any) -> tuple[str, str]:
    """An active memory and one that contradicts it and waits."""
    known = await engine.add("Refunds need a manager.", actor=actor, level="workspace")
    flagged = await engine.add("Refunds need no manager.", actor=actor, level="workspace", **told)
    assert flagged.outcome is Outcome.PENDING_REVIEW, flagged
    assert known.memory_id is not None
    assert flagged.memory_id is not None
    return known.memory_id, flagged.memory_id


async def actions(engine: MemoryEngine, actor: Actor) -> list[tuple[str, str]]:
    return [(event.action, event.actor) for event in await engine.audit(actor=actor)]


async def found(engine: MemoryEngine, actor: Actor) -> set[str]:
    return {hit.memory.memory_id for hit in (await engine.search("refunds manager", actor=actor)).hits}


async def test_the_queue_shows_what_waits_against_what_and_for_how_long(
    engine: MemoryEngine, clock: ManualClock, ana: Actor, ben: Actor
) -> None:
    known, flagged = await contradiction(engine, ana)
    clock.advance(3 * DAY)
    (one,) = await engine.reviews(actor=ben)
    assert (one.memory.memory_id, [memory.memory_id for memory in one.against]) == (flagged, [known])
    assert (one.age, one.proposer) == (3 * DAY, "ana")
    assert await engine.reviews(actor=ben, older_than=4 * DAY) == []
    assert await engine.reviews(actor=ben, after=flagged) == []
    assert await engine.reviews(actor=Actor(user="cid")) == []
    assert len(await engine.reviews(actor=Actor(user="cid"), whole_tenant=True)) == 1
    assert await engine.reviews(actor=Actor(tenant="rival", user="cid"), whole_tenant=True) == []


async def test_what_waits_is_invisible_on_every_way_to_read(
    engine: MemoryEngine, clock: ManualClock, ana: Actor
) -> None:
    known, flagged = await contradiction(engine, ana)
    assert await found(engine, ana) == {known}
    assert [hit.memory.memory_id for hit in (await engine.search("", actor=ana)).hits] == [known]
    later = await engine.search("refunds", actor=ana, as_of=clock.now() + DAY, preference_bias=True)
    assert [hit.memory.memory_id for hit in later.hits] == [known]
    assert [memory.memory_id for memory in await engine.list(actor=ana)] == [known]
    assert await engine.count(actor=ana) == 1
    for verb in (engine.get, engine.history):
        with pytest.raises(MemoryNotFound):
            await verb(flagged, actor=ana)
    with pytest.raises(MemoryNotFound):
        await engine.update(flagged, "Refunds need two managers.", actor=ana)
    report = await engine.run(actor=ana, goal="Do refunds need a manager?")
    assert flagged not in str(report.as_dict())
    assert "no manager" not in str(report.as_dict())
    assert all(entry.memory_id != flagged for entry in await engine.store.pending())


async def test_the_proposer_cannot_approve_but_take_back(engine: MemoryEngine, ana: Actor) -> None:
    known, flagged = await contradiction(engine, ana)
    for content in (None, "Refunds need nobody at all."):
        with pytest.raises(ReviewDenied) as denied:
            await engine.approve(flagged, actor=ana, content=content, whole_tenant=True)
        assert denied.value.reason == "review_denied:proposer"
    assert await found(engine, ana) == {known}
    await engine.reject(flagged, actor=ana)
    assert await engine.reviews(actor=ana) == []


async def test_approving_supersedes_what_it_stood_against(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    known, flagged = await contradiction(engine, ana)
    receipt = await engine.approve(flagged, actor=ben)
    assert (receipt.outcome, receipt.superseded, receipt.version) == (Outcome.SUPERSEDED, (known,), 2)
    assert await found(engine, ana) == {flagged}
    approved = await engine.get(flagged, actor=ana)
    assert (approved.status, approved.supersedes, approved.conflicts_with) == (Status.ACTIVE, (known,), ())
    assert approved.author == "ana"
    assert (await engine.get(known, actor=ana)).status is Status.SUPERSEDED
    assert (await actions(engine, ana))[-2:] == [("superseded", "ben"), ("approved", "ben")]
    with pytest.raises(MemoryNotFound):
        await engine.approve(flagged, actor=ben)


async def test_rejecting_leaves_all_as_it_was(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    known, flagged = await contradiction(engine, ana)
    receipt = await engine.reject(flagged, actor=ben)
    assert (receipt.outcome, receipt.reason) == (Outcome.BLOCKED, "rejected")
    assert await found(engine, ana) == {known}
    assert (await actions(engine, ana))[-1] == ("rejected", "ben")


async def test_edited_and_approved_it_says_what_the_reviewer_says_redacted(
    engine: MemoryEngine, ana: Actor, ben: Actor
) -> None:
    _, flagged = await contradiction(engine, ana)
    receipt = await engine.approve(flagged, actor=ben, content="Refunds below 10 euros need no manager; ask x@y.org.")
    assert receipt.outcome is Outcome.SUPERSEDED
    memory = await engine.get(flagged, actor=ana)
    assert memory.content.startswith("Refunds below 10 euros")
    assert "x@y.org" not in memory.content
    assert memory.author == "ben"
    versions = await engine.history(flagged, actor=ana)
    assert versions[0].content == "Refunds need no manager."
    assert flagged in await found(engine, ana)


async def test_merged_it_takes_the_place_of_both_and_loses_no_data(
    engine: MemoryEngine, ana: Actor, ben: Actor
) -> None:
    known, flagged = await contradiction(engine, ana)
    other = await engine.add("Managers sit on floor 3.", actor=ana, level="workspace", data={"floor": 3})
    assert other.memory_id is not None
    text = "Refunds above 10 euros need a manager, who sits on floor 3."
    receipt = await engine.approve(flagged, actor=ben, content=text, merge_with=[other.memory_id])
    assert receipt.outcome is Outcome.MERGED
    assert set(receipt.superseded) == {known, other.memory_id}
    memory = await engine.get(flagged, actor=ana)
    assert (memory.content, dict(memory.data)) == (text, {"floor": 3})
    assert (await actions(engine, ana))[-1] == ("merged", "ben")


async def test_merging_with_what_is_not_there_changes_nothing(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    known, flagged = await contradiction(engine, ana)
    with pytest.raises(MemoryNotFound):
        await engine.approve(flagged, actor=ben, merge_with=["absent"])
    assert await found(engine, ana) == {known}
    assert len(await engine.reviews(actor=ben)) == 1


async def test_under_a_key_the_other_values_give_way(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    first = await engine.add("red", actor=ana, key="colour", level="workspace")
    weak = Candidate(content="blue", key="colour", level="workspace", source=Source(origin=Origin.WEB))
    flagged = await engine.add(weak, actor=ana)
    assert flagged.reason == "lower_trust"
    assert flagged.memory_id is not None
    second = await engine.add("green", actor=ana, key="colour", level="workspace")
    receipt = await engine.approve(flagged.memory_id, actor=ben)
    assert receipt.superseded == (second.memory_id,)
    assert first.memory_id not in receipt.superseded
    memory = await engine.get(flagged.memory_id, actor=ana)
    assert memory.trust is Trust.HIGH  # a person has vouched for it: the next low-trust value waits again
    assert [one.content for one in await engine.list(actor=ana)] == ["blue"]


async def test_what_is_known_by_now_is_not_stored_twice(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    _, flagged = await contradiction(engine, ana)
    twin = await engine.add("The bridge is open.", actor=ana, level="workspace")
    receipt = await engine.approve(flagged, actor=ben, content="the bridge is OPEN")
    assert (receipt.outcome, receipt.memory_id, receipt.reason) == (Outcome.REFRESHED, twin.memory_id, "duplicate")
    assert await engine.reviews(actor=ben) == []


async def test_a_version_that_was_not_seen_is_not_approved(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    _, flagged = await contradiction(engine, ana)
    with pytest.raises(VersionConflict):
        await engine.approve(flagged, actor=ben, expected_version=7)


async def test_content_that_cannot_be_stored_is_refused(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    _, flagged = await contradiction(engine, ana)
    with pytest.raises(InvalidCandidates):
        await engine.approve(flagged, actor=ben, content="   ")


async def test_a_queue_does_not_rot(engine: MemoryEngine, clock: ManualClock, ana: Actor, ben: Actor) -> None:
    await contradiction(engine, ana)
    clock.advance(40 * DAY)
    await engine.add("The pool is open on Sundays.", actor=ana, level="workspace")
    young = await engine.add("The pool is never open on Sundays.", actor=ana, level="workspace")
    assert young.outcome is Outcome.PENDING_REVIEW
    receipts = await engine.reject_older(30 * DAY, actor=ben)
    assert [receipt.reason for receipt in receipts] == ["aged"]
    assert [one.memory.memory_id for one in await engine.reviews(actor=ben)] == [young.memory_id]


async def test_time_to_live_starts_at_the_approval(
    engine: MemoryEngine, clock: ManualClock, ana: Actor, ben: Actor
) -> None:
    _, flagged = await contradiction(engine, ana, ttl=180 * DAY)
    clock.advance(170 * DAY)
    await engine.approve(flagged, actor=ben)
    assert await found(engine, ana) == {flagged}
    clock.advance(179 * DAY)
    assert await found(engine, ana) == {flagged}
    clock.advance(2 * DAY)
    assert await found(engine, ana) == set()


async def test_the_queue_does_not_rot(clock: ManualClock, tmp_path: Path, ana: Actor, ben: Actor) -> None:
    limits = Limits(review_longest=timedelta(days=30))
    async with MemoryEngine(
        store=SqliteStore(tmp_path / "aged.db"), embedder=WordEmbedder(), clock=clock, limits=limits
    ) as engine:
        await engine.add("Ripe cheese is good.", actor=ana)
        assert (
            await engine.add(Candidate(content="Ripe cheese is not good.", source=Source(origin=Origin.WEB)), actor=ana)
        ).was_flagged
        clock.advance(timedelta(days=20))
        await engine.add("Red ink is good.", actor=ana)
        assert (
            await engine.add(Candidate(content="Red ink is not good.", source=Source(origin=Origin.WEB)), actor=ana)
        ).was_flagged
        clock.advance(timedelta(days=11))
        assert (await engine.maintain(actor=ben, dry_run=True)).aged == 1
        assert len(await engine.reviews(actor=ana)) == 2
        assert (await engine.maintain(actor=ben)).aged == 1
        assert [one.memory.content for one in await engine.reviews(actor=ana)] == ["Red ink is not good."]
