"""Strands' real agent with a scripted model: the block reaches the model, never the history; capture happens once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from strands import Agent, tool
from strands.memory import AddMessagesContext, InvocationTrigger, MemoryManager
from strands.models import Model
from strands.session.file_session_manager import FileSessionManager

from mnemic.agents.strands import ContextInjector, MnemicMemory, MnemicMemoryStore
from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidConfig, MnemicError, StoreUnavailable
from mnemic.extract import Extraction
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Origin

ANA = Actor(user="ana")


class Scripted(Model):
    """A model that says what it is told to, and keeps what it was shown."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.seen: list[Any] = []

    def update_config(self, **config: Any) -> None:
        return None

    def get_config(self) -> dict[str, Any]:
        return {}

    async def structured_output(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError
        yield

    async def stream(self, messages: Any, tool_specs: Any = None, system_prompt: Any = None, **_: Any) -> Any:
        self.seen.append(json.loads(json.dumps(messages)))
        reply = self.replies.pop(0) if self.replies else "fine"
        yield {"messageStart": {"role": "assistant"}}
        if isinstance(reply, dict):
            yield {"contentBlockStart": {"start": {"toolUse": {"name": reply["name"], "toolUseId": "t1"}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(reply["input"])}}}}
        else:
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": reply}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if isinstance(reply, dict) else "end_turn"}}


@tool
def timetable(city: str) -> str:
    """Flights to a city.

    Args:
        city: Where to.
    """
    return f"two flights to {city}"


@pytest.fixture
def engine(tmp_path: Path) -> MemoryEngine:
    return MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder())


def agent_of(model: Model, **options: Any) -> Agent:
    return Agent(model=model, callback_handler=None, tools=[timetable], **options)


def audit(engine: MemoryEngine, action: str) -> list[Any]:
    return [event for event in asyncio.run(engine.audit(actor=ANA)) if event.action == action]


def test_three_turns_with_a_tool_call(engine: MemoryEngine, tmp_path: Path) -> None:
    memory = MnemicMemory(engine, ANA)
    model = Scripted("Noted.", {"name": "timetable", "input": {"city": "Denver"}}, "Two flights.", "An aisle seat.")
    sessions = FileSessionManager(session_id="s1", storage_dir=str(tmp_path / "sessions"))
    agent = agent_of(model, plugins=[memory], session_manager=sessions)
    agent("I prefer aisle seats.")
    agent("Find a flight to Denver; which seat do I prefer?")
    agent("And which seat is it?")
    blocks = [json.dumps(seen).count("<memory ") for seen in model.seen]
    assert blocks == [0, 1, 1, 1]
    assert "seat: aisle" in json.dumps(model.seen[1][-1])
    assert "toolResult" in model.seen[2][-1]["content"][0]
    assert model.seen[2][: len(model.seen[1])] == model.seen[1], "the call that answers sees the block where it was"
    assert "<memory" not in json.dumps(agent.messages)
    kept = [path.read_text() for path in (tmp_path / "sessions").rglob("*.json")]
    assert kept
    assert not any("<memory" in text for text in kept)
    assert memory.counts["injected"] == 2
    assert memory.counts["carried"] == 1
    assert memory.counts["captured"] == 3
    assert len(audit(engine, "injected")) == 2
    assert len({event.detail["run_id"] for event in audit(engine, "injected")}) == 2


def test_another_user_gets_nothing(engine: MemoryEngine) -> None:
    agent_of(Scripted(), plugins=[MnemicMemory(engine, ANA)])("I prefer aisle seats.")
    model = Scripted()
    agent_of(model, plugins=[MnemicMemory(engine, Actor(user="bob"))])("Which seat do I prefer?")
    assert "<memory" not in json.dumps(model.seen)


