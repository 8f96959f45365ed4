"""A change that is told is the same memory whichever way it comes in: the new value is found, the old one is closed and
stays in the history, and adapters keep what was said.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from mnemic import Actor, Candidate, MemoryManager, Message, Settings, build_engine
from mnemic.agents.turns import TurnMemory
from mnemic.engine import MemoryEngine
from mnemic.types import Kind, Level, Memory, Status, Where
from tests.integrations.assistant import Given
from tests.integrations.test_contract import ASSISTANTS, short
from tests.scripted_model import ScriptedModelServer

ANA = Actor(user="ana")
BEGAN = datetime(2026, 3, 2, 9, tzinfo=UTC)
SAID = (
    "I live in Turin.",
    "We keep our boards in Trello.",
    "I moved to Genoa last week.",
    "We switched to Asana for our boards.",
    "My brother moved to Turin.",
)
CHANGES = (
    # the question, what is true, and what was: a memory that says it as the user's own, and now
    ("Where do I live?", "Genoa", ("home_city: Turin", "I live in Turin.")),
    ("Where do we keep our boards?", "Asana", ("We keep our boards in Trello.",)),
)

Say = Callable[[str], Awaitable[object]]


def dated() -> list[Message]:
    return [
        Message(role="user", content=text, sent_at=BEGAN + timedelta(days=place), session="chat")
        for place, text in enumerate(SAID)
    ]


@asynccontextmanager
async def captured(store: Path) -> AsyncIterator[Say]:
    with MemoryManager("ana", store=store) as memory:
        yield lambda text: asyncio.to_thread(memory.capture, text)


@asynccontextmanager
async def added(store: Path) -> AsyncIterator[Say]:
    with MemoryManager("ana", store=store) as memory:
        yield lambda text: asyncio.to_thread(memory.add, text)


@asynccontextmanager
async def added_with_a_key(store: Path) -> AsyncIterator[Say]:
    """The home under its key, with the words that told it; the rest as it was said."""
    with MemoryManager("ana", store=store) as memory:

        async def say(text: str) -> None:
            city = next((one for one in ("Genoa", "Turin") if one in text), None)
            keyed = None if city is None or "brother" in text else Candidate(content=city, key="home_city")
            await asyncio.to_thread(memory.add, keyed or text)

        yield say


@asynccontextmanager
async def recorded_then_captured(store: Path) -> AsyncIterator[Say]:
    with MemoryManager("ana", store=store) as memory:

        async def say(text: str) -> None:
            message = next(one for one in dated() if one.content == text)
            await asyncio.to_thread(memory.record, [message])
            await asyncio.to_thread(memory.capture, message)

        yield say


@asynccontextmanager
async def captured_at_once(store: Path) -> AsyncIterator[Say]:
    with MemoryManager("ana", store=store) as memory:
        await asyncio.to_thread(memory.capture_many, dated())
        yield _nothing


@asynccontextmanager
async def imported(store: Path) -> AsyncIterator[Say]:
    from tests.service import run

    lines = [
        {"role": "user", "content": one.content, "timestamp": one.sent_at.isoformat(), "session": "chat"}
        for one in dated()
        if one.sent_at is not None
    ]
    (store.parent / "chat.jsonl").write_text("\n".join(map(json.dumps, lines)))
    done = run(store.parent, "import", str(store.parent / "chat.jsonl"), "--user", "ana")
    assert done.returncode == 0, done.stderr
    yield _nothing


@asynccontextmanager
async def command_line(store: Path) -> AsyncIterator[Say]:
    from tests.service import run

    async def say(text: str) -> None:
        done = await asyncio.to_thread(run, store.parent, "capture", text, "--user", "ana")
        assert done.returncode == 0, done.stderr

    yield say


@asynccontextmanager
async def rest(store: Path) -> AsyncIterator[Say]:
    from mnemic_client import connect
    from tests.service import serving

    with serving(store.parent) as served, connect(served.address, api_key=served.key("reader", "writer")) as client:
        yield lambda text: asyncio.to_thread(client.capture, text)


@asynccontextmanager
async def run_of_the_engine(store: Path) -> AsyncIterator[Say]:
    async with build_engine(Settings(store=str(store))) as engine:
        yield lambda text: engine.run(message=text, actor=ANA, goal="Answer in one sentence.")


@asynccontextmanager
async def mcp(store: Path) -> AsyncIterator[Say]:
    from mcp import Client

    from mnemic.agents.mcp import memory_server

    async with build_engine(Settings(store=str(store))) as engine, Client(memory_server(engine, ANA)) as client:
        yield lambda text: client.call_tool("add_memory", {"content": text})


@asynccontextmanager
async def turns(store: Path) -> AsyncIterator[Say]:
    async with build_engine(Settings(store=str(store))) as engine:
        yield TurnMemory(engine, ANA).capture


@asynccontextmanager
async def graph(store: Path) -> AsyncIterator[Say]:
    from mnemic.agents.langgraph import memory_graph

    async with build_engine(Settings(store=str(store))) as engine:
        made = memory_graph(engine, lambda _: "ok")

        async def say(text: str) -> None:
            await made.ainvoke({"input": text, "user_id": "ana", "thread_id": "t"})

        yield say


async def _nothing(_: str) -> None: ...


HERE = [
    captured,
    added,
    added_with_a_key,
    recorded_then_captured,
    captured_at_once,
    imported,
    command_line,
    rest,
    run_of_the_engine,
    mcp,
    turns,
    graph,
]
PATHS = [] if os.environ.get("MNEMIC_ASSISTANT") else HERE
"""Paths that are tried; none where one framework is tried alone, in an environment of its own."""


def shown(memory: Memory) -> str:
    return f"{memory.key}: {memory.content}" if memory.key else memory.content


async def check(engine: MemoryEngine) -> None:
    """State after `SAID`, whichever way it was told."""
    everything = [one for one in await engine.list(actor=ANA, limit=100) if one.kind is Kind.LONG_TERM]
    live = [shown(one) for one in everything]
    for question, now, before in CHANGES:
        hits = (await engine.search(question, top_k=20, actor=ANA)).hits
        told = [shown(one.memory) for one in hits if one.memory.kind is Kind.LONG_TERM]
        assert told, (question, live, hits)
        assert now in told[0], (question, told)
        assert not set(before) & set(live), live
        where = Where(scopes=ANA.scopes([Level.USER]), statuses=frozenset({Status.SUPERSEDED}))
        closed = [shown(one) for one in await engine.store.newest(where, limit=100)]
        assert set(before) & set(closed), closed
    assert any("brother" in one for one in live), live


async def check_undone(engine: MemoryEngine) -> None:
    """A closed statement has its end in its history, and comes back where the change is undone."""
    where = Where(scopes=ANA.scopes([Level.USER]), statuses=frozenset({Status.SUPERSEDED}))
    closed = {one.memory_id: one for one in await engine.store.newest(where, limit=100) if one.kind is Kind.LONG_TERM}
    assert closed
    for memory_id in closed:
        ended = (await engine.history(memory_id, actor=ANA))[-1]
        assert (ended.status, ended.valid_to is None) == (Status.SUPERSEDED, False)
    live = await engine.list(actor=ANA, limit=100)
    changes = [one for one in live if one.kind is Kind.LONG_TERM and set(one.supersedes) & set(closed)]
    assert changes
    for change in changes:
        await engine.undo(change.memory_id, actor=ANA)
        back = {one.memory_id for one in await engine.list(actor=ANA, limit=100)}
        assert set(change.supersedes) <= back, change


@pytest.mark.parametrize("path", PATHS, ids=lambda one: one.__name__)
async def test_a_change_closes_what_it_changes_on_every_path(path: Any, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    async with path(store) as say:
        for text in SAID:
            await say(text)
    async with build_engine(Settings(store=str(store))) as engine:
        await check(engine)
        await check_undone(engine)


@pytest.mark.parametrize("name", ASSISTANTS, ids=short)
async def test_a_change_told_to_an_assistant_closes_what_it_changes(name: str, tmp_path: Path) -> None:
    module, _, kind = name.partition(":")
    build = getattr(import_module(f"tests.integrations.{module}"), kind)
    async with build_engine(Settings(store=str(tmp_path / "s.db"))) as engine:
        with ScriptedModelServer(["Noted."] * len(SAID)) as server:
            async with AsyncExitStack() as closing:
                folder = tmp_path / "f"
                folder.mkdir()
                given = Given(engine=engine, actor=ANA, base_url=server.base_url, folder=folder, closing=closing)
                assistant = build(given)
                for text in SAID:
                    assert await assistant.say(text) == "Noted."
        await check(engine)
        await check_undone(engine)
        messages = {one.content for one in await engine.list(actor=ANA, limit=100) if one.kind is not Kind.LONG_TERM}
        assert set(SAID) <= messages, "what was said is kept beside what was understood"
