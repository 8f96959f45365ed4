"""One question has the same relevance and the same reason on every path that searches, and a least relevance of the
caller holds there.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

import httpx
import pytest
from mcp import Client

from mnemic import Actor, MemoryManager, Settings, build_engine
from mnemic.agents.langgraph import memory_graph
from mnemic.agents.mcp import memory_server
from mnemic.agents.steps import GatewayMemory
from mnemic.agents.strands import MnemicMemoryStore
from mnemic.agents.turns import TurnMemory, shown_for
from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput
from mnemic.types import Hit
from mnemic_client import connect
from tests.service import Served, serving

KIM = Actor(user="kim")
TOLD = ("I am vegetarian.", "I prefer aisle seats.")
FACTS = (
    "My sister Hana lives in Sapporo.",
    "My sister Ines plays the cello.",
    "I collect brass compasses.",
    "I drive a Skoda.",
    "The boiler was serviced in May.",
    "My dentist is Dr. Wolf.",
)
QUESTION = "Where does my sister Hana live?"
ANSWER = "My sister Hana lives in Sapporo."
UNKNOWN = "Explain quantum chromodynamics."

Seen = dict[str, tuple[float | None, str]]
"""Memories that were shown, each with its relevance and the reason."""
Ask = Callable[[str, float], Awaitable[Seen]]


def of_hits(hits: Any) -> Seen:
    return {hit.memory.content: (hit.relevance, hit.why) for hit in hits}


def of_dicts(hits: Any) -> Seen:
    return {hit["memory"]["content"]: (hit["relevance"], hit["why"]) for hit in hits}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service on the file that every path reads."""
    folder = tmp_path_factory.mktemp("relevance")

    async def tell() -> None:
        async with build_engine(Settings(store=str(folder / "s.db"))) as engine:
            for said in TOLD:
                await engine.capture(said, actor=KIM)
            for fact in FACTS:
                await engine.add(fact, actor=KIM)

    asyncio.run(tell())
    with serving(folder) as running:
        with connect(running.address, api_key=running.key("reader", "writer", user="kim")) as client:
            client.search("sister")  # loads the embedder, for which an injection has two seconds
        yield running


@pytest.fixture
async def engine(served: Served) -> AsyncIterator[MemoryEngine]:
    async with build_engine(Settings(store=str(served.store))) as one:
        yield one


def blocking(open_memory: Callable[[Served], Any], verb: str) -> Any:
    """The path through a verb of a manager or a client."""

    @asynccontextmanager
    async def opened(engine: MemoryEngine, served: Served) -> AsyncIterator[Ask]:
        with open_memory(served) as memory:

            async def ask(question: str, least: float) -> Seen:
                return of_hits((await asyncio.to_thread(getattr(memory, verb), question, min_score=least)).hits)

            yield ask

    return opened


def in_a_file(served: Served) -> MemoryManager:
    return MemoryManager("kim", store=served.store)


def at_the_service(served: Served) -> Any:
    return connect(served.address, api_key=served.key("reader", "writer", user="kim"))


def posting(place: str, name: str) -> Any:
    """The path through a route of the service."""

    @asynccontextmanager
    async def opened(engine: MemoryEngine, served: Served) -> AsyncIterator[Ask]:
        headers = {"Authorization": f"Bearer {served.key('reader', 'writer', user='kim')}"}

        async def ask(question: str, least: float) -> Seen:
            async with httpx.AsyncClient(base_url=served.address, headers=headers, timeout=60) as client:
                answer = await client.post(f"/v1/{place}", json={name: question, "min_score": least})
            assert answer.status_code == 200, answer.text
            return of_dicts(answer.json()["hits"])

        yield ask

    return opened


@asynccontextmanager
async def command_line(engine: MemoryEngine, served: Served) -> AsyncIterator[Ask]:
    """`mnemic context` is not asked: a new process may not load the embedder within the two seconds of an injection."""

    async def ask(question: str, least: float) -> Seen:
        words = ("search", question, "--min-score", str(least), "--user", "kim", "--json")
        done = await asyncio.to_thread(served.run, *words)
        assert done.returncode == 0, done.stderr
        return of_dicts(json.loads(done.stdout)["hits"])

    yield ask


@asynccontextmanager
async def library_run(engine: MemoryEngine, served: Served) -> AsyncIterator[Ask]:
    async def ask(question: str, least: float) -> Seen:
        return of_hits((await engine.run(actor=KIM, goal=question, min_score=least)).hits)

    yield ask


@asynccontextmanager
async def mcp(engine: MemoryEngine, served: Served) -> AsyncIterator[Ask]:
    async with Client(memory_server(engine, KIM)) as client:

        async def ask(question: str, least: float) -> Seen:
            found = await client.call_tool("search_memory", {"query": question, "min_score": least})
            assert found.structured_content is not None
            return {one["content"]: (one["relevance"], one["why"]) for one in found.structured_content["memories"]}

        yield ask


