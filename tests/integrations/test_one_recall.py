"""One request is shown the same memories on every path: 45 requests, by every way to ask, on one file. Of a framework
that calls a model, the test reads what its model was sent.
"""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from mcp import Client
from strands import Agent
from strands.models import Model

from mnemic import Actor, MemoryManager, Settings, build_engine
from mnemic.agents.langchain import MnemicMiddleware
from mnemic.agents.langgraph import memory_graph
from mnemic.agents.mcp import memory_server
from mnemic.agents.strands import MnemicMemory, MnemicMemoryStore
from mnemic.agents.turns import TurnMemory
from mnemic.engine import MemoryEngine
from mnemic.inject import SourceEntry, injector_for
from mnemic.policy.budget import Budget
from mnemic.types import Deadline, Hit, Intent, RecallRequest
from mnemic.types.recall_limits import MAX_QUESTION_CHARS
from mnemic_client import connect
from tests.integrations.assistant import Given
from tests.integrations.test_contract import ASSISTANTS, short
from tests.scripted_model import ScriptedModelServer
from tests.service import Served, serving

KIM = Actor(user="kim")
TOLD = (
    "I am vegetarian and I live in Oslo.",
    "I prefer aisle seats.",
    "I prefer morning flights.",
    "I am allergic to peanuts.",
    "Please keep your answers short.",
    "I work as a nurse.",
)
FACTS = (
    "My sister Hana lives in Sapporo.",
    "I collect brass compasses.",
    "My flat has no lift.",
    "I drive a Skoda.",
    "The boiler was serviced in May.",
    "My dentist is Dr. Wolf.",
    "I play chess on Thursdays.",
    "The cellar key hangs behind the clock.",
    "I studied chemistry in Porto.",
    "My neighbour Jo feeds the cat.",
)
CHAT = (
    "It was a long day at the office, the train was late and it rained all the time, and a colleague told me about the "
    "new roof of the town hall; afterwards we all went for a walk along the river to see the lights there, which were "
    "lovely, and nobody wanted to leave."
)
"""More than a model may put into a query of its own, and twenty times that."""
SHORT = "response_style: concise"
"""What shapes every answer is shown with every request."""
OF_THE_USER = {"home_city: Oslo", "diet: vegetarian", "job: nurse", "seat: aisle", "I am allergic to peanuts."}
"""What a question for the profile is shown, with whatever else is known."""
ASKED: dict[str, tuple[set[str], bool]] = {
    # the request: what must be shown, and whether anything else may be
    "Find me a flight to Denver.": ({"seat: aisle", "flight_time: morning"}, True),
    "Book a table for dinner.": ({"diet: vegetarian"}, True),
    "Which restaurant should I take my parents to?": ({"diet: vegetarian"}, True),
    "What is the capital of Peru?": (set(), False),
    "What is the boiling point of nitrogen?": (set(), False),
    "Who won the 1998 world cup?": (set(), False),
    "Fix this Python bug: IndexError": (set(), False),
    "Where does my sister live?": ({"My sister Hana lives in Sapporo."}, True),
    "Which game do I play?": ({"I play chess on Thursdays."}, True),
    "Who is my dentist?": ({"My dentist is Dr. Wolf."}, True),
    "Where do I work?": ({"job: nurse"}, True),
    "What did I study?": ({"I studied chemistry in Porto."}, True),
    "Which car do I drive?": ({"I drive a Skoda."}, True),
    "When was the boiler serviced?": ({"The boiler was serviced in May."}, True),
    "Where is the cellar key?": ({"The cellar key hangs behind the clock."}, True),
    "Who feeds the cat?": ({"My neighbour Jo feeds the cat."}, True),
    "What do I collect?": ({"I collect brass compasses."}, True),
    "Does my flat have a lift?": ({"My flat has no lift."}, True),
    "Which seat do I prefer?": ({"seat: aisle"}, True),
    "Am I allergic to anything?": ({"I am allergic to peanuts."}, True),
    "Suggest a recipe for lunch.": ({"diet: vegetarian", "I am allergic to peanuts."}, True),
    "Plan a weekend trip to Rome for me.": ({"seat: aisle"}, True),
    "Suggest a birthday present for Hana.": ({"My sister Hana lives in Sapporo."}, True),
    "Translate 'good morning' into French.": (set(), True),
    "thanks!": (set(), False),
    "hello": (set(), False),
    "Write a haiku about rain.": (set(), True),
    "Explain quantum chromodynamics.": (set(), False),
    "Convert 5 miles to kilometres.": (set(), False),
    "What's the weather like?": (set(), True),
    "Which airline flies to Lima in the morning?": ({"flight_time: morning"}, True),
    "Which city do I live in?": ({"home_city: Oslo"}, True),
    "Draft an email to my boss.": (set(), True),
    "What should I cook tonight?": ({"diet: vegetarian"}, True),
    "Refactor this function into two.": (set(), True),
    "Why is the sky blue?": (set(), False),
    "Where did I study chemistry?": ({"I studied chemistry in Porto."}, True),
    "Tell me about Hana.": ({"My sister Hana lives in Sapporo."}, True),
    "¿Qué asiento prefiero?": (set(), True),
    "Book me a window or an aisle seat?": ({"seat: aisle"}, True),
    "What do you know about me?": (OF_THE_USER, True),
    "Who am I?": (OF_THE_USER, True),
    "Summarise my profile": (OF_THE_USER, True),
    f"{CHAT} Who is my dentist?": ({"My dentist is Dr. Wolf."}, True),
    f"Who is my dentist?\n\n{CHAT * 20} Which car do I drive?": (set(), True),
}

