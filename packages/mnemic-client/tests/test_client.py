"""The client of the service does what the library does: the same calls, the same answers, the same errors."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from mnemic import AsyncMemoryManager, MemoryManager
from mnemic.engine import MemoryEngine
from mnemic.errors import (
    IdempotencyConflict,
    InvalidConfig,
    InvalidInput,
    MemoryNotFound,
    MnemicError,
    NotSupported,
    RevealDenied,
    ServiceRefused,
    VersionConflict,
)
from mnemic.graph.projection import GraphProjection
from mnemic.kinds.entity import EntityExtraction
from mnemic.kinds.episodic import Step
from mnemic.maintenance.consolidate import ConsolidationRules
from mnemic.maintenance.expiry_job import ExpiryRules
from mnemic.policy.key_rules import Policy
from mnemic.stores.graph import InProcessGraph
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.in_process_sessions import InProcessSessions
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Candidate, Kind, Message, Origin, Outcome, Source, Status, Trust
from mnemic.types.trace import UseAudit
from mnemic_client import BlockingClient, connect, connect_async
from mnemic_client.response_values import report_of
from tests.service import Served, serving


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.fixture(params=["library", "client", "library at a service", "library at a service, key of an application"])
def memory(request: pytest.FixtureRequest, served: Served) -> Iterator[Any]:
    """One user's memory, in this process or behind the service; a new user for each test."""
    user = f"user-{abs(hash(request.node.name)) % 10**9}"
    if request.param == "library":
        engine = MemoryEngine(
            store=InProcessStore(),
            embedder=WordEmbedder(),
            graph=(graph := InProcessGraph()),
            projections=[GraphProjection(graph)],
        )
        with MemoryManager(user, engine=engine) as manager:
            yield manager
    elif request.param == "client":
        with connect(served.address, api_key=served.key("reader", "writer", user=user)) as client:
            yield client
    else:
        owner = None if request.param.endswith("application") else user
        key = served.key("reader", "writer", user=owner)
        with MemoryManager(user, store=served.address, api_key=key) as manager:
            yield manager


def test_what_was_added_is_found_corrected_and_forgotten(memory: Any) -> None:
    receipt = memory.add("I prefer aisle seats.", key="seat", idempotency_key="k1")
    assert (receipt.outcome, receipt.version) == (Outcome.CREATED, 1)
    assert memory.add("I prefer aisle seats.", key="seat", idempotency_key="k1").replayed
    with pytest.raises(IdempotencyConflict):
        memory.add("I prefer window seats.", key="seat", idempotency_key="k1")

    found = memory.search("where do I like to sit?")
    assert [hit.memory.memory_id for hit in found.hits] == [receipt.memory_id]
    assert (found.hits[0].ranks["vector"].position, found.degraded) == (1, False)
    assert memory.update(receipt.memory_id, "I prefer window seats.", expected_version=1).version == 2
    with pytest.raises(VersionConflict):
        memory.update(receipt.memory_id, "I stand.", expected_version=1)
    assert [one.content for one in memory.history(receipt.memory_id)][-1] == "I prefer window seats."
    assert memory.rollback(receipt.memory_id, 1).version == 3
    kept = memory.get(receipt.memory_id)
    assert (kept.content, kept.key, kept.scope.level, kept.created_at.tzinfo is not None) == (
        "I prefer aisle seats.", "seat", "user", True,
    )  # fmt: skip
    memory.forget(receipt.memory_id)
    with pytest.raises(MemoryNotFound):
        memory.get(receipt.memory_id)
    assert memory.list() == []


def test_capture_and_messages_and_a_turn(memory: Any) -> None:
    report = memory.capture("I live in Oslo and I love kayaking.")
    assert [receipt.outcome for receipt in report.receipts] == [Outcome.CREATED] * 2
    kept = memory.record(
        [Message(role="user", content="See you on Sunday!"), Message(role="assistant", content="Yes.")]
    )
    assert [receipt.stored for receipt in kept] == [True, True]
    (kept_too,) = memory.record([{"role": "user", "content": "See you on Monday!"}])
    assert memory.get(kept_too.memory_id).source.speaker == "user"
    with pytest.raises(InvalidInput, match="`remember` takes lists"):
        memory.capture([{"role": "user", "content": "I live in Oslo."}])
    ran = memory.run(goal="Plan a weekend of kayaking in Oslo")
    assert (ran.status, ran.stop_reason) == ("ok", "success")
    assert set(ran.audit.cited) <= set(ran.audit.injected) <= set(ran.audit.retrieved)


def test_what_a_memory_replaced_is_known_and_taken_back(memory: Any) -> None:
    first = memory.add("tea", key="drink", ttl="30d", level="user")
    newest = memory.add("coffee", key="drink", ttl="never")
    found = memory.lineage(newest.memory_id)
    assert [one.memory_id for one in found.earlier] == [first.memory_id]
    assert (found.memory.memory_id, found.later, found.complete) == (newest.memory_id, (), True)
    assert memory.get(first.memory_id).expires_at is not None
    assert memory.get(newest.memory_id).expires_at is None
    receipt = memory.undo(newest.memory_id)
    assert (receipt.restored, receipt.status) == ((first.memory_id,), Status.REJECTED)
    used, _ = memory.uses(first.memory_id)
    assert "created" in {use.action for use in used}
    if isinstance(memory, MemoryManager):
        change = next(memory.changes(after=0))
        assert (change.action, change.memory_id) == ("created", first.memory_id)


