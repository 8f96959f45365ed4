"""The gate in front of every write and every search, asked by itself: limits, grant, own scopes, who is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from mnemic.dispatch import Call, Proceed, Watchers
from mnemic.dispatch.gateway import GatewayWrite, MemoryGateway
from mnemic.engine.recall import recall
from mnemic.errors import BudgetSpent, InvalidInput, InvalidIntent, ScopeDenied, StoreFailed
from mnemic.policy.budget import Budget
from mnemic.policy.grant import Grant
from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.policy.limits import Limits, Quota
from mnemic.retrieve.policy_candidates import PreferenceBias
from mnemic.retrieve.search import Searcher
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import (
    Actor,
    Blocked,
    Candidate,
    Deadline,
    Intent,
    Kind,
    Level,
    Outcome,
    RecallRequest,
    SearchResult,
    Status,
    Where,
    WriteReceipt,
)
from mnemic.write.limiter import decide_consent
from mnemic.write.pipeline import MemoryWritePipeline
from mnemic.write.prepare import item_key

ADA = Actor(user="ada", workspace="w1", session="s1")
DAY = timedelta(days=1)
BOTH = Grant(levels=frozenset({"user", "workspace"}))


async def gateway(store: InProcessStore | None = None, clock: ManualClock | None = None, **given: Any) -> MemoryGateway:
    embedder, clock = WordEmbedder(), clock or ManualClock()
    if store is None:
        store = InProcessStore()
        await store.open(embedder.space)
    parts: dict[str, Any] = {
        "pipeline": MemoryWritePipeline(store, embedder, clock),
        "searcher": Searcher(store, embedder),
        "policy": Policy(),
        "grant": Grant(),
        "budget": Budget(),
        "clock": clock,
    }
    return MemoryGateway(**parts | given)


def said(result: SearchResult) -> list[str]:
    return [hit.memory.content for hit in result.hits]


# -- writing -----------------------------------------------------------------------------------------------------------


async def test_what_the_grant_allows_is_written_and_the_rest_is_told() -> None:
    gate = await gateway(grant=Grant(keys=frozenset({"seat"})))
    written = await gate.write(
        [Candidate(content="aisle", key="seat"), Candidate(content="gold", key="tier", level="workspace")], actor=ADA
    )
    assert [(receipt.outcome, receipt.key) for receipt in written.receipts] == [(Outcome.CREATED, "seat")]
    assert written.blocked == (Blocked(key="tier", reason="key_denied_execution", level="workspace"),)
    assert said(await gate.retrieve(Intent(query="aisle gold"), actor=ADA)) == ["aisle"]


async def test_too_many_candidates_stop_before_anything_is_written() -> None:
    gate = await gateway(budget=Budget(max_capture_items=2))
    two = [Candidate(content=f"note {number}") for number in range(2)]
    with pytest.raises(BudgetSpent, match="max_capture_items"):
        await gate.write([*two, Candidate(content="note 3")], actor=ADA)
    assert (await gate.retrieve(Intent(query="note"), actor=ADA)).hits == ()
    assert [receipt.outcome for receipt in (await gate.write(two, actor=ADA)).receipts] == [Outcome.CREATED] * 2


async def test_what_passes_is_admitted_with_the_limits_as_they_stand() -> None:
    gate = await gateway(budget=Budget(max_capture_items=1), limits=Limits(quotas=(Quota(rows=1),)))
    written = await gate.write([Candidate(content="note")], actor=ADA)
    assert [receipt.warnings for receipt in written.receipts] == [("user.rows",)]
    with pytest.raises(BudgetSpent, match="max_capture_items"):
        await gate.write([Candidate(content="a"), Candidate(content="b")], actor=ADA)


async def test_a_second_delivery_writes_nothing_twice() -> None:
    gate = await gateway(policy=Policy.of(KeyRule("visit", on_change="accumulate")))
    first, again = [
        await gate.write([Candidate(content="Rome", key="visit")], actor=ADA, idempotency_key="message 1")
        for _ in range(2)
    ]
    assert again.receipts[0].memory_id == first.receipts[0].memory_id
    assert len(await gate.searcher.store.requests(ADA.tenant)) == 1
    more = await gate.write([Candidate(content="Oslo", key="visit")], actor=ADA, idempotency_key="message 1")
    assert more.receipts[0].outcome is Outcome.CREATED, "each candidate of a delivery has its own key"
    await gate.write([Candidate(content="Bern", key="visit")], actor=ADA)
    assert len(await gate.searcher.store.requests(ADA.tenant)) == 2, "without a key nothing is kept of the delivery"


def test_a_key_of_delivery_tells_apart_what_is_told_apart() -> None:
    one = Candidate(content="aisle", key="seat")
    others = [
        Candidate(content="window", key="seat"),
        Candidate(content="aisle", key="row"),
        Candidate(content="aisle"),
        Candidate(content="aisle", key="seat", level="workspace"),
        Candidate(content="aisle", key="seat", kind=Kind.ENTITY),
    ]
    keys = [item_key("k", candidate) for candidate in (one, *others)]
    assert len(set(keys)) == 6
    assert item_key("k", Candidate(content="aisle", key="seat", confidence=0.1)) == keys[0]
    assert item_key("other", one) != keys[0]
    assert item_key(None, one) is None
    prefix, _, digest = (keys[0] or "").partition(":")
    assert (prefix, len(digest)) == ("k", 16)
    assert item_key("k", Candidate(content="half \ud800")) is not None
    assert item_key("k", Candidate(content="")) == item_key("k", Candidate(content="", key="")), "no key, an empty key"


async def test_a_write_is_made_under_the_policy_and_within_the_deadline() -> None:
    clock = ManualClock()
    gate = await gateway(policy=Policy.of(KeyRule("visit", on_change="accumulate")), clock=clock)
    for place in ("Rome", "Oslo"):
        (receipt,) = (await gate.write([Candidate(content=place, key="visit")], actor=ADA)).receipts
        assert receipt.outcome is Outcome.CREATED
    late = Deadline.after(timedelta(seconds=1), clock.monotonic)
    clock.advance(timedelta(seconds=2))
    written = await gate.write([Candidate(content="Bern", key="visit")], actor=ADA, deadline=late)
    assert [(receipt.outcome, receipt.reason) for receipt in written.failed] == [(Outcome.BLOCKED, "max_seconds")]


async def test_a_crowd_does_not_pass_a_quota_together() -> None:
    """What is asked before the write is asked again inside its transaction."""
    gate = await gateway(limits=Limits(quotas=(Quota(rows=2, soft=0.5),)))
    await gate.write([Candidate(content="first thing")], actor=ADA)
    stale = await gate.limiter.check(ADA, gate.limits)
    warned = await gate.write([Candidate(content="second note")], actor=ADA)
    assert warned.receipts[0].warnings == ("user.rows",)
    assert stale(Candidate(content="third remark")) is None, "as it stood then there was room"
    (receipt,) = await gate.pipeline.write_many(
        [Candidate(content="third remark")],
        actor=ADA,
        policy=gate.policy,
        gate=await gate.limiter.gate(ADA, gate.limits),
    )
    assert (receipt.outcome, receipt.reason) == (Outcome.BLOCKED, "quota_exceeded:user.rows")
    (other,) = (await gate.write([Candidate(content="mine")], actor=Actor(user="ben"))).receipts
    assert other.outcome is Outcome.CREATED


async def test_the_quota_counts_what_came_within_the_minute() -> None:
    clock = ManualClock()
    gate = await gateway(clock=clock, limits=Limits(quotas=(Quota(writes_a_minute=1),)))
    await gate.write([Candidate(content="first thing")], actor=ADA)
    assert (await gate.limiter.check(ADA, gate.limits))(Candidate(content="x")) == "quota_exceeded:user.writes_a_minute"
    clock.advance(timedelta(seconds=61))
    assert (await gate.write([Candidate(content="second note")], actor=ADA)).receipts[0].outcome is Outcome.CREATED


def test_what_became_of_a_batch_is_told_by_outcome() -> None:
    def receipt(outcome: Outcome, key: str) -> WriteReceipt:
        return WriteReceipt(outcome=outcome, key=key, memory_id=None if outcome is Outcome.BLOCKED else key)

    told = GatewayWrite(
        receipts=(
            receipt(Outcome.CREATED, "a"),
            receipt(Outcome.REFRESHED, "b"),
            receipt(Outcome.SUPERSEDED, "c"),
            receipt(Outcome.BLOCKED, "d"),
        )
    )
    assert told.keys(refreshed=False) == ["a", "c"]
    assert told.keys(refreshed=True) == ["b"]
    assert [one.key for one in told.failed] == ["d"]


async def test_watchers_hear_of_every_write_and_every_search() -> None:
    writes: list[WriteReceipt] = []
    searches: list[SearchResult] = []
    gate = await gateway(watchers=Watchers(on_write=writes.append, on_search=searches.append))
    written = await gate.write([Candidate(content="Likes tea"), Candidate(content="Has a boat")], actor=ADA)
    found = await gate.retrieve(Intent(query="tea"), actor=ADA)
    assert tuple(writes) == written.receipts
    assert searches == [found]
    assert Watchers().report_search(found) is found


async def heard(**given: Any) -> tuple[MemoryGateway, list[Call]]:
    """Return a gateway whose dispatcher remembers each call, and those calls."""
    gate, calls = await gateway(**given), list[Call]()

    async def remember(call: Call, proceed: Proceed) -> Any:
        calls.append(call)
        return await proceed(call)

    dispatcher = gate._own_dispatcher()
    return replace(gate, dispatcher=replace(dispatcher, middleware=(remember, *dispatcher.middleware))), calls


async def test_a_long_message_is_written_in_portions_of_the_budget() -> None:
    gate, calls = await heard(budget=Budget(max_capture_items=3), grant=Grant(denied_keys=frozenset({"tier"})))
    notes = [Candidate(content=f"note {number}") for number in range(6)]
    notes[1], notes[4] = (Candidate(content=content, key="tier") for content in ("gold", "silver"))
    until = Deadline.after(timedelta(seconds=5), gate.clock.monotonic)
    written = await gate.write_captured(notes, actor=ADA, idempotency_key="m1", deadline=until)
    assert [call.request.candidates for call in calls] == [tuple(notes[:3]), tuple(notes[3:])]
    assert [call.request.idempotency_keys for call in calls] == [
        tuple(item_key("m1", note) for note in part) for part in (notes[:3], notes[3:])
    ]
    assert {(call.actor, call.deadline) for call in calls} == {(ADA, until)}
    assert [receipt.outcome for receipt in written.receipts] == [Outcome.CREATED] * 4
    assert [blocked.key for blocked in written.blocked] == ["tier", "tier"]
    stored = await gate.searcher.store.scan(ADA.tenant, statuses=list(Status))
    assert sorted(memory.memory_id for memory in stored) == sorted(str(one.memory_id) for one in written.receipts)


async def test_a_delivery_in_portions_changes_nothing_the_second_time() -> None:
    gate, _ = await heard(
        budget=Budget(max_capture_items=1), policy=Policy.of(KeyRule("visit", on_change="accumulate"))
    )
    places = [Candidate(content=place, key="visit") for place in ("Rome", "Oslo")]
    first, again = [await gate.write_captured(places, actor=ADA, idempotency_key="m1") for _ in range(2)]
    assert [one.memory_id for one in again.receipts] == [one.memory_id for one in first.receipts]
    await gate.write_captured(places, actor=ADA)
    assert len(await gate.searcher.store.requests(ADA.tenant)) == 2, "without a key nothing is kept of the delivery"


@pytest.mark.parametrize(("candidates", "portions"), [(0, [0]), (1, [1]), (2, [2]), (3, [2, 1]), (4, [2, 2])])
async def test_each_portion_is_one_request_and_so_is_nothing_at_all(candidates: int, portions: list[int]) -> None:
    gate, calls = await heard(budget=Budget(max_capture_items=2))
    written = await gate.write_captured([Candidate(content=f"n {one}") for one in range(candidates)], actor=ADA)
    assert [len(call.request.candidates) for call in calls] == portions
    assert (len(written.receipts), written.blocked) == (candidates, ())


# -- searching ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("intent", "reason"),
    [
        (Intent(query="q" * 11), "invalid_retrieval_intent:query_too_long"),
        (Intent(query="q", top_k=0), "invalid_retrieval_intent:top_k"),
        (Intent(query="q", top_k=4), "invalid_retrieval_intent:top_k"),
    ],
)
async def test_an_intent_beyond_the_budget_is_refused(intent: Intent, reason: str) -> None:
    gate = await gateway(budget=Budget(max_query_chars=10, max_retrieve_top_k=3))
    with pytest.raises(InvalidIntent) as refused:
        await gate.retrieve(intent, actor=ADA)
    assert refused.value.reason == reason


async def test_an_intent_may_take_the_whole_budget() -> None:
    gate = await gateway(budget=Budget(max_query_chars=10, max_retrieve_top_k=3))
    await gate.write([Candidate(content=f"tea number {number}") for number in range(4)], actor=ADA)
    assert len((await gate.retrieve(Intent(query="tea tea te", top_k=3), actor=ADA)).hits) == 3
    assert len((await gate.retrieve(Intent(query="tea", top_k=1), actor=ADA)).hits) == 1


async def test_a_search_reaches_the_granted_scopes_of_its_actor_only() -> None:
    gate = await gateway(grant=BOTH)
    await gate.write([Candidate(content="my tea"), Candidate(content="our tea", level="workspace")], actor=ADA)
    assert sorted(said(await gate.retrieve(Intent(query="tea"), actor=ADA))) == ["my tea", "our tea"]
    assert said(await gate.retrieve(Intent(query="tea", levels=("workspace",)), actor=ADA)) == ["our tea"]
    assert said(await gate.retrieve(Intent(query="tea"), actor=Actor(user="ben", workspace="w1"))) == ["our tea"]
    assert said(await gate.retrieve(Intent(query="tea"), actor=Actor(tenant="rival", user="ada", workspace="w1"))) == []
    with pytest.raises(ScopeDenied):
        await gate.retrieve(Intent(query="tea", levels=("agent",)), actor=ADA)


async def test_a_granted_level_without_an_owner_is_no_obstacle() -> None:
    gate = await gateway(grant=BOTH)
    bea = Actor(user="bea")
    await gate.write([Candidate(content="my tea")], actor=bea)
    assert said(await gate.retrieve(Intent(query="tea"), actor=bea)) == ["my tea"]
    assert [
        hit.memory.content for hit in (await recall(gate, RecallRequest(intent=Intent(query="tea")), actor=bea)).hits
    ] == ["my tea"]
    with pytest.raises(InvalidInput) as refused:
        await gate.retrieve(Intent(query="tea", levels=("workspace",)), actor=bea)
    assert refused.value.reason == "invalid_input:scope:workspace"


async def test_a_filter_says_all_that_the_intent_says() -> None:
    gate = await gateway()
    now = gate.clock.now()
    intent = Intent(
        query="tea",
        levels=("user",),
        kinds=(Kind.LONG_TERM, Kind.ENTITY),
        categories=("preference",),
        keys=("seat",),
        happened_from=now - 3 * DAY,
        happened_to=now - 2 * DAY,
        as_of=now - DAY,
    )
    assert gate.where(intent, ADA) == Where(
        scopes=(ADA.scope(Level.USER),),
        kinds=frozenset({Kind.LONG_TERM, Kind.ENTITY}),
        categories=frozenset({"preference"}),
        keys=frozenset({"seat"}),
        happened_from=now - 3 * DAY,
        happened_to=now - 2 * DAY,
        as_of=now - DAY,
        live_at=now,
    )
    plain = gate.where(Intent(query="tea", levels=("user",)), ADA)
    assert plain == Where(scopes=(ADA.scope(Level.USER),), live_at=now)


async def test_no_kinds_is_none_of_them_and_not_every_one() -> None:
    gate = await gateway()
    empty = gate.where(Intent(query="tea", levels=("user",), kinds=(), categories=(), keys=()), ADA)
    assert (empty.kinds, empty.categories, empty.keys) == (frozenset(), frozenset(), frozenset())


async def test_what_was_revoked_is_not_found_from_that_moment_on() -> None:
    gate = await gateway(limits=Limits(consent_keys=frozenset({"health"})))
    store = gate.searcher.store
    await gate.write([Candidate(content="aisle tea", key="seat")], actor=ADA)
    assert await gate.hidden_keys(ADA) == {"health"}
    assert said(await gate.retrieve(Intent(query="tea"), actor=ADA)) == ["aisle tea"]
    await decide_consent(store, gate.clock, "seat", granted=False, user="ada", actor=ADA, policy=gate.policy)
    assert await gate.hidden_keys(ADA) == {"health", "seat"}
    found = await gate.retrieve(Intent(query="tea"), actor=ADA)
    assert (said(found), found.where.hidden_keys) == ([], {"health", "seat"})
    assert await gate.hidden_keys(Actor(user="ben")) == {"health"}
    refused = await gate.write([Candidate(content="window", key="seat")], actor=ADA)
    assert [blocked.reason for blocked in refused.blocked] == ["consent_required:seat"]


class Watched(WordEmbedder):
    """Remembers what it was given to embed, and until when."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[tuple[str, ...], Deadline | None]] = []

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[bytes]:
        self.seen.append((tuple(texts), deadline))
        return await super().embed(texts, deadline=deadline)


