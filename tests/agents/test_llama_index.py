"""The memory of LlamaIndex beyond the contract of adapters: synchronous callers, and what it passes on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import ChatMemoryBuffer

from mnemic.agents.llama_index import MnemicMemory
from mnemic.engine import MemoryEngine
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[MnemicMemory]:
    engine = MemoryEngine(store=SqliteStore(tmp_path / "memory.db"), embedder=WordEmbedder())
    made = MnemicMemory.for_actor(engine, Actor(user="ana"), inner=ChatMemoryBuffer.from_defaults())
    yield made
    made.turn.now(engine.close)


def said(text: str, role: MessageRole = MessageRole.USER) -> ChatMessage:
    return ChatMessage(role=role, content=text)


def test_a_synchronous_chat_engine_is_served_the_same_way(memory: MnemicMemory) -> None:
    memory.put(said("I prefer aisle seats."))
    assert [message.content for message in memory.get()] == ["I prefer aisle seats."]
    memory.put(said("Noted.", MessageRole.ASSISTANT))
    assert memory.turn.counts["captured"] == 1

    memory.reset()
    memory.put(said("Which seat do I prefer?"))
    (asked,) = memory.get("Which seat do I prefer?")
    assert "seat: aisle" in str(asked.content)
    assert memory.get() == [asked], "a step that reads anew is shown the same"
    assert [message.content for message in memory.get_all()] == ["Which seat do I prefer?"]
    assert [message.content for message in memory.inner.get_all()] == ["Which seat do I prefer?"]


def test_what_is_set_is_not_captured(memory: MnemicMemory) -> None:
    memory.set([said("I prefer aisle seats."), said("Noted.", MessageRole.ASSISTANT)])
    assert len(memory.get()) == 2
    assert memory.turn.counts["captured"] == 0


async def test_messages_that_come_together_are_captured_once(memory: MnemicMemory) -> None:
    await memory.aput(said("I prefer aisle seats."))
    call = ChatMessage(role=MessageRole.ASSISTANT, content="")
    result = ChatMessage(role=MessageRole.TOOL, content="two flights")
    await memory.aput_messages([call, result, said("Two flights.", MessageRole.ASSISTANT)])
    assert memory.turn.counts["captured"] == 1
    assert len(await memory.aget()) == 4
    assert len(await memory.aget_all()) == 4
    await memory.areset()
    assert await memory.aget() == []