def test_many_at_once_and_pages_by_what_they_are(memory: Any) -> None:
    told = [Candidate(content="aisle", key="seat", category="travel"), Candidate(content="The cat is called Miso.")]
    receipts = memory.add_many(told, idempotency_keys=["a", "b"])
    assert [receipt.outcome for receipt in receipts] == [Outcome.CREATED] * 2
    assert [receipt.replayed for receipt in memory.add_many(told, idempotency_keys=["a", "b"])] == [True, True]
    assert memory.count() == len(memory.list()) == 2
    assert [one.content for one in memory.list(categories=["travel"], keys=["seat"])] == ["aisle"]
    assert [hit.memory.key for hit in memory.search("seat", levels=["user"], preference_bias=True).hits][:1] == ["seat"]
    updated = memory.update(receipts[1].memory_id, "The cat is called Mio.", data={"age": 3}, expected_version=1)
    assert (updated.version, memory.get(receipts[1].memory_id).data) == (2, {"age": 3})
    block = memory.context("Which seat do I like?", max_tokens=500)
    assert receipts[0].memory_id in block.memory_ids
    assert "aisle" in block.text


def test_who_the_user_is_is_told_with_its_proof_everywhere(memory: Any) -> None:
    memory.capture("I live in Oslo.")
    profile = memory.profile()
    assert [(one.text, one.memory.source.quote) for one in profile] == [("home city: Oslo", "I live in Oslo.")]
    assert "home city: Oslo" in profile.text
    assert (memory.profile(max_tokens=1).text, memory.profile(max_tokens=1).without_room) == ("", 1)


def test_a_conversation_is_remembered_with_its_data_everywhere(memory: Any) -> None:
    said = [{"role": "user", "content": "I'm allergic to peanuts."}, {"role": "assistant", "content": "Noted."}]
    receipts = memory.remember(said, data={"channel": "chat"})
    kept = [memory.get(one.memory_id) for one in receipts]
    assert {(one.content, one.data["channel"]) for one in kept} == {("I'm allergic to peanuts.", "chat")}
    assert len(memory.remember("Hello there.", infer=False)) == 1


def test_a_rating_is_given_shown_and_withdrawn_everywhere(memory: Any) -> None:
    memory_id = memory.add("I like aisle seats.").memory_id
    rating = memory.rate(memory_id, "wrong")
    assert (rating.memory_id, rating.verdict, rating.version) == (memory_id, "wrong", 1)
    [rated] = memory.ratings()
    assert (rated.rating, rated.memory.content, rated.shift) == (rating, "I like aisle seats.", -0.2)
    assert memory.search("Which seats do I like?").hits[0].ranks["rating"].score == -0.2
    assert memory.rate(memory_id, "none") is None
    assert list(memory.ratings()) == []
    with pytest.raises(MemoryNotFound):
        memory.rate("no-such-memory", "useful")


def test_a_filter_on_data_is_the_same_everywhere(memory: Any) -> None:
    trips = {2024: "We took the train to Turin.", 2025: "A week of sailing.", 2026: "Hiking in the Alps with Emma."}
    for year, told in trips.items():
        memory.add(told, data={"year": year})
    late = {"year": {"$gte": 2025}, "$not": {"year": 2026}}
    assert [one.data["year"] for one in memory.list(where=late)] == [2025]
    assert [hit.memory.data["year"] for hit in memory.search("trip", where=late).hits] == [2025]
    for refused in (lambda: memory.list(where={"a": {"$like": 1}}), lambda: memory.search("x", where={"$like": 1})):
        with pytest.raises(InvalidInput) as wrong:
            refused()
        assert wrong.value.reason == "invalid_input:operator"


def test_a_list_longer_than_a_page_of_the_service_is_whole(memory: Any) -> None:
    memory.add_many([Candidate(content=f"The boat number {n} has {n + 2} oars.") for n in range(203)])
    assert [len(memory.list(limit=limit)) for limit in (201, 500)] == [201, 203]
    assert len({one.memory_id for one in memory.list(limit=1000)}) == 203


def test_a_service_is_asked_for_its_own_user_alone(served: Served) -> None:
    key = served.key("reader", "writer", user="ana")
    with pytest.raises(InvalidInput) as refused:
        MemoryManager("ben", store=served.address, api_key=key)
    assert refused.value.reason == "invalid_input:user_id"
    with pytest.raises(InvalidInput):
        MemoryManager("ana", store=served.address, api_key=key, policy=Policy())
    with pytest.raises(ServiceRefused):
        MemoryManager("ana", store=served.address, api_key="mnk_wrong_wrong")