async def test_a_query_is_redacted_and_carries_its_deadline() -> None:
    embedder, store, clock = Watched(), InProcessStore(), ManualClock()
    await store.open(embedder.space)
    gate = await gateway(store, clock, searcher=Searcher(store, embedder))
    until = Deadline.after(timedelta(seconds=5), clock.monotonic)
    await gate.retrieve(Intent(query="Who is ada@example.com?"), actor=ADA, deadline=until)
    ((texts, deadline),) = embedder.seen
    assert deadline is until
    assert "ada@example.com" not in " ".join(texts)
    assert "[EMAIL" in texts[0]


async def test_a_search_as_it_was_asked_then() -> None:
    clock = ManualClock()
    gate = await gateway(clock=clock)
    await gate.write([Candidate(content="green tea")], actor=ADA)
    before = clock.now()
    clock.advance(2 * DAY)
    await gate.write([Candidate(content="black tea")], actor=ADA)
    assert sorted(said(await gate.retrieve(Intent(query="tea"), actor=ADA))) == ["black tea", "green tea"]
    assert said(await gate.retrieve(Intent(query="tea", known_at=before), actor=ADA)) == ["green tea"]
    assert said(await gate.retrieve(Intent(query="harbour lights", min_score=0.99), actor=ADA)) == []
    yesterday = (await gate.retrieve(Intent(query="what did I say of tea yesterday"), actor=ADA)).plan
    assert yesterday.told_from == (clock.now() - DAY).date()


