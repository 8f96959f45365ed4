"""The engine's verbs, on the in-process store with a fast embedder."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import (
    InvalidCandidates,
    InvalidInput,
    KeyNotAllowed,
    MemoryNotFound,
    ScopeDenied,
    VersionConflict,
)
from mnemic.policy.grant import Grant
from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.policy.proposal_check import MAX_CONTENT_CHARS
from mnemic.retrieve.export import as_candidate
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Completion, Deadline, Kind, Message, Origin, Outcome, Prompt, Source

ANA = Actor(user="ana", workspace="travel", session="s1")
BEN = Actor(user="ben", workspace="travel", session="s2")
ELSEWHERE = Actor(tenant="other", user="ana", workspace="travel", session="s1")


@pytest.fixture
async def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def engine(clock: ManualClock) -> AsyncIterator[MemoryEngine]:
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=clock) as engine:
        yield engine


async def test_what_is_added_is_found_listed_and_counted(engine: MemoryEngine) -> None:
    receipt = await engine.add("The spare key hangs behind the blue door.", actor=ANA)
    assert (receipt.outcome, receipt.version, receipt.stored) == (Outcome.CREATED, 1, True)
    result = await engine.search("where is the spare key", actor=ANA)
    assert [hit.memory.memory_id for hit in result.hits] == [receipt.memory_id]
    assert set(result.hits[0].ranks) >= {"keyword", "vector"}
    assert not result.degraded
    assert [memory.memory_id for memory in await engine.list(actor=ANA)] == [receipt.memory_id]
    assert await engine.count(actor=ANA) == 1


async def test_nobody_else_sees_it_in_any_verb(engine: MemoryEngine) -> None:
    memory_id = (await engine.add("Ana is afraid of heights.", actor=ANA)).memory_id
    assert memory_id is not None
    for stranger in (BEN, ELSEWHERE):
        assert (await engine.search("afraid of heights", actor=stranger)).hits == ()
        assert await engine.list(actor=stranger) == []
        assert [entry async for entry in engine.export(actor=stranger)] == []
        for verb in (engine.get, engine.history, engine.forget):
            with pytest.raises(MemoryNotFound):
                await verb(memory_id, actor=stranger)
        with pytest.raises(MemoryNotFound):
            await engine.update(memory_id, "x", actor=stranger)
    assert (await engine.get(memory_id, actor=ANA)).content == "Ana is afraid of heights."


async def test_a_correction_is_a_further_version(engine: MemoryEngine, clock: ManualClock) -> None:
    memory_id = (await engine.add("The meeting is on Monday.", actor=ANA)).memory_id
    assert memory_id is not None
    clock.advance(timedelta(hours=1))
    receipt = await engine.update(memory_id, "The meeting is on Tuesday.", actor=ANA, expected_version=1)
    assert (receipt.memory_id, receipt.version) == (memory_id, 2)
    assert [memory.content for memory in await engine.history(memory_id, actor=ANA)] == [
        "The meeting is on Monday.",
        "The meeting is on Tuesday.",
    ]
    with pytest.raises(VersionConflict):
        await engine.update(memory_id, "The meeting is on Friday.", actor=ANA, expected_version=1)
    hits = (await engine.search("meeting", actor=ANA)).hits
    assert [hit.memory.content for hit in hits] == ["The meeting is on Tuesday."]


async def test_what_is_forgotten_is_gone_with_its_history(engine: MemoryEngine) -> None:
    memory_id = (await engine.add("A secret garden.", actor=ANA)).memory_id
    assert memory_id is not None
    await engine.update(memory_id, "A hidden garden.", actor=ANA)
    await engine.forget(memory_id, actor=ANA)
    assert (await engine.search("garden", actor=ANA)).hits == ()
    for verb in (engine.get, engine.history, engine.forget):
        with pytest.raises(MemoryNotFound):
            await verb(memory_id, actor=ANA)
    assert [event.action for event in await engine.audit(actor=ANA)][-1] == "forgotten"


async def test_a_memory_is_hidden_from_the_moment_it_expires(engine: MemoryEngine, clock: ManualClock) -> None:
    await engine.add("The code is 4711 this week.", actor=ANA, ttl=timedelta(days=7))
    clock.advance(timedelta(days=6, hours=23))
    assert len((await engine.search("code", actor=ANA)).hits) == 1
    clock.advance(timedelta(hours=1))
    assert (await engine.search("code", actor=ANA)).hits == ()
    clock.jump_to(clock.now() - timedelta(days=3))
    assert len((await engine.search("code", actor=ANA)).hits) == 1


async def test_what_stands_comes_before_the_hits_and_beside_them(engine: MemoryEngine) -> None:
    await engine.add("Always answer in metric units.", category="instruction", actor=ANA)
    await engine.add("Prefers oat milk.", category="preference", actor=ANA)
    await engine.add("The ferry leaves at nine.", actor=ANA)
    asked = {"actor": ANA, "top_k": 1}
    found = await engine.search("When does the ferry leave?", pinned=5, **asked)
    assert [(hit.reason, hit.pinned) for hit in found.hits] == [("standing", True)] * 2 + [("relevance", False)]
    assert found.hits[-1].memory.content == "The ferry leaves at nine."
    only = await engine.search("Which milk?", pinned=1, **asked)
    assert only.hits[0].memory.content == "Prefers oat milk."
    assert not any(hit.pinned for hit in (await engine.search("When does the ferry leave?", **asked)).hits)
    with pytest.raises(InvalidInput, match="invalid_input:pinned"):
        await engine.search("x", pinned=101, **asked)


async def test_what_stands_is_no_wider_than_the_filters(engine: MemoryEngine) -> None:
    await engine.add("Always answer in metric units.", category="instruction", actor=ANA)
    await engine.add("Prefers oat milk.", category="preference", actor=ANA)
    found = await engine.search("milk", actor=ANA, categories=["instruction"], pinned=5)
    assert [hit.memory.category for hit in found.hits] == ["instruction"]
    assert not (await engine.search("milk", actor=BEN, pinned=5)).hits


async def test_a_search_by_name_finds_what_is_named_or_nothing(engine: MemoryEngine) -> None:
    await engine.add("Runs on the ring buffer.", key="message_queue", data={"names": ["DLQ"]}, actor=ANA)
    await engine.add("Runs on rails.", key="tram", actor=ANA)
    for query, keys in (("Is the DLQ empty?", ["message_queue"]), ("message queue or tram", ["message_queue", "tram"])):
        found = await engine.search(query, actor=ANA, named=True)
        assert sorted(str(hit.memory.key) for hit in found.hits) == keys
    assert not (await engine.search("What runs on rails?", actor=ANA, named=True)).hits
    assert (await engine.search("What runs on rails?", actor=ANA)).hits


async def test_filters_narrow_a_search(engine: MemoryEngine) -> None:
    may, june = datetime(2026, 5, 10, tzinfo=UTC), datetime(2026, 6, 10, tzinfo=UTC)
    await engine.add("Hiked to the lake.", actor=ANA, occurred_at=may, category="event")
    await engine.add("Hiked to the glacier.", actor=ANA, occurred_at=june, category="event", kind="episodic")
    await engine.add("hiking", actor=ANA, key="hobby")

    async def found(**filters: object) -> set[str]:
        result = await engine.search("hiked hiking", actor=ANA, **filters)  # type: ignore[arg-type]
        return {hit.memory.content for hit in result.hits}

    assert await found(categories=["event"]) == {"Hiked to the lake.", "Hiked to the glacier."}
    assert await found(kinds=["episodic"]) == {"Hiked to the glacier."}
    assert await found(keys=["hobby"]) == {"hiking"}
    assert await found(happened_from=june, categories=["event"]) == {"Hiked to the glacier."}
    assert await found(happened_to=june, categories=["event"]) == {"Hiked to the lake."}
    assert await found(min_score=1.0) == set()
    assert len(await found(top_k=1)) == 1


async def test_as_of_asks_what_was_true_then(engine: MemoryEngine, clock: ManualClock) -> None:
    before = clock.now()
    await engine.add("Madrid", actor=ANA, key="home_city")
    clock.advance(timedelta(days=30))
    receipt = await engine.add("Lisbon", actor=ANA, key="home_city")
    assert receipt.outcome is Outcome.SUPERSEDED
    now = await engine.search("home city", actor=ANA)
    then = await engine.search("home city", actor=ANA, as_of=before + timedelta(days=1))
    assert [hit.memory.content for hit in now.hits] == ["Lisbon"]
    assert [hit.memory.content for hit in then.hits] == ["Madrid"]


async def test_an_empty_query_lists_the_newest(engine: MemoryEngine, clock: ManualClock) -> None:
    for day in range(3):
        await engine.add(f"Day {day}: something new.", actor=ANA, occurred_at=clock.now() + timedelta(days=day))
    hits = (await engine.search("  ", actor=ANA, top_k=2)).hits
    assert [hit.memory.content[:5] for hit in hits] == ["Day 2", "Day 1"]


@pytest.mark.parametrize("top_k", [0, -1, 101, True, 1.5, "5"])
async def test_top_k_has_bounds(engine: MemoryEngine, top_k: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        await engine.search("x", actor=ANA, top_k=top_k)  # type: ignore[arg-type]
    assert refused.value.reason == "invalid_input:top_k"


async def test_levels_need_to_be_granted(engine: MemoryEngine) -> None:
    receipt = await engine.add("The team meets at nine.", actor=ANA, level="workspace")
    assert (receipt.outcome, receipt.reason) == (Outcome.BLOCKED, "scope_denied_execution")
    with pytest.raises(ScopeDenied) as denied:
        await engine.search("team", actor=ANA, levels=["workspace"])
    assert denied.value.reason == "scope_denied:workspace"


async def test_a_workspace_is_shared_by_its_users_and_by_nobody_else() -> None:
    grant = Grant(levels=frozenset({"user", "workspace"}))
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), grant=grant) as engine:
        await engine.add("The team meets at nine.", actor=ANA, level="workspace")
        seen = await engine.search("when does the team meet", actor=BEN)
        assert [hit.memory.content for hit in seen.hits] == ["The team meets at nine."]
        other = Actor(user="ben", workspace="payments")
        assert (await engine.search("when does the team meet", actor=other)).hits == ()


@pytest.mark.parametrize("content", ["", "   ", "x" * 8193, "a\x00b", "\ud800", None, 5])
async def test_bad_content_is_refused_and_nothing_is_stored(engine: MemoryEngine, content: object) -> None:
    with pytest.raises((InvalidInput, InvalidCandidates)):
        await engine.add(content, actor=ANA)  # type: ignore[arg-type]
    assert await engine.count(actor=ANA) == 0


@pytest.mark.parametrize("confidence", [float("nan"), float("inf"), True, "high", None])
async def test_confidence_is_a_finite_number(engine: MemoryEngine, confidence: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        await engine.add("x", actor=ANA, confidence=confidence)  # type: ignore[arg-type]
    assert refused.value.reason == "invalid_input:confidence"


async def test_a_kind_must_exist_and_a_key_must_be_allowed() -> None:
    policy = Policy.of(KeyRule("language"))
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), policy=policy) as engine:
        with pytest.raises(InvalidInput) as unknown:
            await engine.add("x", actor=ANA, kind="diary")
        assert unknown.value.reason == "invalid_input:kind"
        with pytest.raises(KeyNotAllowed) as refused:
            await engine.add("45", actor=ANA, key="shoe_size")
        assert refused.value.reason == "memory_key_not_allowed_policy:shoe_size"


async def test_in_a_batch_a_bad_one_is_blocked_and_stops_no_other(engine: MemoryEngine) -> None:
    receipts = await engine.add_many(
        [Candidate(content="Good one."), Candidate(content=" "), Candidate(content="Good two.", level="workspace")],
        actor=ANA,
    )
    assert [receipt.outcome for receipt in receipts] == [Outcome.CREATED, Outcome.BLOCKED, Outcome.BLOCKED]
    assert [receipt.reason for receipt in receipts][1:] == ["invalid_memory_candidates:value", "scope_denied_execution"]
    assert await engine.count(actor=ANA) == 1


async def test_a_conversation_is_recorded_once(engine: MemoryEngine) -> None:
    at = datetime(2026, 5, 10, 9, tzinfo=UTC)
    messages = [
        Message(role="user", speaker="Ana", content="I bought a kayak.", session="d1", message_id="m1", sent_at=at),
        Message(role="user", speaker="Ben", content="What colour?", session="d1", message_id="m2", sent_at=at),
        Message(role="user", speaker="Ana", content="  ", session="d1", message_id="m3", sent_at=at),
        Message(role="user", speaker="Ana", content="Red!", session="d1", message_id="m4", sent_at=at),
    ]
    first = await engine.record(messages, actor=ANA)
    again = await engine.record(messages, actor=ANA)
    assert [receipt.outcome for receipt in first] == [Outcome.CREATED] * 3
    assert [receipt.was_duplicate for receipt in again] == [True] * 3
    hits = (await engine.search("What colour is Ana's kayak?", actor=ANA, kinds=["episodic"])).hits
    assert {hit.memory.source.ref for hit in hits} == {"m1", "m2", "m4"}
    assert {hit.memory.source.speaker for hit in hits} == {"Ana", "Ben"}


async def test_an_export_goes_into_another_store(engine: MemoryEngine) -> None:
    await engine.add("Madrid", actor=ANA, key="home_city", data={"since": 2019})
    await engine.add("Seen on a page.", actor=ANA, origin=Origin.WEB)
    lines = [json.dumps(entry) async for entry in engine.export(actor=ANA)]
    assert len(lines) == 2
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder()) as other:
        await other.add_many([as_candidate(json.loads(line)) for line in lines], actor=BEN)
        memories = {memory.content: memory for memory in await other.list(actor=BEN)}
    assert memories["Madrid"].key == "home_city"
    assert memories["Madrid"].data == {"since": 2019}
    assert memories["Madrid"].source.origin is Origin.IMPORT
    assert memories["Seen on a page."].source.origin is Origin.WEB


async def test_the_token_budget_cuts_hits(engine: MemoryEngine) -> None:
    for number in range(5):
        await engine.add(f"Lake number {number} is deep and cold in winter and in spring.", actor=ANA)
    everything = (await engine.search("lake", actor=ANA)).hits
    some = (await engine.search("lake", actor=ANA, max_tokens=60)).hits
    assert 0 < len(some) < len(everything)


async def test_a_run_needs_something_to_do(engine: MemoryEngine) -> None:
    with pytest.raises(InvalidInput) as refused:
        await engine.run(actor=ANA)
    assert refused.value.reason == "invalid_input:run"
    with pytest.raises(InvalidInput):
        await engine.run(actor=ANA, goal=" ")


async def test_tool_output_cannot_replace_what_the_user_said(engine: MemoryEngine) -> None:
    await engine.add("Madrid", actor=ANA, key="home_city")
    receipt = await engine.add(
        Candidate(content="Berlin", key="home_city", source=Source(origin=Origin.TOOL_OUTPUT)), actor=ANA
    )
    assert receipt.outcome is Outcome.PENDING_REVIEW
    assert [memory.content for memory in await engine.list(actor=ANA)] == ["Madrid"]
    assert [hit.memory.content for hit in (await engine.search("home city", actor=ANA)).hits] == ["Madrid"]


async def test_kinds_without_a_home_in_the_store_are_refused(engine: MemoryEngine) -> None:
    for kind in (Kind.WORKING, Kind.SHORT_TERM):
        with pytest.raises((InvalidInput, InvalidCandidates)) as refused:
            await engine.add("x", actor=ANA, kind=kind)
        assert refused.value.reason.endswith(("kind", "kind:not_durable"))


async def test_a_message_too_long_for_a_memory_is_kept_in_parts(tmp_path: Path) -> None:
    words = [f"word{number}" for number in range(2500)]
    places = range(0, 2500, 100)
    for place in places:
        words[place] = "4111 1111 1111 1111"
    said = Message(role="user", content=" ".join(words))
    assert len(said.content) > 2 * MAX_CONTENT_CHARS
    async with MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder()) as engine:
        receipts = await engine.record([said, Message(role="user", content="Short.")], actor=ANA)
        kept = [memory async for memory in engine.export(actor=ANA)]
        again = await engine.record([said], actor=ANA)
    assert [receipt.outcome for receipt in receipts] == [Outcome.CREATED] * 4
    assert all(receipt.was_duplicate for receipt in again)
    text = " ".join(memory["content"] for memory in reversed(kept[1:]))
    assert "4111" not in text
    assert [word for word in text.split() if word.startswith("word")] == [word for word in words if word[0] == "w"]


async def test_a_question_about_two_things_finds_both(engine: MemoryEngine) -> None:
    for place in range(4):
        await engine.add(f"The kettle of steel number {place} was bought.", actor=ANA)
    await engine.add("A toaster came from uncle Teo.", actor=ANA)
    found = await engine.search(
        "Which steel kettle bought came first, the steel kettle or the toaster?", actor=ANA, top_k=2
    )
    texts = [hit.memory.content for hit in found.hits]
    assert "A toaster came from uncle Teo." in texts
    assert any("kettle" in text for text in texts)
    assert all({"vector", "keyword"} & set(hit.ranks) for hit in found.hits)


async def test_what_was_told_at_the_time_that_is_asked_for_comes_first(engine: MemoryEngine) -> None:
    said = [
        Message(role="user", content="Bought a lamp.", session=f"s{day}", sent_at=datetime(2024, 5, day, tzinfo=UTC))
        for day in (20, 6, 1)
    ]
    await engine.record(said, actor=ANA)
    asked = datetime(2024, 5, 20, tzinfo=UTC)
    found = await engine.search("Which lamp did I buy two weeks ago?", actor=ANA, asked_at=asked)
    assert found.hits[0].memory.happened_at.day == 6
    with pytest.raises(InvalidInput, match="invalid_input:asked_at"):
        await engine.search("lamp", actor=ANA, asked_at=datetime(2024, 5, 20))  # noqa: DTZ001


async def test_a_name_is_found_however_much_else_is_known(engine: MemoryEngine) -> None:
    await engine.add("Runs on the ring buffer.", key="message_queue", data={"names": ["DLQ"]}, actor=ANA)
    others = [Candidate(content=f"The {number}. thing is empty, is it?", kind=Kind.EPISODIC) for number in range(120)]
    await engine.add_many(others, actor=ANA)
    (hit,) = (await engine.search("Is the DLQ empty?", actor=ANA, named=True)).hits
    assert hit.memory.key == "message_queue"


async def test_what_stands_is_found_by_name_only_where_it_is_named(engine: MemoryEngine) -> None:
    await engine.add("Prefers oat.", key="milk", category="preference", actor=ANA)
    await engine.add("Prefers rye.", key="bread", category="preference", actor=ANA)
    found = await engine.search("Which milk?", actor=ANA, named=True, pinned=5, preference_bias=True)
    assert [(hit.memory.key, hit.reason) for hit in found.hits] == [("milk", "standing")]
    assert not (await engine.search("Which one?", actor=ANA, named=True, pinned=5, preference_bias=True)).hits


async def test_a_preference_that_stands_comes_once(clock: ManualClock) -> None:
    policy = Policy(keys={"milk": KeyRule("milk", preference=True)})
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=clock, policy=policy) as engine:
        receipt = await engine.add("oat", key="milk", category="preference", actor=ANA)
        found = await engine.search("anything", actor=ANA, pinned=5, preference_bias=True)
    assert [(hit.memory.memory_id, hit.reason) for hit in found.hits] == [(receipt.memory_id, "standing")]


async def test_more_that_stands_than_may_come_is_chosen_by_relevance_in_every_way_of_standing(
    clock: ManualClock,
) -> None:
    policy = Policy(
        keys={"tea": KeyRule("tea", pinned=True)}, open_keys=True, pinned_categories=frozenset({"instruction"})
    )
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=clock, policy=policy) as engine:
        await engine.add("Prefers green tea to any coffee", key="tea", category="preference", actor=ANA)
        for subject in ("bread", "tents", "chess"):
            await engine.add(f"Always be brief about {subject}.", category="instruction", actor=ANA)
        found = await engine.search("green tea or coffee?", actor=ANA, pinned=2, top_k=1)
    assert found.hits[0].memory.key == "tea"
    assert [hit.pinned for hit in found.hits] == [True, True, False]


class Closing:
    """A language model that says when it was closed."""

    model = "m"
    closed = 0

    async def complete(self, prompt: Prompt, *, deadline: Deadline) -> Completion:
        raise AssertionError

    async def close(self) -> None:
        self.closed += 1


async def test_closing_the_engine_closes_the_language_model() -> None:
    completer = Closing()
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), completer=completer):
        assert completer.closed == 0
    assert completer.closed == 1


async def test_the_history_of_a_key_is_that_of_all_its_values() -> None:
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=ManualClock()) as engine:
        ana = Actor(user="ana")
        for seat in ("aisle", "window"):
            await engine.add(seat, key="seat", actor=ana)
        told = await engine.history(" seat ", actor=ana)
        assert [(one.content, one.version) for one in told] == [("aisle", 1), ("aisle", 2), ("window", 1)]
        for name in ("shoe_size", "\n", "x" * 500):
            with pytest.raises(MemoryNotFound):
                await engine.history(name, actor=ana)
        with pytest.raises(MemoryNotFound):
            await engine.history("seat", actor=Actor(user="ben"))


async def test_watchers_hear_of_every_verb_that_gives_a_receipt(engine: MemoryEngine) -> None:
    heard: list[str | None] = []
    engine.watchers.on_write = lambda receipt: heard.append(receipt.reason or str(receipt.outcome))

    added = await engine.add("Likes green tea", actor=ANA)
    await engine.add_many([Candidate(content="Plays chess on Sundays"), Candidate(content="")], actor=ANA)
    assert added.memory_id is not None
    await engine.update(added.memory_id, "Likes black tea", actor=ANA)
    await engine.rollback(added.memory_id, 1, actor=ANA)
    await engine.capture("I live in Oslo.", actor=ANA)
    await engine.forget(added.memory_id, actor=ANA)

    assert heard == ["created", "created", "invalid_memory_candidates:value", "revised", "rolled_back", "created"]


@pytest.mark.parametrize("least", [-0.1, 1.5, float("nan"), True, "0.5"])
async def test_a_least_relevance_outside_its_range_is_refused_and_no_empty_result(
    engine: MemoryEngine, least: float
) -> None:
    with pytest.raises(InvalidInput, match="invalid_input:min_score"):
        await engine.search("lamp", actor=ANA, min_score=least)
    with pytest.raises(InvalidInput, match="invalid_input:min_score"):
        await engine.run(actor=ANA, goal="Which lamp did I buy?", min_score=least)


async def test_views_of_an_engine_share_what_searches(engine: MemoryEngine) -> None:
    rules = engine.rules
    view = engine.under(policy=rules.policy, grant=rules.grant, budget=rules.budget, limits=rules.limits)

    assert view.searcher is engine.searcher
    assert view.gateway.searcher is engine.gateway.searcher
