"""A phrase that answers a question is heard with it, whichever way both come in; adapters are in `test_contract`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from google.adk.events.event import Event
from google.genai import types
from langgraph.checkpoint.memory import InMemorySaver

from mnemic import Actor, MemoryManager, Message, Settings, build_engine
from mnemic.agents.adk import MnemicMemoryService
from mnemic.agents.compat.mem0 import AsyncMemory
from mnemic.agents.langgraph import memory_graph
from mnemic.agents.strands import MnemicMemoryStore
from mnemic.engine import MemoryEngine
from mnemic.extract import Extraction
from mnemic.extract.message_context import ALONE, MessageContext
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Kind
from mnemic_client import connect
from tests.scripted_model import Reply, ScriptedModelServer
from tests.service import serving

ANA = Actor(user="ana")
TOLD, ASKED, ANSWER = "My brother lives in Turin.", "What's your brother's name?", "Álvaro."
STATED = "My brother's name is Álvaro."

Way = Callable[[Path], Coroutine[Any, Any, None]]


def turns() -> list[Message]:
    said = (("user", TOLD), ("assistant", ASKED), ("user", ANSWER))
    return [Message(role=role, content=text, session="s") for role, text in said]


def engine_on(store: Path) -> MemoryEngine:
    return build_engine(Settings(store=str(store)))


async def recorded_then_captured(store: Path) -> None:
    """The session has the turns before."""
    async with engine_on(store) as engine:
        for turn in turns():
            await engine.record([turn], actor=ANA)
            if turn.role == "user":
                await engine.capture(turn, actor=ANA)


async def captured_then_recorded(store: Path) -> None:
    async with engine_on(store) as engine:
        for turn in turns():
            if turn.role == "user":
                await engine.run(message=turn, actor=ANA)
            await engine.record([turn], actor=ANA)


async def blocking(store: Path) -> None:
    def tell() -> None:
        with MemoryManager("ana", store=store) as memory:
            memory.record(turns()[:2])
            memory.capture(turns()[2])

    await asyncio.to_thread(tell)


async def rest(store: Path) -> None:
    with serving(store.parent) as served, connect(served.address, api_key=served.key("reader", "writer")) as client:
        await asyncio.to_thread(client.record, turns()[:2])
        await asyncio.to_thread(client.capture, turns()[2])


async def chat(store: Path) -> None:
    reply = Reply(content=json.dumps({"answer": ASKED}))
    with ScriptedModelServer(lambda _: reply) as server:
        typed = f"{TOLD}\n{ANSWER}\n"
        words = [sys.executable, "-m", "mnemic", "chat", "--user", "ana", "--store", str(store)]
        process = await asyncio.create_subprocess_exec(
            *words, stdin=-1, stdout=-1, stderr=-1,
            env={
                **os.environ, "MNEMIC_MODEL": "scripted", "MNEMIC_MODEL_URL": server.base_url,
                "MNEMIC_EXTRACTOR": "rules",
            },
        )  # fmt: skip
        _, complaints = await process.communicate(typed.encode())
    assert process.returncode == 0, complaints


async def graph(store: Path) -> None:
    async with engine_on(store) as engine:
        made = memory_graph(engine, lambda _: ASKED, checkpointer=InMemorySaver())
        for text in (TOLD, ANSWER):
            await made.ainvoke({"input": text, "user_id": "ana", "thread_id": "t"})


async def strands_store(store: Path) -> None:
    async with engine_on(store) as engine:
        kept = MnemicMemoryStore(engine, ANA, extraction=True)
        said: list[Any] = [{"role": one.role, "content": [{"text": one.content}]} for one in turns()]
        await kept.add_messages(said[:2])
        await kept.add_messages(said[2:])


async def mem0(store: Path) -> None:
    async with engine_on(store) as engine:
        memory = AsyncMemory(engine=engine)
        await memory.add([{"role": one.role, "content": one.content} for one in turns()], user_id="ana")


async def events_of_adk(store: Path) -> None:
    async with engine_on(store) as engine:
        events = [
            Event(
                author="user" if one.role == "user" else "agent",
                content=types.Content(
                    role="user" if one.role == "user" else "model", parts=[types.Part(text=one.content)]
                ),
            )
            for one in turns()
        ]
        await MnemicMemoryService(engine).add_events_to_memory(app_name="default", user_id="ana", events=events)


PATHS = [
    recorded_then_captured, captured_then_recorded, blocking, rest, chat, graph, strands_store, mem0, events_of_adk,
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
async def test_an_answer_is_heard_with_its_question(path: Way, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    await path(store)
    async with engine_on(store) as engine:
        held = await engine.list(actor=ANA, kinds=[Kind.LONG_TERM])
    assert STATED in [one.content for one in held]


async def test_a_question_of_another_session_or_of_last_week_is_not_heard(tmp_path: Path) -> None:
    async with engine_on(tmp_path / "s.db") as engine:
        await engine.record([Message(role="assistant", content=ASKED, session="other")], actor=ANA)
        long_ago = engine.clock.now() - timedelta(days=7)
        await engine.record([Message(role="assistant", content=ASKED, session="s", sent_at=long_ago)], actor=ANA)
        await engine.capture(turns()[2], actor=ANA)
        assert await engine.list(actor=ANA, kinds=[Kind.LONG_TERM]) == []


class Heard:
    """An extractor that notes what it is told of the surroundings of a message."""

    reads_known = True

    def __init__(self) -> None:
        self.around: list[MessageContext] = []

    async def extract(self, message: Message, *, around: MessageContext = ALONE, **_: Any) -> Extraction:
        self.around.append(around)
        return Extraction()

    async def extract_window(self, messages: Any, *, around: MessageContext = ALONE, **_: Any) -> list[Any]:
        return [await self.extract(one, around=around) for one in messages]


@pytest.mark.parametrize("way", ["capture", "graph"])
async def test_an_extractor_is_told_the_turns_and_the_memories_before(way: str, tmp_path: Path) -> None:
    heard = Heard()
    store = SqliteStore(tmp_path / "s.db")
    async with MemoryEngine(store=store, embedder=WordEmbedder(), extractor=heard) as engine:
        await engine.add("My brother lives in Turin.", actor=ANA)
        if way == "capture":
            await engine.record(turns()[:2], actor=ANA)
            await engine.capture(turns()[2], actor=ANA)
        else:
            made = memory_graph(engine, lambda _: ASKED, checkpointer=InMemorySaver())
            for text in (TOLD, ANSWER):
                await made.ainvoke({"input": text, "user_id": "ana", "thread_id": "t"})
    assert [(one.role, one.content) for one in heard.around[-1].before] == [("user", TOLD), ("assistant", ASKED)]
    assert TOLD in [one.content for one in heard.around[-1].known]