def test_what_is_found_goes_across_kinds(served: Served) -> None:
    with MemoryManager("lena", store=served.address, api_key=served.key("reader", "writer", user="lena")) as memory:
        memory.working.set("topic", "skiing in Davos")
        memory.add("Lena enjoys skiing.")
        memory.add("Skiing is planned for May.", "short_term")
        found = memory.retrieve("skiing")
        assert {hit.kind for hit in found} == {Kind.WORKING, Kind.SHORT_TERM, Kind.LONG_TERM}
        assert found.errors == {}
        assert [hit.memory.content for hit in memory.long_term.search("skiing")] == ["Lena enjoys skiing."]
        memory.add("Write to lena@example.org about skiing.", "working", key="todo")
        assert "lena@example.org" not in str(memory.working.get("todo"))
    with connect(served.address, api_key=served.key("reader", user="lena")) as client:
        assert [(hit.kind, hit.content) for hit in client.retrieve("skiing")] == [
            (Kind.LONG_TERM, "Lena enjoys skiing.")
        ]
        assert client.retrieve("skiing", ["persona"]) == []


def test_the_conversation_in_progress_is_kept_as_it_is_in_a_file(memory: Any) -> None:
    if isinstance(memory, BlockingClient):
        with pytest.raises(InvalidInput) as refused:
            memory.short_term.append("user", "Hello")
        assert refused.value.reason == "invalid_input:scope:session"
        return
    if memory.engine.sessions is None and isinstance(memory.engine, MemoryEngine):
        memory.engine.sessions = InProcessSessions(memory.engine.clock)
    kept = memory.short_term.append("user", "Write to ana@example.org.", speaker="Ana")
    assert "ana@example.org" not in kept.content
    memory.short_term.append("tool", "The ferry leaves at ten.")
    tail = memory.short_term.tail()
    assert [(one.role, one.speaker, one.origin) for one in tail] == [
        ("user", "Ana", Origin.USER_STATED), ("tool", None, Origin.TOOL_OUTPUT),
    ]  # fmt: skip
    assert tail[0] == kept
    assert memory.short_term.tail(1) == [tail[1]]
    for number in range(8):
        memory.short_term.append("user", f"The boat number {number} has {number} oars. " * 8)
    done = memory.short_term.compact(max_tokens=200, keep=2)
    assert (done.summary is not None, done.by, done.tokens_after < done.tokens_before) == (True, "extract", True)
    assert memory.short_term.tail(200)[0] == done.summary
    memory.short_term.clear()
    assert memory.short_term.tail() == []
    for wrong in (lambda: memory.short_term.append("system", "x"), lambda: memory.short_term.tail(500)):
        with pytest.raises(InvalidInput):
            wrong()


def test_a_conversation_is_its_users_alone_whatever_it_is_called(served: Served) -> None:
    keys = {name: served.key("reader", "writer", user=name) for name in ("pia", "quin")}
    opened = {name: connect(served.address, api_key=key, session="trip é") for name, key in keys.items()}
    with opened["pia"] as pia, opened["quin"] as quin:
        pia.short_term.append("user", "Hello")
        assert [one.content for one in pia.short_term.tail()] == ["Hello"]
        assert quin.short_term.tail() == []
        with connect(served.address, api_key=keys["pia"], session="trip é") as again:
            assert [one.content for one in again.short_term.tail()] == ["Hello"]
        with connect(served.address, api_key=keys["pia"], session="another") as other:
            assert other.short_term.tail() == []


def test_what_a_block_holds_and_what_a_run_found_are_told(memory: Any) -> None:
    memory.add("I prefer aisle seats.", key="seat")
    block = memory.context("Which seat do I like?")
    assert [hit.memory.content for hit in block.hits] == ["I prefer aisle seats."]
    assert block.memory_ids == tuple(hit.memory.memory_id for hit in block.hits)
    ran = memory.run(goal="Which seat do I like?")
    assert {hit.memory.memory_id for hit in ran.hits} == set(block.memory_ids)
    found = memory.search("seat")
    assert {"hits", "errors", "query", "plan", "relevance"} <= set(found.to_dict())
    assert type(found).from_dict(found.to_dict()) == found


REPORT: dict[str, Any] = {
    "run_id": "1", "status": "ok", "stop_reason": "success", "outcome": None, "answer": None, "receipts": [],
    "skipped": [], "audit": {}, "used_memory_keys": [], "applied_memory": [], "memory_state": [], "errors": [],
    "trace": [], "history": [],
}  # fmt: skip


def test_what_was_blocked_is_told() -> None:
    said = report_of(REPORT | {"blocked": [{"key": "seat", "reason": "consent", "level": "user"}]})
    assert [(one.key, one.reason) for one in said.blocked] == [("seat", "consent")]
    assert report_of(REPORT).blocked == ()


def test_how_certain_the_use_of_a_memory_is_reaches_the_caller_of_a_service() -> None:
    audit = UseAudit(cited=("m1",), likely=("m1",), certainty={"m1": 0.7})
    sent = replace(report_of(REPORT), audit=audit).as_dict()
    assert report_of(REPORT | {"audit": json.loads(json.dumps(sent["audit"]))}).audit == audit


