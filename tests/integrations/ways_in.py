"""Every way in which a conversation comes to memory, in one form: each is told texts with their times, and reports the
requests about memory in them.

Ways whose interface has no time for a message are told on a clock that the test sets.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from mnemic import Actor, MemoryManager, Message, Settings, build_engine
from mnemic.engine import MemoryEngine
from mnemic.testing.clock import ManualClock
from mnemic.types import MemoryRequest
from tests.integrations.assistant import Given
from tests.integrations.test_contract import ASSISTANTS, short
from tests.scripted_model import Reply, ScriptedModelServer

ANA = Actor(user="ana")
Requests = Sequence[MemoryRequest]
Say = Callable[[str, datetime], Awaitable[Requests]]


@dataclass(frozen=True)
class Way:
    """`opened` tells texts to the memory file. `records`: what is said is kept beside what is understood of it.
    `hears`: a text is said by the user; else it is a statement to be kept as it is. `understands`: a later statement
    closes an earlier one.
    """

    name: str
    opened: Any
    records: bool = True
    hears: bool = True
    understands: bool = True


def message(text: str, at: datetime) -> Message:
    return Message(role="user", content=text, sent_at=at, session=f"{at:%Y-%m-%d}")


def requests_in(listed: Iterable[Any]) -> Requests:
    return [MemoryRequest.from_dict(one) for one in listed]


@asynccontextmanager
async def timed(store: Path, **settings: str) -> AsyncIterator[tuple[MemoryEngine, Callable[[datetime], None]]]:
    """An engine, and what sets its clock on."""
    clock = ManualClock()
    async with build_engine(Settings.load(store=str(store), **settings), clock=clock) as engine:
        yield engine, lambda at: clock.advance(at - clock.now()) and None


@asynccontextmanager
async def captured(store: Path) -> AsyncIterator[Say]:
    with MemoryManager("ana", store=store) as memory:

        async def say(text: str, at: datetime) -> Requests:
            return (await asyncio.to_thread(memory.capture, message(text, at))).asked

        yield say


@asynccontextmanager
async def captured_many(store: Path) -> AsyncIterator[Say]:
    with MemoryManager("ana", store=store) as memory:

        async def say(text: str, at: datetime) -> Requests:
            (report,) = await asyncio.to_thread(memory.capture_many, [message(text, at)])
            assert report is not None
            return report.asked

        yield say


@asynccontextmanager
async def remembered(store: Path) -> AsyncIterator[Say]:
    with MemoryManager("ana", store=store) as memory:

        async def say(text: str, at: datetime) -> Requests:
            said = {"role": "user", "content": text, "timestamp": at.isoformat()}
            return (await asyncio.to_thread(memory.remember, [said])).asked

        yield say


@asynccontextmanager
async def recorded_and_captured(store: Path) -> AsyncIterator[Say]:
    with MemoryManager("ana", store=store) as memory:

        async def say(text: str, at: datetime) -> Requests:
            report = await asyncio.to_thread(memory.capture, message(text, at))
            if not report.asked:
                await asyncio.to_thread(memory.record, [message(text, at)])
            return report.asked

        yield say


@asynccontextmanager
async def added(store: Path) -> AsyncIterator[Say]:
    async with timed(store) as (engine, advance):

        async def say(text: str, at: datetime) -> Requests:
            advance(at)
            await engine.add(text, actor=ANA)
            return ()

        yield say


@asynccontextmanager
async def recorded(store: Path) -> AsyncIterator[Say]:
    with MemoryManager("ana", store=store) as memory:

        async def say(text: str, at: datetime) -> Requests:
            await asyncio.to_thread(memory.record, [message(text, at)])
            return ()

        yield say


@asynccontextmanager
async def run_of_the_engine(store: Path) -> AsyncIterator[Say]:
    async with build_engine(Settings.load(store=str(store))) as engine:

        async def say(text: str, at: datetime) -> Requests:
            return (await engine.run(message=message(text, at), actor=ANA, goal="Answer in one sentence.")).asked

        yield say


@asynccontextmanager
async def command_line(store: Path) -> AsyncIterator[Say]:
    from tests.service import run

    async def say(text: str, at: datetime) -> Requests:
        words = ("capture", text, "--sent-at", at.isoformat(), "--user", "ana", "--json")
        done = await asyncio.to_thread(run, store.parent, *words)
        assert done.returncode == 0, done.stderr
        return requests_in(json.loads(done.stdout).get("asked", ()))

    yield say


@asynccontextmanager
async def chatted(store: Path) -> AsyncIterator[Say]:
    """The turns of `mnemic chat`, on a clock that is set."""
    from mnemic.cli.chat_command import Conversation

    noted = Reply(content=json.dumps({"answer": "Noted."}))
    with ScriptedModelServer(lambda _: noted) as server:
        model = {"model": "scripted", "model_url": server.base_url, "api_key": "test", "extractor": "rules"}
        async with timed(store, **model) as (engine, advance):
            conversation = Conversation()

            async def say(text: str, at: datetime) -> Requests:
                advance(at)
                turn = await conversation.turn(engine, ANA, text)
                assert turn.answer == "Noted."
                return turn.report.asked

            yield say


@asynccontextmanager
async def imported(store: Path) -> AsyncIterator[Say]:
    """The whole chat is imported in order, once it is told."""
    from tests.service import run

    lines: list[str] = []

    async def say(text: str, at: datetime) -> Requests:
        said = {"role": "user", "content": text, "timestamp": at.isoformat(), "session": f"{at:%Y-%m-%d}"}
        lines.append(json.dumps(said))
        return ()

    yield say
    chat = store.parent / "chat.jsonl"
    chat.write_text("\n".join(lines))
    done = await asyncio.to_thread(run, store.parent, "import", str(chat), "--user", "ana")
    assert done.returncode == 0, done.stderr


@asynccontextmanager
async def litellm_proxy(store: Path) -> AsyncIterator[Say]:
    """Chats through a LiteLLM proxy of its own process, whose clock is in a file."""
    from tests.integrations import litellm_proxy_service as service

    folder, port = store.parent, service.free_port()
    (folder / "my_memory.py").write_text(service.TIMED_HOOK, encoding="utf-8")
    with ScriptedModelServer(lambda _: "Noted.") as server:
        (folder / "config.yaml").write_text(service.config(server.base_url), encoding="utf-8")
        with service.proxy(folder, port, LITELLM_MASTER_KEY="sk-operator") as running:
            service.wait_for(running, port)

            async def say(text: str, at: datetime) -> Requests:
                (folder / "now").write_text(at.isoformat())
                assert await asyncio.to_thread(service.asked, port, "ana", text) == "Noted."
                return requests_in(json.loads((folder / "asked").read_text()))

            yield say


@asynccontextmanager
async def rest(store: Path) -> AsyncIterator[Say]:
    from mnemic_client import connect
    from tests.service import serving

    with serving(store.parent) as served, connect(served.address, api_key=served.key("reader", "writer")) as client:

        async def say(text: str, at: datetime) -> Requests:
            return (await asyncio.to_thread(client.capture, message(text, at))).asked

        yield say


@asynccontextmanager
async def rest_remembered(store: Path) -> AsyncIterator[Say]:
    from mnemic_client import connect
    from tests.service import serving

    with serving(store.parent) as served, connect(served.address, api_key=served.key("reader", "writer")) as client:

        async def say(text: str, at: datetime) -> Requests:
            return (await asyncio.to_thread(client.remember, [message(text, at)])).asked

        yield say


@asynccontextmanager
async def mcp(store: Path) -> AsyncIterator[Say]:
    from mcp import Client

    from mnemic.agents.mcp import memory_server

    async with timed(store) as (engine, advance), Client(memory_server(engine, ANA)) as client:

        async def say(text: str, at: datetime) -> Requests:
            advance(at)
            answer = await client.call_tool("capture", {"message": text})
            assert answer.structured_content is not None
            return requests_in(answer.structured_content.get("asked") or ())

        yield say


@asynccontextmanager
async def graph(store: Path) -> AsyncIterator[Say]:
    from mnemic.agents.langgraph import memory_graph

    async with timed(store) as (engine, advance):
        made = memory_graph(engine, lambda _: "ok")

        async def say(text: str, at: datetime) -> Requests:
            advance(at)
            turn = await made.ainvoke({"input": text, "user_id": "ana", "thread_id": f"{at:%Y-%m-%d}"})
            return requests_in(turn["final_output"].get("memory_requests", ()))

        yield say


@asynccontextmanager
async def strands_store(store: Path) -> AsyncIterator[Say]:
    from mnemic.agents.strands import MnemicMemoryStore

    async with timed(store) as (engine, advance):
        kept = MnemicMemoryStore(engine, ANA, extraction=True)

        async def say(text: str, at: datetime) -> Requests:
            advance(at)
            await kept.add_messages([{"role": "user", "content": [{"text": text}]}])
            return kept.asked

        yield say


@asynccontextmanager
async def mem0(store: Path) -> AsyncIterator[Say]:
    from mnemic.agents.compat.mem0 import AsyncMemory

    async with timed(store) as (engine, _):
        memory = AsyncMemory(engine=engine)

        async def say(text: str, at: datetime) -> Requests:
            answer = await memory.add([{"role": "user", "content": text}], user_id="ana", timestamp=at.timestamp())
            return requests_in(answer.get("asked", ()))

        yield say


def assistant(name: str) -> Any:
    """The way through one framework, with a model that says "Noted."."""

    @asynccontextmanager
    async def opened(store: Path) -> AsyncIterator[Say]:
        module, _, kind = name.partition(":")
        build = getattr(import_module(f"tests.integrations.{module}"), kind)
        async with timed(store) as (engine, advance), AsyncExitStack() as closing:
            server = closing.enter_context(ScriptedModelServer(lambda _: "Noted."))
            folder = store.parent / "framework"
            folder.mkdir()
            given = Given(engine=engine, actor=ANA, base_url=server.base_url, folder=folder, closing=closing)
            made = build(given)

            async def say(text: str, at: datetime) -> Requests:
                advance(at)
                assert await made.say(text) == "Noted."
                return made.memory.asked

            yield say

    return opened


HERE = [
    Way("capture", captured, records=False),
    Way("capture_many", captured_many, records=False),
    Way("remember", remembered, records=False),
    Way("record and capture", recorded_and_captured),
    Way("add", added, hears=False),
    Way("record", recorded, hears=False, understands=False),
    Way("run", run_of_the_engine, records=False),
    Way("mnemic capture", command_line, records=False),
    Way("POST /v1/capture", rest, records=False),
    Way("POST /v1/remember", rest_remembered, records=False),
    Way("MCP capture", mcp, records=False),
    Way("LangGraph", graph),
    Way("Strands store", strands_store),
    Way("mem0", mem0, records=False),
    Way("mnemic chat", chatted),
    Way("mnemic import", imported, hears=False),
]
THE_PROXY = "litellm_proxy"
"""Name of the LiteLLM proxy among the frameworks that are tried in an environment of their own."""
own = os.environ.get("MNEMIC_ASSISTANT", "")
through_frameworks = [Way(short(name), assistant(name)) for name in ASSISTANTS if name != THE_PROXY]
WAYS = [
    *([] if own else HERE),
    *through_frameworks,
    *([Way("LiteLLM proxy", litellm_proxy)] if own == THE_PROXY else []),
]
