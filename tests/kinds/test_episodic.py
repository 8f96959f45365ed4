"""Episodes: recorded whole and once, found again, and learnt from."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from mnemic.engine import MemoryEngine
from mnemic.errors import IdempotencyConflict, InvalidInput, MemoryNotFound, NotSupported
from mnemic.kinds.all_kinds import SevenKinds
from mnemic.kinds.episodic import Step
from mnemic.runtime.sync_facade import async_mode
from mnemic.stores.sqlite import SqliteStore
from mnemic.stores.sqlite.transaction import SqliteGraph
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Kind, Level, Memory, Outcome
from mnemic.types.graph import episode_node, fragment_of
from tests.unit.kinds.conftest import ANA, BEN, House

STEPS = [
    {"action": "book flight AF1234", "result": "unavailable", "ok": False},
    {"action": "book flight AF5678", "result": "confirmed", "ok": True},
]


async def test_a_similar_task_finds_the_episode_with_its_steps_in_order(house: House) -> None:
    episodic = house.kinds().episodic
    await episodic.record("Water the plants", [], outcome="success")
    receipt = await episodic.record("Book a flight to Paris for Monday", STEPS, outcome="success")
    best, *_ = await episodic.similar("book a flight to Paris")
    assert best.memory_id == receipt.memory_id
    assert best.outcome == "success"
    assert best.steps == tuple(Step(**step) for step in STEPS)  # type: ignore[arg-type]
    assert best.happened_at == house.clock.now()
    found = await episodic.similar("who has seen AF5678?", top_k=1)
    assert [one.memory_id for one in found] == [receipt.memory_id]


async def test_what_failed_before_is_told_with_what_worked_instead(house: House) -> None:
    episodic = house.kinds().episodic
    receipt = await episodic.record(
        "Book a flight to Paris", [*STEPS, {"action": "pay", "ok": False}], outcome="partial"
    )
    lessons = await episodic.lessons("flight to Paris")
    assert [(one.action, one.result, one.worked) for one in lessons] == [
        ("book flight AF1234", "unavailable", "book flight AF5678"),
        ("pay", "", None),
    ]
    assert {one.memory_id for one in lessons} == {receipt.memory_id}


async def test_only_those_that_ended_so(house: House) -> None:
    episodic = house.kinds().episodic
    for number, outcome in enumerate(["success", "failure", "success", "failure"]):
        await episodic.record(f"Book the train number {number}", [], outcome=outcome)  # type: ignore[arg-type]
    failed = await episodic.similar("book the train", outcome="failure", top_k=2)
    assert sorted(one.task[-1] for one in failed) == ["1", "3"]


async def test_feedback_is_added_and_read_with_its_episode(house: House) -> None:
    episodic = house.kinds().episodic
    receipt = await episodic.record("Recommend a restaurant", [Step(action="name Le Chat Noir")], outcome="success")
    assert receipt.memory_id is not None
    await episodic.feedback(receipt.memory_id, "Loved it.")
    house.clock.advance(timedelta(days=1))
    await episodic.feedback(receipt.memory_id, "But it was loud.")
    assert (await episodic.similar("recommend a restaurant"))[0].feedback == ("Loved it.", "But it was loud.")
    with pytest.raises(MemoryNotFound):
        await house.kinds(BEN).episodic.feedback(receipt.memory_id, "Mine?")


async def test_recorded_twice_it_is_there_once(house: House) -> None:
    episodic = house.kinds().episodic
    for _ in range(2):
        house.clock.advance(timedelta(seconds=5))
        await episodic.record("Book a flight", STEPS, outcome="success", episode_id="task-7")
    assert len(await episodic.similar("book a flight")) == 1
    with pytest.raises(IdempotencyConflict):
        await episodic.record("Book a flight", STEPS[:1], outcome="failure", episode_id="task-7")


async def test_the_same_task_may_happen_again(house: House) -> None:
    episodic = house.kinds().episodic
    for _ in range(2):
        house.clock.advance(timedelta(seconds=5))
        assert (await episodic.record("Book a flight", STEPS, outcome="success")).outcome is Outcome.CREATED
    assert len(await episodic.similar("book a flight")) == 2


async def test_users_do_not_see_each_others_episodes_and_ninety_days_end_them(house: House) -> None:
    await house.kinds().episodic.record("Book a flight", STEPS, outcome="success")
    assert await house.kinds(BEN).episodic.similar("book a flight") == []
    house.clock.advance(timedelta(days=90))
    assert await house.kinds().episodic.similar("book a flight") == []


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ("no list", "invalid_input:steps"),
        ([{"result": "x"}], "invalid_input:steps"),
        ([{"action": "x", "extra": 1}], "invalid_input:steps"),
        ([{"action": " "}], "invalid_input:steps"),
        ([{"action": "x", "ok": "yes"}], "invalid_input:steps"),
        ([{"action": "x"}] * 101, "invalid_input:steps"),
        ([{"action": "x" * 40_000}], "invalid_input:data:too_long"),
    ],
)
async def test_bad_steps_leave_nothing(house: House, steps: object, reason: str) -> None:
    episodic = house.kinds().episodic
    with pytest.raises(InvalidInput) as refused:
        await episodic.record("Book a flight", steps, outcome="success")  # type: ignore[arg-type]
    assert refused.value.reason == reason
    assert await episodic.similar("book a flight") == []
    with pytest.raises(InvalidInput, match="outcome"):
        await episodic.record("Book a flight", [], outcome="great")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="task"):
        await episodic.record(" ", [], outcome="success")


@pytest_asyncio.fixture
async def graphed(tmp_path: Path) -> AsyncIterator[MemoryEngine]:
    store, graph = SqliteStore(tmp_path / "m.db"), SqliteGraph(tmp_path / "m.db")
    async with MemoryEngine(store=store, graph=graph, embedder=WordEmbedder(), clock=ManualClock()) as engine:
        yield engine


async def test_an_episode_is_walked_from_its_task_over_its_steps_to_its_outcome(graphed: MemoryEngine) -> None:
    kinds = SevenKinds(graphed, ANA, async_mode())
    told = [
        Step(action="book AF1234", result="sold out", ok=False),
        Step(action="book AF5678", ok=True),
        Step(action="pay"),
    ]
    receipt = await kinds.episodic.record("Book a flight to Nice", told, outcome="success")
    memory_id = receipt.memory_id or ""
    walked = await kinds.episodic.walk(memory_id)
    assert [(one.node.label, one.node.name) for one in walked] == [
        ("step", "book AF1234"),
        ("step", "book AF5678"),
        ("step", "pay"),
        ("outcome", "success"),
    ]
    assert [one.path[0].relation for one in walked] == ["has_step", "has_step", "has_step", "ended_in"]
    assert graphed.graph is not None
    scope = ANA.scope(Level.USER)
    steps = await graphed.graph.nodes(scope, label="step")
    assert sorted(one.name for one in steps) == ["step 1: failed", "step 2: worked", "step 3: done"]
    first, last = episode_node(memory_id, "step:0"), episode_node(memory_id, "step:2")
    way = await graphed.graph.path(scope, first, last)
    assert way is not None
    assert len(way) == 2
    await kinds.entity.mention("Nice", label="place")
    assert [node.name for node in await kinds.entity.of_user()] == ["Nice"]
    with pytest.raises(MemoryNotFound):
        await SevenKinds(graphed, BEN, async_mode()).episodic.walk(memory_id)


async def test_the_graph_forgets_an_episode_with_it_and_with_its_subject(graphed: MemoryEngine) -> None:
    kinds = SevenKinds(graphed, ANA, async_mode())
    receipts = [
        await kinds.episodic.record(f"Task {number}", [{"action": "a"}], outcome="failure") for number in (1, 2)
    ]
    ids = [receipt.memory_id or "" for receipt in receipts]
    assert graphed.graph is not None
    assert await graphed.graph.traces(ANA.tenant, ids) == 10
    await graphed.forget(ids[0], actor=ANA)
    assert await graphed.graph.traces(ANA.tenant, ids) == 5
    await graphed.erase(ANA.user, actor=ANA)
    assert await graphed.graph.traces(ANA.tenant, ids) == 0


async def test_without_a_graph_there_is_no_walk(house: House) -> None:
    receipt = await house.kinds().episodic.record("Task", [], outcome="partial")
    with pytest.raises(NotSupported, match="not_supported:graph"):
        await house.kinds().episodic.walk(receipt.memory_id or "")


async def test_an_episode_that_is_not_well_formed_holds_nothing_of_the_graph() -> None:
    wrong = Memory(
        memory_id="m",
        kind=Kind.EPISODIC,
        category="episode",
        scope=ANA.scope(Level.USER),
        content="x",
        data={"steps": [{"action": "a"}]},
        created_at=datetime(2026, 3, 1, tzinfo=UTC),
        updated_at=datetime(2026, 3, 1, tzinfo=UTC),
    )
    assert fragment_of(wrong) is None
    assert fragment_of(replace(wrong, data={"steps": [], "outcome": "success"})) is not None
    assert fragment_of(replace(wrong, category=None)) is None