def test_upkeep_goes_by_the_rules_that_are_given(served: Served) -> None:
    steward = served.key("reader", "writer", "operator", "subject", user="olaf")
    with MemoryManager("olaf", store=served.address, api_key=steward) as olaf:
        olaf.add("I like tea.", ttl="1h")
        rules = ExpiryRules(grace=timedelta(days=1), hard_kinds=frozenset({Kind.EPISODIC}))
        report = olaf.expire(rules=rules, dry_run=True)
        assert (report.dry_run, report.purged) == (True, 0)
        assert olaf.expire().expired == 0
        done = olaf.consolidate(rules=ConsolidationRules(most=3, quiet=timedelta(minutes=5)), dry_run=True)
        assert (done.dry_run, done.complete) == (True, True)
        assert [one["content"] for one in olaf.export()] == ["I like tea."]
    with MemoryManager("nele", store=served.address, api_key=served.key("subject", user="nele")) as nele:
        for refused in (nele.expire, nele.consolidate):
            with pytest.raises(ServiceRefused) as lacking:
                refused()
            assert lacking.value.reason == "service_refused:role_required:operator"


def test_everything_about_a_person_is_one_document(served: Served) -> None:
    operator = served.key("operator", "subject", user="otis")
    own = served.key("reader", "writer", "subject", user="rosa")
    with MemoryManager("rosa", store=served.address, api_key=own) as rosa:
        rosa.add("I like sailing.")
        assert "I like sailing." in json.loads("".join(rosa.export_subject()))["memories"][0]["content"]
        assert "I like sailing." in "".join(rosa.export_subject(form="html"))
        with pytest.raises(ServiceRefused) as lacking:
            list(rosa.export_subject("otis"))
        assert lacking.value.reason == "service_refused:role_required:operator"
        with pytest.raises(InvalidInput):
            list(rosa.export_subject(form="pdf"))  # type: ignore[arg-type]
        with pytest.raises(NotSupported):
            list(rosa.export_subject(values=True))
    with connect(served.address, api_key=own) as client:
        assert [sorted(json.loads(line)) for line in client.export(archive=True)] == [["format", "versions"]]
    with connect(served.address, api_key=operator) as client:
        assert "I like sailing." in "".join(client.export_subject("rosa"))
        assert "I like sailing." not in "".join(client.export_subject())
        with pytest.raises(RevealDenied):
            list(client.export_subject("rosa", values=True))


def test_a_conversation_is_captured_message_by_message(served: Served) -> None:
    said = [
        Message(role="user", content="I live in Oslo."),
        Message(role="assistant", content="How is the weather in Bergen?"),
        Message(role="user", content="I am vegetarian."),
    ]
    with MemoryManager("nils", store=served.address, api_key=served.key("reader", "writer", user="nils")) as memory:
        first, none, last = memory.capture_many(said, idempotency_keys=["a", None, "b"])
        assert none is None
        assert first is not None
        assert last is not None
        assert [receipt.key for receipt in (*first.receipts, *last.receipts)] == ["home_city", "diet"]
        memory.capture_many(said, idempotency_keys=["a", None, "b"])
        assert memory.count() == 2


def test_several_messages_may_be_texts_and_dictionaries(memory: Any) -> None:
    said = [
        {"role": "system", "content": "Be kind."},
        "I live in Oslo.",
        {"role": "assistant", "content": [{"type": "text", "text": "Lovely!"}]},
        {"role": "user", "content": "I am vegetarian."},
        {"role": "user", "content": "  "},
    ]
    reports = memory.capture_many(said, idempotency_keys=["z", "a", None, "b", "c"])
    assert [report and [one.key for one in report.receipts] for report in reports] == [
        None,
        ["home_city"],
        None,
        ["diet"],
        None,
    ]
    for wrong in ("I live in Oslo.", [7]):
        with pytest.raises(InvalidInput, match="message"):
            memory.capture_many(wrong)
    with pytest.raises(InvalidInput, match="idempotency_keys"):
        memory.capture_many(said, idempotency_keys=["a"])