# -- the bias ----------------------------------------------------------------------------------------------------------

BIASED = Policy.of(
    KeyRule("seat", preference=True),
    KeyRule("diet", pinned=True),
    "language",
    preference_bias=0.25,
    pinned_kinds=frozenset({Kind.PERSONA}),
    pinned_categories=frozenset({"wish"}),
)


async def test_the_policy_says_what_stands_and_what_is_lifted() -> None:
    gate = await gateway(policy=BIASED)
    stands: dict[str, Any] = {
        "bonus": 0.25,
        "pinned_keys": frozenset({"diet"}),
        "pinned_kinds": frozenset({Kind.PERSONA}),
        "pinned_categories": frozenset({"wish"}),
    }
    assert gate.bias(False) == PreferenceBias(**stands)
    assert gate.bias(True) == PreferenceBias(keys=frozenset({"seat"}), **stands)
    beside = {**stands, "pinned_categories": frozenset({"wish", "preference"})}
    assert gate.with_pinned(True, 3) == PreferenceBias(keys=frozenset({"seat"}), beside=3, **beside)
    assert gate.with_pinned(False, 0) == PreferenceBias(beside=0, **beside)
    assert (await gateway()).bias(True).keys == frozenset()


async def test_a_preference_comes_where_the_bias_is_asked_for() -> None:
    gate = await gateway(policy=BIASED)
    await gate.write([Candidate(content="aisle", key="seat"), Candidate(content="German", key="language")], actor=ADA)
    lifted = await gate.retrieve(Intent(query="zebra"), actor=ADA, preference_bias=True)
    assert {hit.memory.key for hit in lifted.hits if hit.reason == "preference_bias"} == {"seat"}
    plain = await gate.retrieve(Intent(query="zebra"), actor=ADA)
    assert {hit.reason for hit in plain.hits} <= {"relevance"}


async def test_a_store_that_is_gone_is_no_empty_answer() -> None:
    gate = await gateway()
    await gate.searcher.store.close()
    with pytest.raises(StoreFailed):
        await gate.retrieve(Intent(query="tea"), actor=ADA)
