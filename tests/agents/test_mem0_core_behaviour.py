"""Behaviour that mem0's own core tests check by its internals (tests/test_memory.py, tests/memory/test_main.py and
tests/memory/test_session_scope.py of mem0 2.0.18), checked here from outside, in both facades.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from mnemic import requests
from mnemic.agents.compat.mem0 import AsyncMemory, LLMError, ValidationError
from mnemic.dispatch import Call as Call_
from mnemic.dispatch import Proceed
from mnemic.engine import MemoryEngine
from mnemic.errors import ModelUnavailable, StoreBusy
from mnemic.extract.layered_extractor import LayeredExtractor
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.models.openai_completer import OpenAICompleter
from mnemic.policy.key_rules import Policy
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from tests.scripted_model import Reply, ScriptedModelServer

ALICE = {"user_id": "alice"}


@pytest.fixture
async def memory() -> AsyncIterator[AsyncMemory]:
    """Asynchronous facade; the synchronous one calls the same methods."""
    engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=ManualClock())
    async with AsyncMemory(engine=engine) as memory:
        yield memory


async def kept(memory: AsyncMemory, text: str, user: str = "alice", **given: Any) -> str:
    (row,) = (await memory.add(text, user_id=user, infer=False, **given))["results"]
    return str(row["id"])


async def shown(memory: AsyncMemory, memory_id: str) -> dict[str, Any]:
    found = await memory.get(memory_id)
    assert found is not None
    return found


async def test_a_missing_memory_is_none_and_nothing_is_done_to_it(memory: AsyncMemory) -> None:
    missing = "0b7c1f0e-1111-4222-8333-000000000000"
    assert await memory.get(missing) is None
    assert await memory.get("no uuid") is None
    for call in (memory.delete(missing), memory.update(missing, text="x"), memory.update(missing, metadata={"a": 1})):
        with pytest.raises(ValidationError, match="not found"):
            await call
    assert await memory.history(missing) == []


async def test_times_are_utc_and_an_update_moves_one_of_them(memory: AsyncMemory) -> None:
    memory_id = await kept(memory, "I like tea.")
    before = await shown(memory, memory_id)
    assert datetime.fromisoformat(before["created_at"]).utcoffset() == timedelta(0)
    memory.engine.clock.advance(timedelta(hours=1))  # type: ignore[attr-defined]
    await memory.update(memory_id, text="I like cocoa.")
    after = await shown(memory, memory_id)
    assert after["created_at"] == before["created_at"]
    assert after["updated_at"] > (before["updated_at"] or before["created_at"])


async def test_every_way_to_read_shows_the_same_times(memory: AsyncMemory) -> None:
    memory_id = await kept(memory, "I like tea.")
    memory.engine.clock.advance(timedelta(hours=1))  # type: ignore[attr-defined]
    await memory.update(memory_id, text="I like green tea.")
    one = await shown(memory, memory_id)
    (listed,) = (await memory.get_all(filters=ALICE))["results"]
    (hit,) = (await memory.search("tea", filters=ALICE, threshold=0))["results"]
    for name in ("id", "memory", "created_at", "updated_at", "user_id", "metadata"):
        assert one[name] == listed[name] == hit[name]


async def test_a_deleted_memory_leaves_a_row_with_its_times(memory: AsyncMemory) -> None:
    memory_id = await kept(memory, "I like tea.")
    made = (await shown(memory, memory_id))["created_at"]
    memory.engine.clock.advance(timedelta(hours=1))  # type: ignore[attr-defined]
    await memory.delete(memory_id)
    (row,) = await memory.history(memory_id)
    assert (row["event"], row["memory_id"], bool(row["is_deleted"])) == ("DELETE", memory_id, True)
    assert datetime.fromisoformat(row["updated_at"]).utcoffset() == timedelta(0)
    assert (row["created_at"], row["updated_at"]) == (made, memory.engine.clock.now().isoformat())


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (None, {"topic": "drinks", "cups": 2}),
        ({}, {"topic": "drinks", "cups": 2}),
        ({"cups": 3}, {"topic": "drinks", "cups": 3}),
        ({"user_id": "eve", "agent_id": "eve", "run_id": "eve"}, {"topic": "drinks", "cups": 2}),
    ],
)
async def test_an_update_keeps_metadata_and_never_the_identity(
    memory: AsyncMemory, given: dict[str, Any] | None, wanted: dict[str, Any]
) -> None:
    memory_id = await kept(memory, "I like tea.", agent_id="guide", metadata={"topic": "drinks", "cups": 2})
    await memory.update(memory_id, text="I like cocoa.", metadata=given)
    one = await shown(memory, memory_id)
    assert (one["metadata"], one["user_id"], one["agent_id"]) == (wanted, "alice", "guide")
    assert (await memory.get_all(filters={"user_id": "eve"}))["results"] == []


async def test_the_speaker_stays_with_an_update(memory: AsyncMemory) -> None:
    said = [{"role": "user", "content": "I like tea.", "name": "Ana"}]
    (row,) = (await memory.add(said, user_id="alice", infer=False))["results"]
    await memory.update(row["id"], text="I like cocoa.", metadata={"actor_id": "Bob"})
    one = await shown(memory, row["id"])
    assert (one["actor_id"], one["role"]) == ("Ana", "user")


async def test_metadata_cannot_set_the_identity(memory: AsyncMemory, caplog: pytest.LogCaptureFixture) -> None:
    memory_id = await kept(memory, "I like tea.", metadata={"user_id": "eve", "run_id": "eve", "topic": "drinks"})
    assert "ignoring metadata['run_id']" in caplog.text
    one = await shown(memory, memory_id)
    assert (one["user_id"], one.get("run_id"), one["metadata"]) == ("alice", None, {"topic": "drinks"})


Call = Callable[[AsyncMemory, str, dict[str, Any]], Awaitable[Any]]
CALLS: list[Call] = [
    lambda memory, _, data: memory.add("I like cocoa.", user_id="alice", infer=False, metadata=data),
    lambda memory, _, data: memory.add("I live in Oslo.", user_id="alice", metadata=data),
    lambda memory, one, data: memory.update(one, text="I like cocoa.", metadata=data),
    lambda memory, _, data: memory.search("tea", filters={**ALICE, "tags": {"in": data["tags"]}}),
]


@pytest.mark.parametrize("call", CALLS)
async def test_the_callers_values_are_not_changed(memory: AsyncMemory, call: Call) -> None:
    memory_id = await kept(memory, "I like tea.")
    data = {"tags": ["a", "b"], "nested": {"deep": [1, {"x": 2}]}, "user_id": "eve"}
    before = copy.deepcopy(data)
    await call(memory, memory_id, data)
    assert data == before


async def test_a_time_of_creation_in_metadata_is_shown_as_one(memory: AsyncMemory) -> None:
    told = "2023-05-06T09:19:20+00:00"
    memory_id = await kept(memory, "I like tea.", metadata={"created_at": told, "topic": "drinks"})
    one = await shown(memory, memory_id)
    assert (one["created_at"], one["updated_at"], one["metadata"]) == (told, told, {"topic": "drinks"})
    await memory.update(memory_id, text="I like cocoa.", metadata={"created_at": "2001-01-01T00:00:00+00:00"})
    after = await shown(memory, memory_id)
    assert (after["created_at"], after["updated_at"] > told) == (told, True)
    odd = await shown(memory, await kept(memory, "I like milk.", metadata={"created_at": "yesterday"}))
    assert odd["metadata"] == {"created_at": "yesterday"}


@pytest.mark.parametrize("reply", ["invalid json", "", Reply(code=503, error="down"), Reply(code=400, error="no")])
async def test_where_policy_stops_an_unreadable_answer_is_logged_and_an_outage_is_raised(
    reply: str | Reply, caplog: pytest.LogCaptureFixture
) -> None:
    said = [{"role": "user", "content": "I keep bees in the garden."}]
    with ScriptedModelServer(lambda _: reply if isinstance(reply, Reply) else Reply(content=reply)) as server:
        completer = OpenAICompleter("scripted", base_url=server.base_url, api_key="test")
        parts: dict[str, Any] = {"store": InProcessStore(), "embedder": WordEmbedder(), "clock": ManualClock()}
        parts["policy"] = Policy(on_model_failure="stop")
        extractor = LayeredExtractor(ModelExtractor(completer))
        async with AsyncMemory(engine=MemoryEngine(extractor=extractor, completer=completer, **parts)) as memory:
            if isinstance(reply, str):
                assert await memory.add(said, user_id="alice") == {"results": []}
                assert "Error parsing extraction response: " in caplog.text
            else:
                with pytest.raises(LLMError, match="llm_unavailable") as raised:
                    await memory.add(said, user_id="alice")
                assert isinstance(raised.value.__cause__, ModelUnavailable)
        await completer.close()


async def test_shared_metadata_serves_several_calls(memory: AsyncMemory) -> None:
    shared = {"batch": 7}
    first, second = await kept(memory, "one", metadata=shared), await kept(memory, "two", metadata=shared)
    assert [(await shown(memory, one))["metadata"] for one in (first, second)] == [{"batch": 7}] * 2
    assert (await shown(memory, await kept(memory, "three")))["metadata"] in (None, {})


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        ({"year": {"gte": 2023, "lt": 2025}}, {"2023", "2024"}),
        ({"AND": [{"year": {"gte": 2023}}, {"year": {"lt": 2025}}]}, {"2023", "2024"}),
        ({"AND": [{"year": {"gte": 2022}}, {"year": {"lt": 2025}}, {"year": {"ne": 2023}}]}, {"2022", "2024"}),
        ({"AND": [{"year": {"gt": 2022}}, {"even": True}, {"year": {"lte": 2024}}]}, {"2024"}),
        ({"AND": [{"year": 2023}, {"even": False}]}, {"2023"}),
        ({"year": {"gt": 2021, "lte": 2024}, "even": True}, {"2022", "2024"}),
    ],
)
async def test_conditions_on_one_field_all_hold(memory: AsyncMemory, filters: dict[str, Any], wanted: set[str]) -> None:
    for year in (2021, 2022, 2023, 2024, 2025):
        await kept(memory, str(year), metadata={"year": year, "even": year % 2 == 0})
    found = (await memory.get_all(filters={**ALICE, **filters}))["results"]
    assert {one["memory"] for one in found} == wanted


async def test_deleting_all_takes_one_owner_and_a_reset_takes_all(memory: AsyncMemory) -> None:
    for user in ("alice", "bob"):
        for text in ("one", "two"):
            await kept(memory, text, user)
    await memory.delete_all(user_id="alice")
    assert (await memory.get_all(filters=ALICE))["results"] == []
    assert len((await memory.get_all(filters={"user_id": "bob"}))["results"]) == 2
    with pytest.raises(ValidationError, match="At least one"):
        await memory.delete_all()
    await memory.reset()
    assert (await memory.get_all(filters={"user_id": "bob"}))["results"] == []
    await kept(memory, "three", "bob")  # a memory after a reset works as before it
    assert len((await memory.get_all(filters={"user_id": "bob"}))["results"]) == 1


@pytest.mark.parametrize(
    "owner", ["user@example.com", "550e8400-e29b-41d4-a716-446655440000", "a1&user_id=alice", "a=="]
)
async def test_ids_with_delimiters_are_owners_of_their_own(memory: AsyncMemory, owner: str) -> None:
    await kept(memory, "of alice")
    await kept(memory, "of the other", owner)
    assert [one["memory"] for one in (await memory.get_all(filters={"user_id": owner}))["results"]] == ["of the other"]
    assert [one["memory"] for one in (await memory.get_all(filters=ALICE))["results"]] == ["of alice"]


@pytest.mark.parametrize("call", ["search", "get_all"])
async def test_owners_are_named_by_filters_alone(memory: AsyncMemory, call: str) -> None:
    words = ("x",) if call == "search" else ()
    for name in ("user_id", "agent_id", "run_id"):
        with pytest.raises(ValidationError, match="Top-level entity parameters"):
            await getattr(memory, call)(*words, **{name: "alice"})


async def test_a_last_day_changes_without_the_text(memory: AsyncMemory) -> None:
    memory_id = await kept(memory, "I like tea.", metadata={"topic": "drinks"})
    await memory.update(memory_id, expiration_date="2999-01-01")
    one = await shown(memory, memory_id)
    assert (one["memory"], one["expiration_date"]) == ("I like tea.", "2999-01-01")
    assert one["metadata"] == {"topic": "drinks"}


async def test_small_talk_gives_no_memory_and_no_error(memory: AsyncMemory) -> None:
    assert await memory.add([{"role": "user", "content": "hi"}], user_id="alice") == {"results": []}


async def test_what_an_agent_did_is_kept_as_one_memory(memory: AsyncMemory) -> None:
    steps = [
        {"role": "user", "content": "How do we deploy?"},
        {"role": "assistant", "content": "I ran the release script. It failed because the tag was missing."},
    ]
    (row,) = (await memory.add(steps, agent_id="deployer", memory_type="procedural_memory"))["results"]
    assert (row["event"], "release script" in row["memory"]) == ("ADD", True)
    found = await shown(memory, row["id"])
    assert (found["agent_id"], found["attributed_to"]) == ("deployer", "assistant")
    with pytest.raises(ValidationError, match="no content for the procedural memory summary"):
        await memory.add([], agent_id="deployer", memory_type="procedural_memory")
    with pytest.raises(ValidationError, match="Invalid memory_type: episodic"):
        await memory.add(steps, agent_id="deployer", memory_type="episodic")


async def test_who_said_it_is_a_field_of_every_answer(memory: AsyncMemory) -> None:
    memory_id = await kept(memory, "I live in Oslo.")
    listed = (await memory.get_all(filters=ALICE))["results"]
    found = (await memory.search("Where do I live?", filters=ALICE))["results"]
    assert [one["attributed_to"] for one in (await shown(memory, memory_id), *listed, *found)] == ["user"] * 3
    assert "attributed_to" not in ((await shown(memory, memory_id))["metadata"] or {})


async def test_an_explanation_has_the_parts_of_the_score(memory: AsyncMemory) -> None:
    await kept(memory, "I live in Oslo.")
    (found,) = (await memory.search("Where do I live?", filters=ALICE, explain=True))["results"]
    details = found["score_details"]
    assert details["semantic_score"] > 0
    assert details["bm25_score"] > 0
    assert (details["entity_boost"], details["final_score"], details["threshold"]) == (0.0, found["score"], 0.1)


async def test_deleting_all_goes_on_after_a_failure_and_tells_it() -> None:
    class Failing:
        """A store that cannot delete one memory."""

        def __init__(self) -> None:
            self.memory_id = ""

        async def __call__(self, call: Call_, *, proceed: Proceed) -> Any:
            if isinstance(call.request, requests.Forget) and call.request.memory_id == self.memory_id:
                raise StoreBusy
            return await proceed(call)

    failing = Failing()
    parts: dict[str, Any] = {"store": InProcessStore(), "embedder": WordEmbedder(), "clock": ManualClock()}
    async with AsyncMemory(engine=MemoryEngine(middleware=[failing], **parts)) as memory:
        await kept(memory, "one")
        failing.memory_id = await kept(memory, "two")
        await kept(memory, "three")
        with pytest.raises(StoreBusy):
            await memory.delete_all(user_id="alice")
        assert [one["memory"] for one in (await memory.get_all(filters=ALICE))["results"]] == ["two"]


async def test_arguments_of_a_search_are_read_as_mem0_reads_them(memory: AsyncMemory) -> None:
    await kept(memory, "I like tea.")
    for empty in ("", "   ", "\n\t"):
        with pytest.raises(ValueError, match=r"Invalid query.*empty or whitespace-only"):
            await memory.search(empty, filters=ALICE)
    found = [len((await memory.search("tea", filters=ALICE, threshold=least))["results"]) for least in (0, 0.0, 1)]
    assert found == [1, 1, 0]
    assert (await memory.search("tea", filters=ALICE, top_k=0))["results"] == []
    spaced = await memory.search("  tea  ", filters={"user_id": "  alice "})
    assert [row["memory"] for row in spaced["results"]] == ["I like tea."]


async def test_owners_may_be_numbers_and_have_blanks_around_them(memory: AsyncMemory) -> None:
    await memory.add("Forty-two.", user_id=42, infer=False)
    assert [row["user_id"] for row in (await memory.get_all(filters={"user_id": 42}))["results"]] == ["42"]
    await memory.delete_all(user_id=42)
    assert (await memory.get_all(filters={"user_id": "42"}))["results"] == []
    await kept(memory, "I like tea.")
    await memory.delete_all(user_id="  alice ")
    assert (await memory.get_all(filters=ALICE))["results"] == []


async def test_deleting_all_reaches_beyond_one_page(memory: AsyncMemory) -> None:
    for number in range(120):
        await kept(memory, f"Fact number {number} of many.")
    await memory.delete_all(user_id="alice")
    assert (await memory.get_all(filters=ALICE, top_k=1_000))["results"] == []