def test_governance_at_a_service_has_the_verbs_of_the_library(served: Served) -> None:
    owner = served.key("reader", "writer", "subject", user="mona")
    steward = served.key("reader", "writer", "reviewer", "operator", user="otto")
    with (
        MemoryManager("mona", store=served.address, api_key=owner) as mona,
        MemoryManager("otto", store=served.address, api_key=steward) as otto,
    ):
        kept = mona.add("vegan", key="diet")
        mona.consent.grant("diet")
        assert mona.consent.list() == {"diet": True}
        assert mona.consent.revoke("diet", erase_held=True).erased is not None
        with pytest.raises(MemoryNotFound):
            mona.get(kept.memory_id or "")
        trait = mona.persona.learn("Speaks calmly.", evidence="You are so calm.")
        waiting = {one.memory.memory_id for one in otto.review(whole_tenant=True).list()}
        assert trait.memory_id in waiting
        assert otto.review().approve(trait.memory_id or "").stored
        assert [one.memory_id for one in otto.persona.traits()] == [trait.memory_id]
        other = mona.persona.learn("Never jokes.")
        assert [one.reason for one in otto.review().reject_all([other.memory_id or ""])] == ["rejected"]
        events = otto.audit.list(limit=1000)
        assert {"approved", "rejected"} <= {event.action for event in events}
        assert otto.audit.verify().broken_at is None
        assert otto.maintain(dry_run=True).dry_run
        assert otto.consolidate(dry_run=True).dry_run
        done = otto.reread()
        assert (done.left, done.run_id) == (0, None)
        with pytest.raises(InvalidInput, match="reread:unknown"):
            otto.undo_reread("none")
        with pytest.raises(InvalidInput, match="import:unknown"):
            otto.undo_import("none")
        with pytest.raises(NotSupported, match="progress"):
            otto.reread(progress="x.db")
        assert otto.doctor(limit=100).looked_at >= 1
        receipt = mona.privacy.erase()
        assert not any(mona.privacy.verify(receipt).values())
        assert list(mona.export()) == []


def test_recorded_messages_are_read_again_at_a_service_and_the_change_is_taken_back(served: Served) -> None:
    key = served.key("reader", "writer", "subject", user="rita")
    with MemoryManager("rita", store=served.address, api_key=key) as rita:
        rita.record([{"role": "user", "content": "I am vegetarian.", "timestamp": "2026-03-02T09:00:00Z"}])
        shown = rita.reread(dry_run=True)
        assert [(one.change, one.content) for one in shown.differences] == [("added", "vegetarian")]
        assert (shown.messages, shown.left, shown.run_id) == (1, 0, None)
        assert rita.reread(limit=1, since=datetime(2026, 4, 1, tzinfo=UTC)).messages == 0
        rita.record([{"role": "user", "content": "I live in Oslo.", "timestamp": "2026-03-03T09:00:00Z"}])
        rita.record([{"role": "user", "content": "My cat is Miso.", "timestamp": "2026-03-04T09:00:00Z"}])
        part = rita.reread(limit=1)
        assert (part.messages, part.left, part.run_id) == (2, 1, None), "the one that was shown is not read again"
        done = rita.reread(limit=1)
        assert done.run_id is not None
        assert [one.content for one in rita.list() if one.key == "diet"] == ["vegetarian"]
        assert rita.undo_reread(done.run_id) >= 2
        assert [one.content for one in rita.list() if one.key is not None] == []


def test_episodes_and_entities(memory: Any) -> None:
    steps = [{"action": "call", "result": "nobody", "ok": False}, {"action": "book online", "ok": True}]
    memory.episodic.record("Rent a boat", steps, outcome="success")
    assert [lesson.worked for lesson in memory.episodic.lessons("rent a boat")] == ["book online"]
    assert [episode.task for episode in memory.episodic.recent()] == ["Rent a boat"]
    memory.entity.relate("me", "sibling", "Eva")
    assert [(one.node.name, one.hops) for one in memory.entity.neighbours()] == [("Eva", 1)]
    assert [one.relation for one in memory.entity.path("me", "Eva") or ()] == ["sibling"]
    assert memory.entity.path("me", "Eva", at=datetime(2001, 1, 1, tzinfo=UTC)) is None
    assert memory.entity.end("me", "sibling", "Nobody") is None
    ended = memory.entity.end("me", "sibling", "Eva")
    assert ended is not None
    assert ended.stored
    assert memory.entity.neighbours() == []
    found = memory.entity.extract("My sister Ana works at Siemens.")
    assert isinstance(found, EntityExtraction)
    assert found.receipts
    assert (found.unresolved, found.skipped) == (0, ())


def test_an_episode_has_feedback_and_a_day(memory: Any) -> None:
    day = datetime(2024, 5, 1, tzinfo=UTC)
    kept = memory.episodic.record("Rent a boat", [Step(action="call", ok=True)], outcome="success", occurred_at=day)
    assert memory.episodic.feedback(kept.memory_id, "A lovely day.").stored
    episode = memory.episodic.get(kept.memory_id)
    assert (episode.task, episode.happened_at, episode.feedback) == ("Rent a boat", day, ("A lovely day.",))
    with pytest.raises(MemoryNotFound):
        memory.episodic.get("nobody")


def test_an_episode_is_walked_by_the_graph(memory: Any) -> None:
    kept = memory.episodic.record(
        "Rent skis", [{"action": "ask the shop", "ok": False}, {"action": "book online", "ok": True}], outcome="success"
    )
    walked = memory.episodic.walk(kept.memory_id)
    assert [one.node.name for one in walked] == ["ask the shop", "book online", "success"]
    assert [one.hops for one in walked] == [1, 1, 1]
    with pytest.raises(MemoryNotFound):
        memory.episodic.walk("nobody")