@asynccontextmanager
async def tool_of_a_model(engine: MemoryEngine, served: Served) -> AsyncIterator[Ask]:
    memory = TurnMemory(engine, KIM)

    async def ask(question: str, least: float) -> Seen:
        found = (await memory.search_memory(question, min_score=least))["memories"]
        return {one["content"]: (one["relevance"], one["why"]) for one in found}

    yield ask


@asynccontextmanager
async def langgraph(engine: MemoryEngine, served: Served) -> AsyncIterator[Ask]:
    async def ask(question: str, least: float) -> Seen:
        seen: list[dict[str, Any]] = []

        def respond(context: dict[str, Any]) -> str:
            seen.extend(context["memories"])
            return "ok"

        graph = memory_graph(GatewayMemory(engine.gateway, min_score=least), respond)
        await graph.ainvoke({"input": question, "user_id": "kim", "thread_id": "t"})
        return {one["value"]["value"]: (one["relevance"], one["why"]) for one in seen}

    yield ask


@asynccontextmanager
async def strands(engine: MemoryEngine, served: Served) -> AsyncIterator[Ask]:
    store = MnemicMemoryStore(build_engine(Settings(store=str(served.store))), KIM)

    async def ask(question: str, least: float) -> Seen:
        store.min_score = least
        found = await store.search(question)
        return {one.content: (one.metadata["relevance"], one.metadata["why"]) for one in found if one.metadata}

    yield ask


PATHS = {
    "library search": blocking(in_a_file, "search"),
    "library context": blocking(in_a_file, "context"),
    "library run": library_run,
    "command line": command_line,
    "POST /v1/search": posting("search", "query"),
    "POST /v1/context": posting("context", "query"),
    "POST /v1/runs": posting("runs", "goal"),
    "client search": blocking(at_the_service, "search"),
    "client context": blocking(at_the_service, "context"),
    "MCP": mcp,
    "tool of a model": tool_of_a_model,
    "LangGraph": langgraph,
    "Strands": strands,
}


@pytest.mark.parametrize("path", PATHS)
async def test_a_path_tells_relevance_and_reason_and_cuts_by_the_least(
    path: str, engine: MemoryEngine, served: Served
) -> None:
    best = (await engine.search(QUESTION, actor=KIM, top_k=1)).hits[0]
    assert best.memory.content == ANSWER
    assert best.relevance is not None
    assert best.relevance > 0.8
    async with PATHS[path](engine, served) as ask:
        relevance, why = (await ask(QUESTION, 0.0))[ANSWER]
        assert relevance == pytest.approx(best.relevance, abs=0.006)
        assert why == best.why
        assert "Hana" in why
        assert set(await ask(QUESTION, 0.8)) == {ANSWER}
        assert not await ask(UNKNOWN, 0.8)


async def test_a_least_relevance_holds_for_preferences_that_the_request_could_depend_on(engine: MemoryEngine) -> None:
    async def shown(least: float) -> set[str]:
        return set(of_hits((await engine.context("Book a table for dinner.", actor=KIM, min_score=least)).hits))

    assert "vegetarian" in await shown(0.0)
    assert not await shown(0.99)


@pytest.mark.parametrize("least", [-0.1, 1.1])
async def test_a_tool_refuses_a_least_relevance_outside_its_range(engine: MemoryEngine, least: float) -> None:
    with pytest.raises(InvalidInput) as refused:
        await shown_for(engine, KIM, QUESTION, 5, min_score=least)
    assert refused.value.reason == "invalid_input:min_score"
    assert (await TurnMemory(engine, KIM).search_memory(QUESTION, min_score=least))[
        "error"
    ] == "invalid_input:min_score"


@pytest.mark.parametrize(
    ("asked_at", "day"), [("2026-05-11T12:00:00Z", "2026-05-04"), ("2026-06-15T12:00:00Z", "2026-06-08")]
)
async def test_a_question_of_a_model_is_read_by_the_time_it_was_asked(
    engine: MemoryEngine, asked_at: str, day: str
) -> None:
    async with Client(memory_server(engine, KIM)) as client:
        given = {"query": "What did I do last week?", "asked_at": asked_at}
        found = await client.call_tool("search_memory", given)
        assert found.structured_content is not None
        assert "error" not in found.structured_content
        refused = await client.call_tool("search_memory", {**given, "asked_at": "2026-05-11T12:00:00"})
        assert refused.structured_content is not None
        assert refused.structured_content["error"] == "invalid_input:asked_at"
    request = await shown_for(engine, KIM, given["query"], 5, asked_at=datetime.fromisoformat(asked_at))
    assert str(request.found.plan.told_from) == day


def test_a_hit_without_relevance_is_held_to_its_score() -> None:
    memory: Any = None
    assert Hit(memory=memory, score=0.5).reaches(0.5)
    assert not Hit(memory=memory, score=0.5).reaches(0.6)
    assert not Hit(memory=memory, score=0.9, relevance=0.1).reaches(0.5)
