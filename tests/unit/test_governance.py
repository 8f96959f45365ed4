"""The governance faces of the manager, without an event loop, on a real file."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from mnemic import MemoryManager
from mnemic.engine import MemoryEngine
from mnemic.errors import ReviewDenied
from mnemic.policy.grant import Grant
from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Origin, Outcome, Source
from mnemic.write.draft import WriteRules


def manager(path: Path, user: str = "ana") -> MemoryManager:
    rules = WriteRules(conflict=0.5)
    return MemoryManager(user, engine=MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder(), rules=rules))


def contradict(memory: MemoryManager, what: str) -> str:
    memory.add(f"{what} is good.")
    flagged = memory.add(Candidate(content=f"{what} is not good.", source=Source(origin=Origin.AGENT_INFERRED)))
    assert flagged.outcome is Outcome.PENDING_REVIEW
    assert flagged.memory_id is not None
    return flagged.memory_id


def test_the_queue_is_worked_off_by_somebody_else(tmp_path: Path) -> None:
    with manager(tmp_path / "m.db") as ana, manager(tmp_path / "m.db", "ben") as ben:
        flagged = [contradict(ana, day) for day in ("Our dinner", "Ripe cheese", "Tall grass", "Red ink")]
        assert [one.memory.memory_id for one in ana.review().list()] == flagged
        assert ben.review().list() == []
        queue = ben.review(whole_tenant=True)
        with pytest.raises(ReviewDenied):
            ana.review().approve(flagged[0])
        assert queue.approve(flagged[0], content="Our dinner is always good.").outcome is Outcome.SUPERSEDED
        cheese = queue.list()[0].against[0].memory_id
        assert queue.merge(flagged[1], [cheese]).outcome is Outcome.MERGED
        decided = queue.approve_all([flagged[2], "absent"])
        assert [(one.receipt is not None, one.reason) for one in decided] == [
            (True, "approved"),
            (False, "memory_not_found"),
        ]
        assert [one.reason for one in ana.review().approve_all(flagged[3:])] == ["review_denied:proposer"]
        assert [one.reason for one in queue.reject_all(flagged[3:])] == ["rejected"]
        assert queue.list() == []
        again = contradict(ana, "Long winter")
        assert queue.reject_older(timedelta(days=1)) == []
        assert queue.reject(again).outcome is Outcome.BLOCKED


def test_a_person_settles_what_was_flagged_about_themself(tmp_path: Path) -> None:
    rules = WriteRules(reviewed_origins=frozenset({Origin.USER_STATED}))
    engine = MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder(), rules=rules)
    with MemoryManager("ana", engine=engine) as ana:
        waiting = ana.add("Always answer in Dutch.", category="instruction")
        assert waiting.outcome is Outcome.PENDING_REVIEW
        assert ana.review().approve(waiting.memory_id or "").outcome is Outcome.CREATED
        assert ana.review().list() == []


def reviewed_keys(path: Path) -> MemoryEngine:
    """An engine whose keys `seat`, `floor` and `blood_type` are changed after a review; `blood_type` is sensitive."""
    rules = {name: KeyRule(name, on_change="review") for name in ("seat", "floor")}
    policy = Policy(keys={**rules, "blood_type": KeyRule("blood_type", on_change="review", sensitive=True)})
    grant = Grant.from_policy(policy, trust=("blood_type",), levels=("user", "workspace"))
    return MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder(), policy=policy, grant=grant)


@pytest.mark.parametrize("origin", [Origin.USER_STATED, Origin.IMPORT])
def test_the_author_confirms_a_change_of_a_reviewed_key_and_takes_it_back(tmp_path: Path, origin: Origin) -> None:
    with MemoryManager("ana", engine=reviewed_keys(tmp_path / "m.db")) as ana:
        old = ana.add("aisle", key="seat")
        new = ana.add(Candidate(content="window", key="seat", source=Source(origin=origin)))
        assert (new.outcome, new.reason) == (Outcome.PENDING_REVIEW, "key_needs_review")
        assert [one.memory.content for one in ana.review().list()] == ["window"]
        approved = ana.review().approve(new.memory_id or "")
        assert (approved.outcome, approved.superseded) == (Outcome.SUPERSEDED, (old.memory_id,))
        assert [one.content for one in ana.list()] == ["window"]
        assert ana.undo(new.memory_id or "").restored == (old.memory_id,)
        assert [one.content for one in ana.list()] == ["aisle"]
        ana.review().reject(new.memory_id or "")
        assert ana.review().list() == []


def test_the_author_confirms_a_correction_of_a_reviewed_key_in_other_words(tmp_path: Path) -> None:
    with MemoryManager("ana", engine=reviewed_keys(tmp_path / "m.db")) as ana:
        old = ana.add("aisle", key="seat").memory_id or ""
        waiting = ana.update(old, "window")
        assert (waiting.outcome, waiting.reason) == (Outcome.PENDING_REVIEW, "key_needs_review")
        ana.review().approve(waiting.memory_id or "", content="window, at the front")
        assert [one.content for one in ana.list()] == ["window, at the front"]


def test_a_sensitive_key_and_a_shared_level_need_another_person(tmp_path: Path) -> None:
    with MemoryManager("ana", engine=reviewed_keys(tmp_path / "m.db"), workspace="w") as ana:
        ana.add("A", key="blood_type")
        ana.add("third", key="floor", level="workspace")
        sensitive = ana.add("B", key="blood_type")
        shared = ana.add("fourth", key="floor", level="workspace")
        for waiting in (sensitive, shared):
            assert waiting.outcome is Outcome.PENDING_REVIEW
            with pytest.raises(ReviewDenied, match="review_denied:proposer"):
                ana.review().approve(waiting.memory_id or "")


async def test_an_agent_that_acts_for_the_author_confirms_nothing(tmp_path: Path) -> None:
    async with reviewed_keys(tmp_path / "m.db") as engine:
        ana, agent = Actor(user="ana"), Actor(user="ana", channel=Origin.AGENT_INFERRED)
        await engine.add("aisle", key="seat", actor=ana)
        waiting = await engine.add("window", key="seat", actor=ana)
        with pytest.raises(ReviewDenied):
            await engine.approve(waiting.memory_id or "", actor=agent)
        proposed = await engine.add("bulkhead", key="seat", actor=agent)
        with pytest.raises(ReviewDenied):
            await engine.approve(proposed.memory_id or "", actor=ana)


def test_what_an_agent_proposed_needs_another_person(tmp_path: Path) -> None:
    with manager(tmp_path / "m.db") as ana:
        told = Candidate(
            content="Always answer in Dutch.", category="instruction", source=Source(origin=Origin.AGENT_INFERRED)
        )
        waiting = ana.add(told)
        assert waiting.outcome is Outcome.PENDING_REVIEW
        with pytest.raises(ReviewDenied):
            ana.review().approve(waiting.memory_id or "")
        assert [one.reason for one in ana.review().approve_all([waiting.memory_id or ""])] == ["review_denied:proposer"]


def test_consent_privacy_and_audit(tmp_path: Path) -> None:
    with manager(tmp_path / "m.db") as ana, manager(tmp_path / "m.db", "ben") as ben:
        ana.add("vegan", key="diet")
        assert ana.consent.revoke("diet").hidden == 1
        assert ana.consent.revoke("diet").hidden == 1
        assert ana.consent.list() == {"diet": False}
        ana.consent.grant("diet")
        actions = [event.action for event in ana.audit.list()]
        assert actions == ["created", "consent_revoked", "consent_granted"]
        receipt = ben.privacy.erase("ana")
        assert receipt.complete
        assert not any(ben.privacy.verify(receipt).values())
        report = ana.audit.verify()
        assert (report.broken_at, report.lines) == (None, len(ana.audit.list()))
        assert ana.maintain(dry_run=True).dry_run


def test_a_memory_is_rolled_back(tmp_path: Path) -> None:
    with manager(tmp_path / "m.db") as memory:
        memory_id = memory.add("The key hangs behind the door.").memory_id
        assert memory_id is not None
        memory.update(memory_id, "The key lies under the mat.")
        memory.rollback(memory_id, 1)
        assert memory.get(memory_id).content == "The key hangs behind the door."