def test_two_names_are_one_and_two_again(memory: Any) -> None:
    memory.entity.relate("me", "friend", "Helena", idempotency_key="r1")
    assert memory.entity.relate("me", "friend", "Helena", idempotency_key="r1").replayed
    memory.entity.mention("Lena", label="person")
    assert memory.entity.same("Lena", "Helena").stored
    assert [one.node.name for one in memory.entity.neighbours()] == ["Helena"]
    assert memory.entity.path("me", "Lena") is not None
    assert memory.entity.separate("Lena", "Helena").stored
    assert memory.entity.separate("Lena", "Helena") is None
    assert memory.entity.path("me", "Lena") is None
    with pytest.raises(InvalidInput):
        memory.entity.same("Nobody", "Helena")


def test_a_message_is_read_for_entities_with_its_role(memory: Any) -> None:
    told = Message(role="assistant", content="My sister Eva works at Siemens.")
    memory.entity.extract(told)
    assert {memory.get(one).trust for one in ids(memory)} <= {Trust.LOW, Trust.MEDIUM}
    found = memory.entity.extract(Message(role="user", content="My sister Ana works at BMW."), idempotency_key="m1")
    assert found.receipts
    assert any(memory.get(one).trust is Trust.HIGH for one in ids(memory))


def ids(memory: Any) -> list[str]:
    return [one.memory_id for one in memory.list(kinds=[Kind.ENTITY])]


def test_a_lower_origin_is_kept_wherever_it_is_named(memory: Any) -> None:
    day = datetime(2024, 5, 1, tzinfo=UTC)
    page = Candidate(
        content="The harbour opens at nine.", context="Oslo", source=Source(origin=Origin.WEB, ref="p1"), valid_from=day
    )
    for receipt in (memory.add(page), *memory.add_many([replace(page, content="The harbour closes at five.")])):
        kept = memory.get(receipt.memory_id)
        assert (kept.source.origin, kept.source.ref, kept.trust) == (Origin.WEB, "p1", Trust.LOW)
        assert (kept.context, kept.valid_from) == ("Oslo", day)
    (said,) = memory.record([Message(role="user", content="The ferry leaves at ten.", origin=Origin.WEB)])
    assert memory.get(said.memory_id).trust is Trust.LOW
    report = memory.capture(Message(role="user", content="I live in Oslo.", origin=Origin.TOOL_OUTPUT))
    assert [memory.get(one.memory_id).trust for one in report.receipts if one.memory_id] in ([], [Trust.LOW])
    ran = memory.run(message=Message(role="tool", content="I live in Bergen."))
    assert not any(memory.get(one.memory_id).trust is Trust.HIGH for one in ran.receipts if one.memory_id)
    assert memory.persona.learn("Speaks calmly.", origin=Origin.WEB).stored


async def test_an_engine_over_a_service_takes_what_the_engine_takes(served: Served) -> None:
    key = served.key("reader", "writer", user="sven")
    async with AsyncMemoryManager("sven", store=served.address, api_key=key) as memory:
        engine, actor = memory.engine, memory.actor
        told = await engine.add("The harbour opens at nine.", actor=actor, origin=Origin.WEB, ttl="30d", deadline=None)
        kept = await engine.get(told.memory_id or "", actor=actor)
        assert (kept.trust, kept.expires_at is not None) == (Trust.LOW, True)
        assert (await engine.add("I like tea.", actor=replace(actor, channel=Origin.TOOL_OUTPUT))).stored
        assert {one.trust for one in await engine.list(actor=actor)} == {Trust.LOW}
        assert (await engine.search("harbour", actor=actor, deadline=None)).hits
        changed = await engine.update(told.memory_id or "", "It opens at ten.", actor=actor, origin=Origin.WEB)
        assert changed.version == 2


BOAT = {
    "type": "object",
    "properties": {"name": {"type": "string", "pattern": "^[A-Z]"}, "oars": {"$ref": "#/$defs/number"}},
    "required": ["name"],
    "$defs": {"number": {"type": "integer", "minimum": 0}},
}


def test_a_shape_that_a_program_defines_is_put_and_found(memory: Any) -> None:
    assert "FlightReservation" in memory.structured.shapes
    assert memory.structured.define("Boat", BOAT, identity=["name"]).identity == ("name",)
    assert {"Boat", "FlightReservation"} <= set(memory.structured.shapes)
    (first,) = memory.structured.put("Boat", {"name": "Miso", "oars": 2})
    (again,) = memory.structured.put("Boat", {"name": "Miso", "oars": 4})
    assert (again.memory_id, again.version) == (first.memory_id, 2)
    memory.structured.put("Boat", {"name": "Gale", "oars": 8}, origin=Origin.WEB)
    (found,) = memory.structured.query("Boat", {"oars": {"$gte": 4, "$lt": 8}})
    assert (found.data, found.trust, found.category) == ({"name": "Miso", "oars": 4}, Trust.HIGH, "Boat")
    (page,) = memory.structured.query("Boat", {"name": "Gale"})
    assert page.trust is Trust.LOW
    assert [one.version for one in memory.structured.history(first.memory_id)] == [1, 2]
    with pytest.raises(InvalidInput) as refused:
        memory.structured.put("Boat", {"name": "small"})
    assert refused.value.reason == "invalid_input:data:$.name:pattern"
    with pytest.raises(InvalidConfig):
        memory.structured.define("Ship", {"typo": "object"})


