"""The facade of mem0: its documented examples, on mnemic."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from mnemic.agents.compat import mem0
from mnemic.agents.compat.mem0 import AsyncMemory, Memory, ValidationError
from mnemic.engine import MemoryEngine
from mnemic.errors import NotSupported
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.models.openai_completer import OpenAICompleter
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor
from tests.scripted_model import ScriptedModelServer

ALICE = {"user_id": "alice"}
TALK = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "I love science fiction."},
    {"role": "assistant", "content": "Noted!", "name": "helper"},
]


def engine() -> MemoryEngine:
    return MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=ManualClock())


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory(engine=engine()) as memory:
        yield memory


def kept(memory: Memory, text: str, user: str = "alice", **given: Any) -> str:
    """Keep a text as it is; its id."""
    (row,) = memory.add(text, user_id=user, infer=False, **given)["results"]
    return str(row["id"])


def found(memory: Memory, **filters: Any) -> set[str]:
    return {one["memory"] for one in memory.get_all(filters={**ALICE, **filters}, top_k=100)["results"]}


def test_the_import_is_the_package_of_agents() -> None:
    assert mem0.__name__ == "mnemic.agents.compat.mem0"


def test_what_the_user_said_is_remembered(memory: Memory) -> None:
    added = memory.add("I live in Oslo.", user_id="alice", metadata={"topic": "home", "user_id": "eve"})
    ((memory_id, text, event),) = [(one["id"], one["memory"], one["event"]) for one in added["results"]]
    assert (text, event) == ("home city: Oslo", "ADD")
    shown = memory.get(memory_id)
    assert shown is not None
    assert (shown["user_id"], shown["metadata"], shown["memory"]) == ("alice", {"topic": "home"}, text)
    assert set(shown) >= {"id", "memory", "hash", "metadata", "score", "created_at", "updated_at"}
    (hit,) = memory.search("Where do I live?", filters=ALICE)["results"]
    assert hit["id"] == memory_id
    assert 0.1 <= hit["score"] <= 1
    assert memory.search("Where do I live?", filters={"user_id": "bob"}) == {"results": []}


def test_without_inference_messages_are_kept_as_they_are(memory: Memory) -> None:
    added = memory.add(TALK, user_id="alice", run_id="trip", infer=False)["results"]
    assert [(one["memory"], one["role"], one["actor_id"], one["event"]) for one in added] == [
        ("I love science fiction.", "user", None, "ADD"),
        ("Noted!", "assistant", "helper", "ADD"),
    ]
    shown = memory.get(added[1]["id"])
    assert shown is not None
    assert (shown["run_id"], shown["role"], shown["actor_id"], shown["metadata"]) == (
        "trip",
        "assistant",
        "helper",
        None,
    )
    assert memory.add([{"role": "user"}, "x"], user_id="alice", infer=False) == {"results": []}


@pytest.mark.parametrize(
    ("filters", "wanted"),
    [
        ({"category": "film"}, {"one", "two"}),
        ({"category": {"eq": "film"}, "year": {"gte": 2024}}, {"two"}),
        ({"year": {"in": [2023, 2025]}}, {"one", "three"}),
        ({"year": {"nin": [2023]}}, {"two", "three", "four"}),
        ({"year": {"gt": 2023, "lt": 2025}}, {"two"}),
        ({"year": {"ne": 2023}}, {"two", "three", "four"}),
        ({"category": {"contains": "il"}}, {"one", "two"}),
        ({"category": {"icontains": "BOO"}}, {"three"}),
        ({"year": "*"}, {"one", "two", "three"}),
        ({"AND": [{"category": "film"}, {"year": {"lte": 2023}}]}, {"one"}),
        ({"OR": [{"year": 2025}, {"category": "film"}]}, {"one", "two", "three"}),
        ({"NOT": [{"category": "film"}, {"year": 2025}]}, {"four"}),
    ],
)
def test_filters(memory: Memory, filters: dict[str, Any], wanted: set[str]) -> None:
    kept(memory, "one", metadata={"category": "film", "year": 2023})
    kept(memory, "two", metadata={"category": "film", "year": 2024})
    kept(memory, "three", metadata={"category": "book", "year": 2025})
    kept(memory, "four")
    kept(memory, "five", user="bob", metadata={"category": "film", "year": 2023})
    assert found(memory, **filters) == wanted
    hits = memory.search("one two three four", filters={**ALICE, **filters}, threshold=0, explain=True)["results"]
    assert {one["memory"] for one in hits} == wanted
    assert all({"why", "ranks", "final_score"} <= set(one["score_details"]) for one in hits)


def test_an_agent_and_a_run_are_looked_for_across_users(memory: Memory) -> None:
    memory.add("one", user_id="alice", agent_id="guide", infer=False)
    memory.add("two", user_id="bob", agent_id="guide", infer=False)
    memory.add("three", agent_id="guide", infer=False)
    memory.add("four", run_id="trip", infer=False)
    everything = memory.get_all(filters={"agent_id": "guide"})["results"]
    assert [(one["memory"], one.get("user_id")) for one in everything] == [
        ("three", None),
        ("two", "bob"),
        ("one", "alice"),
    ]
    assert {
        one["memory"] for one in memory.search("one two", filters={"agent_id": "guide"}, threshold=0)["results"]
    } == {
        "one",
        "two",
        "three",
    }
    both = memory.get_all(filters={"AND": [{"user_id": "bob"}, {"agent_id": "guide"}]})["results"]
    assert [one["memory"] for one in both] == ["two"]
    either = memory.get_all(filters={"user_id": "*", "OR": [{"user_id": "bob"}, {"NOT": [{"agent_id": "guide"}]}]})
    assert [one["memory"] for one in either["results"]] == ["two"]
    several = memory.get_all(filters={"user_id": {"in": ["alice", "bob"]}})
    assert [one["memory"] for one in several["results"]] == ["two", "one"]
    assert [one["memory"] for one in memory.get_all(filters={"user_id": "*"}, top_k=1)["results"]] == ["two"]
    memory.delete_all(agent_id="guide")
    assert memory.get_all(filters={"agent_id": "guide"}) == {"results": []}
    assert len(memory.get_all(filters={"run_id": "trip"})["results"]) == 1
    memory.reset()
    assert memory.get_all(filters={"run_id": "trip"}) == {"results": []}


@pytest.mark.parametrize("last_day", ["2999-01-01", "9999-12-31", "2030-05-06"])
def test_a_last_day_far_ahead_is_shown_as_it_was_given(memory: Memory, last_day: str) -> None:
    shown = memory.get(kept(memory, "I like tea.", expiration_date=last_day))
    assert shown is not None
    assert shown["expiration_date"] == last_day


def test_the_older_name_of_the_text_is_said_to_be_deprecated(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    memory_id = kept(memory, "I like tea.")
    memory.update(memory_id, text="I like coffee.")
    assert "deprecated" not in caplog.text
    memory.update(memory_id, text="I like milk.", data="ignored")
    assert "deprecated" in caplog.text
    assert (memory.get(memory_id) or {})["memory"] == "I like milk."


def test_a_memory_is_corrected_and_its_history_told(memory: Memory) -> None:
    memory_id = kept(memory, "I like tea.", metadata={"topic": "drinks"})
    assert memory.update(memory_id, "I like coffee.", metadata={"sure": True})["message"]
    memory.update(memory_id, data="I like cocoa.")
    shown = memory.get(memory_id)
    assert shown is not None
    assert (shown["memory"], shown["metadata"]) == ("I like cocoa.", {"topic": "drinks", "sure": True})
    told = memory.history(memory_id)
    assert [(one["old_memory"], one["new_memory"], one["event"]) for one in told] == [
        (None, "I like tea.", "ADD"),
        ("I like tea.", "I like coffee.", "UPDATE"),
        ("I like coffee.", "I like cocoa.", "UPDATE"),
    ]
    assert memory.delete(memory_id)["message"]
    assert memory.get(memory_id) is None
    (row,) = memory.history(memory_id)
    assert (row["event"], row["new_memory"], row["is_deleted"]) == ("DELETE", None, True)
    assert memory.history("nothing") == []
    with pytest.raises(ValueError, match="not found"):
        memory.delete(memory_id)
    with pytest.raises(ValueError, match="not found"):
        memory.update(memory_id, "x")


def test_what_has_expired_is_shown_only_where_it_is_asked_for(memory: Memory) -> None:
    today = memory.engine.clock.now().date()
    kept(memory, "today", expiration_date=today)
    old = kept(memory, "old", expiration_date="2001-01-01")
    assert found(memory) == {"today"}
    assert {one["memory"] for one in memory.get_all(filters=ALICE, show_expired=True)["results"]} == {"today", "old"}
    assert memory.search("old", filters=ALICE, threshold=0)["results"][0]["memory"] == "today"
    shown = memory.get(old)
    assert shown is not None
    assert shown["expiration_date"] == "2001-01-01"
    memory.update(old, expiration_date=None)
    assert found(memory) == {"today", "old"}


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda memory: memory.add("x"), "At least one"),
        (lambda memory: memory.add("x", user_id="  "), "empty"),
        (lambda memory: memory.add("x", user_id="a b"), "whitespace"),
        (lambda memory: memory.add(7, user_id="a"), "messages must be"),
        (lambda memory: memory.add("x", user_id="a", metadata="m"), "metadata"),
        (lambda memory: memory.add("x", user_id="a", expiration_date="soon"), "YYYY-MM-DD"),
        (lambda memory: memory.add("x", user_id="a", expiration_date=7), "YYYY-MM-DD"),
        (lambda memory: memory.add("x", user_id="a", timestamp="soon"), "timestamp"),
        (lambda memory: memory.search("x", user_id="a"), "Top-level entity parameters"),
        (lambda memory: memory.get_all(user_id="a"), "Top-level entity parameters"),
        (lambda memory: memory.search("x"), "must contain at least one"),
        (lambda memory: memory.get_all(filters={"topic": "x"}), "must contain at least one"),
        (lambda memory: memory.search(" ", filters=ALICE), "query"),
        (lambda memory: memory.search("x", filters=ALICE, threshold=2), "threshold"),
        (lambda memory: memory.search("x", filters=ALICE, threshold="high"), "threshold"),
        (lambda memory: memory.search("x", filters=ALICE, top_k=-1), "top_k"),
        (lambda memory: memory.get_all(filters=ALICE, top_k=1.5), "top_k"),
        (lambda memory: memory.get_all(filters={**ALICE, "year": {"like": 1}}), "Unsupported"),
        (lambda memory: memory.get_all(filters={**ALICE, "OR": []}), "OR"),
        (lambda memory: memory.update("x"), "At least one"),
        (lambda memory: memory.delete_all(), "At least one"),
    ],
)
def test_what_cannot_be_used_is_a_value_error(memory: Memory, call: Any, match: str) -> None:
    with pytest.raises(ValidationError, match=match):
        call(memory)


def test_what_is_not_offered_is_told(memory: Memory) -> None:
    for kind in (None, "procedural_memory"):
        with pytest.raises(NotSupported, match="wishes"):
            memory.add("x", user_id="a", agent_id="b", prompt="Be brief.", memory_type=kind)
    with pytest.raises(NotSupported):
        Memory.from_config({"llm": {"provider": "langchain", "config": {}}})


@pytest.mark.parametrize(
    "content",
    [
        {"type": "image_url", "image_url": {"url": "https://example.com/menu.jpg"}},
        [{"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,AAAA"}}],
    ],
)
def test_a_picture_is_remembered_as_sent(memory: Memory, content: Any) -> None:
    talk = [{"role": "user", "content": "I live in Oslo."}, {"role": "user", "content": content}]
    place, picture = [one["memory"] for one in memory.add(talk, user_id="alice")["results"]]
    assert place == "home city: Oslo"
    assert picture.startswith("Sent an image (")
    assert len(memory.add(talk, user_id="bob", infer=False)["results"]) == 2


def test_the_words_beside_a_picture_are_read(memory: Memory) -> None:
    parts = [{"type": "text", "text": "I live in Oslo."}, {"type": "image_url", "image_url": {"url": "data:,"}}]
    told = [one["memory"] for one in memory.add([{"role": "user", "content": parts}], user_id="alice")["results"]]
    assert (told[0], told[1].partition(" (")[0]) == ("home city: Oslo", "Sent an image")


def test_a_prompt_tells_the_model_what_to_keep() -> None:
    found = {"turn": 0, "op": "add", "id": None, "key": "trade", "value": "boats", "quote": "I sell boats"}
    points = {"points": [{"text": "The release failed", "message": 0, "quote": "the release failed today"}]}
    with ScriptedModelServer([{"items": [found]}, {"items": []}, points]) as server:
        completer = OpenAICompleter("scripted", base_url=server.base_url, api_key="test")
        parts: dict[str, Any] = {
            "store": InProcessStore(),
            "embedder": WordEmbedder(),
            "clock": ManualClock(),
            "completer": completer,
            "extractor": ModelExtractor(completer, instructions="Keep names."),
        }
        with Memory(engine=MemoryEngine(**parts)) as memory:
            added = memory.add("I sell boats.", user_id="alice", prompt=" Keep what is sold. ")["results"]
            memory.add("I sell boats.", user_id="alice")
            steps = [{"role": "assistant", "content": "the release failed today"}]
            done = memory.add(steps, agent_id="a", memory_type="procedural_memory", prompt="Keep failures.")["results"]
    shown = [json.loads(request.user).get("instructions") for request in server.requests]
    assert shown == ["Keep what is sold.", "Keep names.", "Keep failures."]
    assert [one["memory"] for one in (*added, *done)] == ["I sell boats.", "The release failed"]


def test_a_time_at_which_it_was_said_is_kept(memory: Memory) -> None:
    memory_id = kept(memory, "one", timestamp=1_700_000_000)
    memory.add("two", user_id="alice", infer=False, timestamp="2026-03-01T09:00:00")
    call = memory.call_mode.call
    assert call is not None
    (told,) = call(memory.engine.history, memory_id, actor=Actor(user="alice"))
    assert told.occurred_at is not None
    assert told.occurred_at.date() == date(2023, 11, 14)
    shown = {one["memory"]: one["created_at"] for one in memory.get_all(filters=ALICE)["results"]}
    assert shown["two"].startswith("2026-03-01T09:00:00")
    assert memory.search("two", filters=ALICE, threshold=0, reference_date="2026-03-02")["results"]
    assert memory.get_all(filters=ALICE, top_k=0) == {"results": []}


def test_a_text_that_rules_do_not_understand_is_kept_whatever_its_figures(memory: Memory) -> None:
    said = [f"Customer {number} reported a leak." for number in range(12)]
    for one in said:
        memory.add(one, user_id="alice")
    for chatter in ("What is the weather like?", "Thanks, bye!"):
        memory.add(chatter, user_id="alice")
    held = [one["memory"] for one in memory.get_all(filters=ALICE, top_k=50)["results"]]
    assert sorted(held) == sorted(said)


async def test_the_same_verbs_are_awaited() -> None:
    async with AsyncMemory(engine=engine()) as memory:
        added = await memory.add(TALK, user_id="alice", infer=False)
        first, _ = added["results"]
        assert (await memory.get(first["id"]) or {})["memory"] == "I love science fiction."
        assert len((await memory.search("fiction", filters=ALICE))["results"]) >= 1
        await memory.update(first["id"], metadata={"seen": 1})
        assert len((await memory.get_all(filters={**ALICE, "seen": 1}))["results"]) == 1
        await asyncio.gather(*(memory.delete(one["id"]) for one in added["results"]))
        assert [one["event"] for one in await memory.history(first["id"])] == ["DELETE"]
        await memory.delete_all(user_id="alice")
        await memory.reset()


def test_a_configuration_names_settings_of_mnemic(tmp_path: Any) -> None:
    config = {
        "mnemic": {"store": str(tmp_path / "memories.db")},
        "llm": {
            "provider": "openai",
            "config": {"model": "m", "openai_base_url": "http://127.0.0.1:9/v1", "api_key": "k"},
        },
        "vector_store": {"provider": "qdrant", "config": {"path": "/nowhere"}},
        "version": "v1.1",
    }
    with Memory.from_config(config) as memory:
        kept(memory, "I like tea.")
    with Memory.from_config({"mnemic": {"store": str(tmp_path / "memories.db")}}) as again:
        assert found(again) == {"I like tea."}


def test_a_text_that_was_edited_as_it_is_shown_reads_as_it_was_saved(memory: Memory) -> None:
    (row, *_) = memory.add("I live in Oslo.", user_id="alice")["results"]
    edited = memory.get(row["id"])["memory"].replace("Oslo", "Bergen")
    memory.update(row["id"], edited)
    assert memory.get(row["id"])["memory"] == edited
    memory.update(row["id"], "Tromsø")
    assert "Tromsø" in memory.get(row["id"])["memory"]