def test_an_outage_is_told_and_the_model_answers(engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = MnemicMemory(engine, ANA, capture=False)
    model = Scripted("still here")
    agent = agent_of(model, plugins=[memory])

    async def down(*_: Any, **__: Any) -> Any:
        raise StoreUnavailable

    monkeypatch.setattr(engine, "recall", down)
    assert str(agent("Which seat do I prefer?")).strip() == "still here"
    assert memory.last is not None
    assert (memory.last.injected, memory.last.degraded, memory.last.reason) == (False, True, "search:store_unavailable")
    assert memory.counts["degraded:search:store_unavailable"] == 1


def test_a_capture_that_fails_is_made_up_for(engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = MnemicMemory(engine, ANA)
    agent = agent_of(Scripted(), plugins=[memory])
    write = engine.store.transact

    async def down(*_: Any, **__: Any) -> Any:
        raise StoreUnavailable

    monkeypatch.setattr(engine.store, "transact", down)
    agent("I prefer aisle seats.")
    assert memory.counts["capture_failed:mnemic_error:store_unavailable"] == 1
    monkeypatch.setattr(engine.store, "transact", write)
    agent("Hello again.")
    assert memory.counts["captured"] == 2
    assert [memory.content for memory in asyncio.run(engine.list(actor=ANA, kinds=["long_term"]))] == ["aisle"]


# -- the store in Strands' own memory manager --------------------------------------------------------------------------


def test_the_memory_manager_injects_and_extracts(engine: MemoryEngine) -> None:
    store = MnemicMemoryStore(engine, ANA, extraction={"trigger": InvocationTrigger()})
    model = Scripted("Noted.", "Aisle.")
    agent = agent_of(model, memory_manager=MemoryManager(stores=[store]))
    agent("I prefer aisle seats.")
    agent("Which seat do I prefer?")
    assert "seat: aisle" in model.seen[1][-1]["content"][-1]["text"]
    assert "<memory" not in json.dumps(agent.messages)


async def test_what_a_model_adds_has_less_trust_than_what_the_user_says(engine: MemoryEngine) -> None:
    store = MnemicMemoryStore(engine, ANA)
    memory_id = await store.add("likes green tea", {"from": "chat", "n": 1})
    assert memory_id == await store.add("likes green tea", {"from": "chat", "n": 1})
    memory = await engine.get(str(memory_id), actor=ANA)
    assert memory.source.origin is Origin.AGENT_INFERRED
    found = await store.search("green tea", {"max_search_results": 5})
    assert len(found) == 1
    assert (found[0].metadata or {})["from"] == "chat"
    assert (found[0].metadata or {})["memory_id"] == memory_id
    await engine.close()


async def test_a_batch_delivered_again_is_captured_once(engine: MemoryEngine) -> None:
    asked: list[str] = []

    class Flaky:
        def __init__(self) -> None:
            self.fail = True

        async def extract(self, message: Any, **_: Any) -> Extraction:
            asked.append(message.content)
            if "second" in message.content and self.fail:
                self.fail = False
                raise StoreUnavailable
            return Extraction()

    one = MemoryEngine(store=engine.store, embedder=WordEmbedder(), extractor=Flaky())
    store = MnemicMemoryStore(one, ANA)
    batch: list[Any] = [
        {"role": "user", "content": [{"text": "the first"}]},
        {"role": "assistant", "content": [{"text": "hm"}]},
        {"role": "user", "content": [{"text": "the second"}]},
    ]
    context = AddMessagesContext(sequence_numbers=[4, 5, 6])
    with pytest.raises(MnemicError, match="store_unavailable"):
        await store.add_messages(batch, context)
    await store.add_messages(batch, context)
    assert asked == ["the first", "the second", "the second"]
    await store.add_messages(batch, None)
    assert asked[3:] == ["the first", "the second"]
    await one.close()


async def test_bad_input_is_a_value_error(engine: MemoryEngine) -> None:
    with pytest.raises(InvalidConfig):
        MnemicMemoryStore(engine, ANA, max_search_results=0)
    with pytest.raises(ValueError, match="not writable"):
        await MnemicMemoryStore(engine, ANA, writable=False).add("x")
    with pytest.raises(ValueError, match="must not be empty"):
        await MnemicMemoryStore(engine, ANA).add("  ")
    assert await MnemicMemoryStore(engine, ANA).search(" ...") == []


# -- any text ----------------------------------------------------------------------------------------------------------


def test_a_context_injector_adds_its_text_to_one_call(engine: MemoryEngine) -> None:
    model = Scripted("one", "two")
    injector = ContextInjector(lambda context: f"<now>{len(context.messages)}</now>", name="now")
    agent = agent_of(model, plugins=[injector, ContextInjector(lambda context: 1 / 0, trigger="everyTurn")])
    agent("What time is it?")
    agent("And now?")
    assert ["<now>" in json.dumps(seen[-1]) for seen in model.seen] == [True, True]
    assert json.dumps(model.seen[1]).count("<now>") == 1
    assert "<now>" not in json.dumps(agent.messages)
    assert injector.counts == {"injected": 2}


def test_a_trigger_sees_the_agent(engine: MemoryEngine) -> None:
    model = Scripted()
    agent = agent_of(
        model, plugins=[ContextInjector(lambda context: "extra", trigger=lambda context: context.agent.state.get("on"))]
    )
    agent("Hello.")
    agent.state.set("on", True)
    agent("Hello.")
    assert ["extra" in json.dumps(seen[-1]) for seen in model.seen] == [False, True]