async def test_shapes_are_known_to_callers_that_await(served: Served) -> None:
    key = served.key("reader", "writer", user="nora")
    async with AsyncMemoryManager("nora", store=served.address, api_key=key) as memory:
        shape = memory.structured.shapes["FlightReservation"]
        assert (shape.person, (shape.schema.find_property(["reservationNumber"]) or {})["type"]) == (
            "underName",
            "string",
        )
        memory.structured.define("Boat", BOAT, identity=["name"])
        await memory.structured.put("Boat", {"name": "Miso"})
        assert [one.data for one in await memory.structured.query("Boat")] == [{"name": "Miso"}]


TICKET = "Booking code: QWE123\nFlight XY 12 on 5 May 2027: London Heathrow (LHR) 12:10 - Berlin (BER) 15:00"


def test_data_of_a_text_is_found_and_kept(memory: Any) -> None:
    assert list(memory.structured.extract(TICKET)) != []
    assert [one["@type"] for one in memory.structured.extract(TICKET, "FlightReservation")] == ["FlightReservation"]
    assert memory.structured.extract(TICKET, "LodgingReservation") == []
    (kept,) = memory.structured.capture(TICKET)
    assert [one.version for one in memory.structured.history(kept.memory_id)] == [1]


def test_a_search_counts_days_from_when_it_is_asked(memory: Any) -> None:
    said = [
        Message(role="user", content="Bought a lamp.", session=f"s{day}", sent_at=datetime(2024, 5, day, tzinfo=UTC))
        for day in (20, 6, 1)
    ]
    memory.record(said)
    for asked, day in ((datetime(2024, 5, 20, tzinfo=UTC), 6), (datetime(2024, 5, 15, tzinfo=UTC), 1)):
        found = memory.search("Which lamp did I buy two weeks ago?", asked_at=asked)
        assert found.hits[0].memory.happened_at.day == day