Ask = Callable[[str], Awaitable[list[str]]]


def contents(hits: Any) -> list[str]:
    return [SourceEntry.from_hit(hit, "memory", reader=KIM).content for hit in hits]


def in_block(text: str) -> list[str]:
    """The entries of the block in a text."""
    return [html.unescape(entry) for entry in re.findall(r"<entry[^>]*>(.*?)</entry>", text)]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service on the file that every path reads."""
    folder = tmp_path_factory.mktemp("recall")

    async def tell() -> None:
        async with build_engine(Settings(store=str(folder / "s.db"))) as engine:
            for said in TOLD:
                await engine.capture(said, actor=KIM)
            for fact in FACTS:
                await engine.add(fact, actor=KIM)

    asyncio.run(tell())
    with serving(folder) as running:
        with connect(running.address, api_key=running.key("reader", user="kim")) as client:
            client.search("chess")  # loads the embedder, for which an injection has two seconds
        yield running


@pytest.fixture
async def engine(served: Served) -> AsyncIterator[MemoryEngine]:
    async with build_engine(Settings(store=str(served.store))) as one:
        yield one


class Recording(Model):
    """A Strands model that keeps what it was sent."""

    def __init__(self) -> None:
        self.seen = ""

    def update_config(self, **_: Any) -> None: ...
    def get_config(self) -> Any:
        return {}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncIterator[Any]:
        self.seen = "\n".join(block.get("text", "") for block in messages[-1]["content"])
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        yield {"contentBlockDelta": {"delta": {"text": "ok"}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


@asynccontextmanager
async def engine_context(engine: MemoryEngine, served: Served) -> AsyncIterator[Ask]:
    async def ask(question: str) -> list[str]:
        return contents((await engine.context(question, actor=KIM)).hits)

    yield ask


@asynccontextmanager
async def manager(engine: MemoryEngine, served: Served) -> AsyncIterator[Ask]:
    with MemoryManager("kim", store=served.store) as memory:

        async def ask(question: str) -> list[str]:
            return in_block((await asyncio.to_thread(memory.context, question)).text)

        yield ask


@asynccontextmanager
async def run(engine: MemoryEngine, served: Served) -> AsyncIterator[Ask]:
    async def ask(question: str) -> list[str]:
        return contents((await engine.run(actor=KIM, goal=question)).hits)

    yield ask


@asynccontextmanager
async def injector(engine: MemoryEngine, served: Served) -> AsyncIterator[Ask]:
    made = injector_for(engine, KIM)

    async def ask(question: str) -> list[str]:
        return [entry.content for entry in (await made.inject([{"role": "user", "content": question}])).entries]

    yield ask


@asynccontextmanager
async def turn_memory(engine: MemoryEngine, served: Served) -> AsyncIterator[Ask]:
    memory = TurnMemory(engine, KIM)

    async def ask(question: str) -> list[str]:
        return in_block((await memory.inject([{"role": "user", "content": question}])).messages[0]["content"])

    yield ask


@asynccontextmanager
async def model_tool(engine: MemoryEngine, served: Served) -> AsyncIterator[Ask]:
    memory = TurnMemory(engine, KIM)

    async def ask(question: str) -> list[str]:
        return [one["content"] for one in (await memory.search_memory(question))["memories"]]

    yield ask


@asynccontextmanager
async def langgraph(engine: MemoryEngine, served: Served) -> AsyncIterator[Ask]:
    seen: list[str] = []

    def respond(context: dict[str, Any]) -> str:
        seen.append(context["memory_block"])
        return "ok"

    graph = memory_graph(engine, respond)

    async def ask(question: str) -> list[str]:
        await graph.ainvoke({"input": question, "user_id": "kim", "thread_id": "t"})
        return in_block(seen.pop())

    yield ask


@asynccontextmanager
async def strands_store(engine: MemoryEngine, served: Served) -> AsyncIterator[Ask]:
    store = MnemicMemoryStore(build_engine(Settings(store=str(served.store))), KIM)

    async def ask(question: str) -> list[str]:
        return [one.content for one in await store.search(question)]

    yield ask


@asynccontextmanager
async def strands_plugin(engine: MemoryEngine, served: Served) -> AsyncIterator[Ask]:
    model = Recording()
    plugin = MnemicMemory(build_engine(Settings(store=str(served.store))), KIM, capture=False)

    async def ask(question: str) -> list[str]:
        agent = Agent(model=model, plugins=[plugin], callback_handler=None)
        await agent.invoke_async(question)
        return in_block(model.seen)

    yield ask


@asynccontextmanager
async def langchain(engine: MemoryEngine, served: Served) -> AsyncIterator[Ask]:
    middleware = MnemicMiddleware(engine, KIM, capture=False)
    model = GenericFakeChatModel(messages=iter(AIMessage("ok") for _ in ASKED))
    agent: Any = create_agent(model, middleware=[middleware])

    async def ask(question: str) -> list[str]:
        await agent.ainvoke({"messages": [("user", question)]})
        assert middleware.memory.last is not None
        return [entry.content for entry in middleware.memory.last.entries]

    yield ask


@asynccontextmanager
async def mcp_prompt_and_tool(engine: MemoryEngine, served: Served) -> AsyncIterator[Ask]:
    async with Client(memory_server(engine, KIM)) as client:

        async def ask(question: str) -> list[str]:
            prompt = await client.get_prompt("ask_with_memory", {"question": question})
            found = await client.call_tool("search_memory", {"query": question})
            assert found.structured_content is not None
            by_tool = [one["content"] for one in found.structured_content["memories"]]
            shown = in_block(prompt.messages[0].content.text)
            assert by_tool == shown
            return shown

        yield ask


@asynccontextmanager
async def rest_and_client(engine: MemoryEngine, served: Served) -> AsyncIterator[Ask]:
    with connect(served.address, api_key=served.key("reader", user="kim")) as client:

        async def ask(question: str) -> list[str]:
            return in_block((await asyncio.to_thread(client.context, question)).text)

        yield ask


@asynccontextmanager
async def console_run(engine: MemoryEngine, served: Served) -> AsyncIterator[Ask]:
    """The console's "Try one" is a run over REST, of which it shows what was put before the model."""
    with connect(served.address, api_key=served.key("reader", "writer", user="kim")) as client:

        async def ask(question: str) -> list[str]:
            report = await asyncio.to_thread(client.run, goal=question)
            hits = {hit.memory.memory_id: hit for hit in await recalled(engine, question)}
            return contents(hits[one] for one in report.audit.injected)

        yield ask


