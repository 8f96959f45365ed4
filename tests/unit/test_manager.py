"""The synchronous face and its governance, on a real file."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from mnemic import MemoryManager, Settings
from mnemic.bootstrap import build_engine
from mnemic.cli import cli
from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidConfig, InvalidInput, KeyNotAllowed, MemoryNotFound, ReviewDenied
from mnemic.policy.grant import Grant
from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Origin, Outcome, Source
from mnemic.write.draft import WriteRules


def manager_on(path: Path, user: str = "ana") -> MemoryManager:
    return MemoryManager(user, engine=MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder()))


def test_every_verb_without_an_event_loop(tmp_path: Path) -> None:
    with manager_on(tmp_path / "m.db") as memory:
        receipt = memory.add("The spare key hangs behind the blue door.")
        assert receipt.memory_id is not None
        assert memory.get(receipt.memory_id).content.startswith("The spare key")
        assert [hit.memory.memory_id for hit in memory.search("spare key").hits] == [receipt.memory_id]
        assert [found.memory_id for found in memory.retrieve("spare key")] == [receipt.memory_id]
        assert memory.update(receipt.memory_id, "The spare key lies under the mat.").version == 2
        assert len(memory.history(receipt.memory_id)) == 2
        assert len(memory.list()) == memory.count() == 1
        assert [entry["content"] for entry in memory.export()] == ["The spare key lies under the mat."]
        report = memory.run(message="I prefer aisle seats.", goal="Find me a flight to Denver.")
        assert report.used_memory_keys == ("seat",)
        memory.forget(receipt.memory_id)
        with pytest.raises(MemoryNotFound):
            memory.get(receipt.memory_id)


def test_it_is_still_there_in_the_next_session(tmp_path: Path) -> None:
    with manager_on(tmp_path / "m.db") as memory:
        memory.capture("I am vegetarian and I prefer aisle seats.")
    with manager_on(tmp_path / "m.db") as memory:
        assert {found.key: found.content for found in memory.list()} == {"diet": "vegetarian", "seat": "aisle"}
    with manager_on(tmp_path / "m.db", user="ben") as memory:
        assert memory.count() == 0


def test_threads_share_a_manager(tmp_path: Path) -> None:
    with manager_on(tmp_path / "m.db") as memory:
        threads = [threading.Thread(target=memory.add, args=(f"Fact {number} of many.",)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert memory.count() == 8


def test_closing_twice_is_fine_and_a_bad_file_leaves_no_thread(tmp_path: Path) -> None:
    memory = manager_on(tmp_path / "m.db")
    memory.close()
    memory.close()
    before = threading.active_count()
    (tmp_path / "broken.db").write_bytes(b"not a database, not at all" * 100)
    with pytest.raises(Exception, match="store_corrupt"):
        manager_on(tmp_path / "broken.db")
    assert threading.active_count() == before


@pytest.mark.parametrize("location", ["oracle://somewhere", "sqlite+aio://x", "mysql://x/y"])
def test_an_unknown_store_is_a_clear_error(location: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        build_engine(Settings.load(store=location))
    assert refused.value.reason == "invalid_config:store"


@pytest.mark.parametrize("user", ["auth0|5f7c8ec7", "José", "a/b", "ana@example.org", "日本", "x y", "../x", "a'--%"])
def test_user_ids_are_what_providers_and_people_write(tmp_path: Path, user: str) -> None:
    with MemoryManager(user, store=tmp_path / "m.db") as memory, MemoryManager("a", store=tmp_path / "m.db") as other:
        memory.add("The seat is by the aisle.")
        assert [hit.memory.content for hit in memory.search("seat").hits] == ["The seat is by the aisle."]
        assert [one.scope.owner for one in memory.list()] == [user]
        assert other.list() == []


def test_a_user_id_is_printable_and_not_too_long(tmp_path: Path) -> None:
    for bad in ("", " ", "ana ", "ana\n", "a\x00b", "a\u200bb", "a\u202eb", "\ud800", "e\u0301", "x" * 129, 42):
        with pytest.raises(InvalidInput) as refused:
            MemoryManager(bad, store=tmp_path / "m.db")  # type: ignore[arg-type]
        assert refused.value.reason == "invalid_input:user"


def test_a_policy_may_be_named_by_its_file(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text('[keys.seat]\nallowed_values = ["aisle"]\n', encoding="utf-8")
    for named in (path, str(path)):
        with MemoryManager("ana", store="memory:", policy=named) as memory:
            assert memory.add("aisle", key="seat").stored
            with pytest.raises(KeyNotAllowed):
                memory.add("oolong", key="tea")


def test_nobody_named_is_the_user_of_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = tmp_path / "memories.db"
    for named in ("josé|7", ""):
        monkeypatch.setenv("MNEMIC_USER", named)
        with MemoryManager(store=store) as memory:
            memory.add("The cat is called Miso.")
            user = memory.actor.user
        told = CliRunner().invoke(cli, ["--store", str(store), "--json", "list"], env={"MNEMIC_USER": named})
        assert (json.loads(told.stdout)["total"], told.exit_code) == (1, 0)
        assert user == named or not named


def test_an_empty_answer_says_that_others_have_memories(tmp_path: Path) -> None:
    store = str(tmp_path / "memories.db")
    with MemoryManager("ben", store=store) as memory:
        memory.add("The dog is called Rex.")
        memory.add("The cat is called Miso.")
    for asked in (["list"], ["search", "dog"]):
        told = CliRunner().invoke(cli, ["--store", store, "--user", "ana", *asked])
        assert "other users have 2 memories" in told.stderr
        own = CliRunner().invoke(cli, ["--store", store, "--user", "ben", *asked])
        assert "other users" not in own.stderr


def test_a_store_takes_the_place_of_that_of_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with MemoryManager("ana", store=tmp_path / "mine.db", settings=Settings.load(tenant="acme")) as memory:
        memory.add("The spare key hangs behind the blue door.")
    assert (tmp_path / "mine.db").exists()
    assert not (tmp_path / "mnemic.db").exists()


def test_the_results_of_a_search_are_a_sequence_of_hits_with_text_key_and_id() -> None:
    with MemoryManager("ana", store=":memory:") as memory:
        receipt = memory.add("I prefer aisle seats.", key="seat")
        found = memory.search("Which seat do I like?")
        assert (found[0].content, found[0].key, found[0].id) == ("I prefer aisle seats.", "seat", receipt.memory_id)
        assert ([*found], len(found), found[:1]) == ([*found.hits], 1, found.hits)
        assert not memory.search("Which seat do I like?", keys=["drink"])


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