@pytest.mark.parametrize("name", ["as_of", "known_at", "asked_at", "happened_from", "happened_to"])
def test_a_time_without_a_zone_is_refused(memory: Any, name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        memory.search("tea", **{name: datetime(2020, 1, 1)})  # noqa: DTZ001 - the mistake itself
    assert refused.value.reason == f"invalid_input:{name if name.endswith(('of', 'at')) else 'window'}"


def test_what_cannot_be_used_is_refused_with_the_same_reason(memory: Any) -> None:
    reasons = []
    for call in (
        lambda: memory.structured.put("Nonsense", {}),
        lambda: memory.rollback(memory.add("I like tea.").memory_id, 9),
        lambda: memory.search("tea", top_k=500),
    ):
        with pytest.raises(MnemicError) as refused:
            call()
        assert isinstance(refused.value, InvalidInput)
        reasons.append(refused.value.reason)
    assert reasons[:2] == ["invalid_input:shape", "invalid_input:version"]
    assert reasons[2].startswith("invalid_input:top_k") or reasons[2].startswith("invalid_retrieval")


@pytest.mark.parametrize("value", [object(), float("nan"), {1, 2}, datetime(2020, 1, 1, tzinfo=UTC), b"x"])
def test_what_is_no_json_is_refused_by_name(memory: Any, value: Any) -> None:
    held = memory.add("The car is red.").memory_id
    for field, call in {
        "data": lambda: memory.add("The car is blue.", data={"when": value}),
        "data of a correction": lambda: memory.update(held, data={"when": value}),
        "where of a search": lambda: memory.search("car", where={"when": {"$ne": value}}),
        "where of a list": lambda: memory.list(where={"when": value}),
        "where of a deletion": lambda: memory.forget_matching(where={"when": value}),
    }.items():
        if isinstance(value, float) and field.startswith("where"):
            continue  # a filter may ask for what no memory has
        with pytest.raises(InvalidInput) as refused:
            call()
        assert refused.value.reason.startswith(f"invalid_input:{field.split()[0]}")
    assert memory.count() == 1


@pytest.fixture
def client(served: Served) -> Iterator[BlockingClient]:
    with connect(served.address, api_key=served.key("reader", "writer", "subject", user="cleo")) as opened:
        yield opened


def test_an_import_goes_on_where_it_stopped(client: BlockingClient) -> None:
    boats = [{"content": f"The boat number {n} has {n} oars."} for n in range(12)]

    def cut_off() -> Iterator[dict[str, str]]:
        yield from boats[:7]
        raise ConnectionError

    with pytest.raises(ConnectionError):
        client.import_all("boats", cut_off(), part=5)
    done = client.import_all("boats", boats, part=5)
    assert (done.taken, sum(done.outcomes.values())) == (12, 12)
    assert client.import_all("boats", boats, part=5) == done
    assert sum(1 for _ in client.export()) == 12
    assert client.privacy.erase().complete is True


def test_who_may_not_call_is_told_so(served: Served) -> None:
    with connect(served.address) as nobody, pytest.raises(ServiceRefused, match="unauthenticated"):
        nobody.list()
    with connect(served.address, api_key=served.key("reader")) as reader, pytest.raises(ServiceRefused, match="writer"):
        reader.add("I like tea.")
    with connect("http://127.0.0.1:9", timeout=2, attempts=1) as absent, pytest.raises(ServiceRefused, match="unreach"):
        absent.list()


async def test_the_same_verbs_awaited_and_changes_as_they_come(served: Served) -> None:
    async with connect_async(served.address, api_key=served.key("reader", "writer", "subject", user="dora")) as memory:
        first = await memory.add("I like tea.", key="drink")
        newest = await memory.add("I like coffee.", key="drink")
        found = await memory.lineage(newest.memory_id or "")
        assert ([one.memory_id for one in found.earlier], found.later) == ([first.memory_id], ())
        assert (await memory.undo(newest.memory_id or "")).restored == (first.memory_id,)
        assert await memory.context("what do I drink?") is not None
        changes = memory.changes(after="0")
        event_id, told = await anext(changes)
        assert (told["action"], told["memory_id"], event_id.isdigit()) == ("created", first.memory_id, True)
        await memory.consent.grant("drink")
        assert await memory.consent.list() == {"drink": True}


def test_an_application_acts_for_each_of_its_users(served: Served) -> None:
    with connect(served.address, api_key=served.key("reader", "writer", user=None)) as backend:
        with pytest.raises(ServiceRefused, match="user_required"):
            backend.add("I prefer aisle seats.")
        ana, ben = backend.for_user("ana-of-the-app"), backend.for_user("ben-of-the-app")
        ana.add("I prefer aisle seats.")
        ben.add("I prefer window seats.")
        assert [one.content for one in ana.list()] == ["I prefer aisle seats."]
        ana.close()
        assert [one.content for one in ben.list()] == ["I prefer window seats."]
        with pytest.raises(ServiceRefused, match="role_required"):
            ana.privacy.erase()


async def test_its_users_tokens_are_renewed_and_shared_by_the_calls_of_a_user(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    issued: list[str] = []

    class Watched(httpx.AsyncHTTPTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            if request.url.path == "/v1/tokens":
                issued.append(json.loads(request.content)["user"])
            return await super().handle_async_request(request)

    key = served.key("reader", "writer", user=None)
    async with connect_async(served.address, api_key=key, transport=Watched()) as backend:
        ana = backend.for_user("ana-renewed")
        await ana.add("I prefer aisle seats.")
        assert await ana.count() == 1
        assert issued == ["ana-renewed"]
        monkeypatch.setattr("mnemic_client.remote.RENEWED_AFTER", -1.0)
        assert await ana.count() == 1
        assert issued == ["ana-renewed"] * 2


def test_a_users_own_key_acts_for_nobody_else(served: Served) -> None:
    key = served.key("reader", "writer", user="ana")
    with connect(served.address, api_key=key) as own, pytest.raises(ServiceRefused, match="application_required"):
        own.for_user("ben").count()


def test_fields_are_corrected_and_what_meets_a_filter_is_forgotten(memory: Any) -> None:
    made = memory.add("The boat is red.", data={"boat": 1})
    revised = memory.update(made.memory_id, category="boats", ttl="10d", confidence=0.5)
    known = memory.get(made.memory_id)
    assert (known.content, known.category, known.confidence, revised.version) == ("The boat is red.", "boats", 0.5, 2)
    assert known.expires_at is not None
    later = datetime.now(UTC) + timedelta(days=1)
    assert [one.memory_id for one in memory.list(happened_to=later)] == [made.memory_id]
    assert memory.list(happened_from=later) in ([], ())
    assert memory.forget_matching(happened_from=later, dry_run=True).memory_ids == ()
    assert memory.forget_matching(happened_to=later, dry_run=True).memory_ids == (made.memory_id,)
    assert memory.forget_matching(where={"boat": 1}, dry_run=True).memory_ids == (made.memory_id,)
    assert memory.forget_matching(where={"boat": 1}).memory_ids == (made.memory_id,)
    assert memory.list(where={"boat": 1}) in ([], ())


@pytest.mark.parametrize("key", ["", "  ", "mnk_a\nb", "schlüssel"])
def test_what_can_be_no_key_is_named(key: str) -> None:
    with pytest.raises(InvalidConfig, match="api_key"):
        connect("http://127.0.0.1:1", api_key=key)


def test_a_picture_arrives_by_every_verb_that_takes_messages(memory: Any) -> None:
    """With its name, type and hash: the service reads it as the library does."""
    for place, verb in enumerate(
        (memory.capture, lambda one: memory.remember([one]), lambda one: memory.capture_many([one]))
    ):
        data = base64.b64encode(f"picture {place}".encode()).decode()
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
        verb({"role": "user", "content": [{"type": "text", "text": "Look at this."}, image]})
        name = hashlib.sha256(f"picture {place}".encode()).hexdigest()[:32]
        assert f'Sent an image (image/png, sha256 {name}): "Look at this."' in [one.content for one in memory.list()]