PATHS = [
    engine_context,
    manager,
    run,
    injector,
    turn_memory,
    model_tool,
    langgraph,
    strands_store,
    strands_plugin,
    langchain,
    mcp_prompt_and_tool,
    rest_and_client,
    console_run,
]


def strings(value: Any) -> Iterator[str]:
    """The texts of a request's body."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from strings(one)


class Unhurried:
    """Gives an injection five minutes, so that a busy machine does not end it."""

    @staticmethod
    def after(_: timedelta, clock: Callable[[], float]) -> Deadline:
        return Deadline.after(timedelta(minutes=5), clock)


async def recalled(engine: MemoryEngine, question: str) -> tuple[Hit, ...]:
    return (await engine.recall(RecallRequest(intent=Intent(query=question, top_k=5)), actor=KIM)).hits


async def test_what_is_shown_is_what_the_request_depends_on(engine: MemoryEngine) -> None:
    assert len(ASKED) == 45
    assert Budget().max_query_chars < len(CHAT) < MAX_QUESTION_CHARS < 20 * len(CHAT)
    for question, (wanted, more) in ASKED.items():
        shown = set(contents(await recalled(engine, question))) - {SHORT}
        assert wanted <= shown, question
        assert more or shown == wanted, question
        assert len(shown) <= 6 or wanted is OF_THE_USER, question


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.__name__)
async def test_every_path_shows_the_same(
    path: Any, engine: MemoryEngine, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemic.inject.injector.Deadline", Unhurried)
    async with AsyncExitStack() as closing:
        ask: Ask = await closing.enter_async_context(path(engine, served))
        held = await engine.count(actor=KIM)
        shown = {question: await ask(question) for question in ASKED}
        wanted = {question: contents(await recalled(engine, question)) for question in ASKED}
        for question, (of_the_user, _) in ASKED.items():
            # A run counts the tokens of its memories as JSON, which ends a profile sooner.
            if of_the_user is OF_THE_USER and len(shown[question]) < len(wanted[question]):
                assert of_the_user <= set(shown[question])
                wanted[question] = wanted[question][: len(shown[question])]
        assert shown == wanted
        assert await engine.count(actor=KIM) == held


@pytest.mark.parametrize("name", ASSISTANTS, ids=short)
async def test_every_framework_shows_its_model_the_same(
    name: str, engine: MemoryEngine, served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TurnMemory, "capture", AsyncMock())  # or the requests would be remembered, too
    module, _, kind = name.partition(":")
    build = getattr(import_module(f"tests.integrations.{module}"), kind)
    monkeypatch.setattr("mnemic.inject.injector.Deadline", Unhurried)
    held = await engine.count(actor=KIM)
    shown = {}
    with ScriptedModelServer(["ok"] * len(ASKED)) as server:
        async with AsyncExitStack() as closing:
            for number, question in enumerate(ASKED):
                folder = tmp_path / str(number)  # a conversation for each, so that none continues another
                folder.mkdir()
                given = Given(engine=engine, actor=KIM, base_url=server.base_url, folder=folder, closing=closing)
                assert await build(given).say(question) == "ok"
                shown[question] = in_block("\n".join(strings(dict(server.requests[-1].body))))
    assert shown == {question: contents(await recalled(engine, question)) for question in ASKED}
    assert await engine.count(actor=KIM) == held
