"""Requests about memory and questions about the past through the library, the command line, REST and MCP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import pytest
from mcp import Client

from mnemic import Actor, MemoryManager, Message, Settings, build_engine
from mnemic.agents.mcp import memory_server
from mnemic_client import connect
from tests.service import run, serving

ANA = Actor(user="ana")
TOLD = (
    ("I live in Valencia.", datetime(2026, 1, 10, 9, tzinfo=UTC)),
    ("I prefer aisle seats.", datetime(2026, 1, 10, 9, tzinfo=UTC)),
    ("My passport expires in May 2031.", datetime(2026, 1, 11, 9, tzinfo=UTC)),
    ("I moved to Madrid.", datetime(2026, 4, 20, 9, tzinfo=UTC)),
    ("I prefer window seats now.", datetime(2026, 6, 1, 9, tzinfo=UTC)),
)
QUESTIONS = (
    # the question, what answers it, and what may not be among the hits
    ("Where did I live in March 2026?", "Valencia", None),
    ("where did I live on 3 May 2026?", "Madrid", None),
    ("What did I prefer before?", "aisle", None),
    ("Wo habe ich im März 2026 gewohnt?", "Valencia", None),
    ("Où habitais-je en mars 2026 ?", "Valencia", None),
    ("¿Dónde vivía en marzo de 2026?", "Valencia", None),
    ("Dove abitavo a marzo 2026?", "Valencia", None),
    ("Onde é que eu morava em março de 2026?", "Valencia", None),
    ("Waar woonde ik in maart 2026?", "Valencia", None),
    ("Where do I live?", "Madrid", "Valencia"),
    ("Which seat do I prefer?", "window", "aisle"),
)
REQUEST = "Please forget what I told you about my passport."


class Face(Protocol):
    """One way to the same memories."""

    async def found(self, question: str) -> Sequence[str]:
        """Return the contents of the hits, best first."""

    async def asked(self, text: str) -> Sequence[Mapping[str, Any]]:
        """Capture `text` and return the requests about memory in it."""

    async def confirm(self, request: Mapping[str, Any]) -> None:
        """Carry a request out."""


class Library:
    def __init__(self, memory: Any) -> None:
        self.memory = memory

    async def found(self, question: str) -> Sequence[str]:
        result = await asyncio.to_thread(self.memory.search, question)
        return [one.memory.content for one in result.hits]

    async def asked(self, text: str) -> Sequence[Mapping[str, Any]]:
        report = await asyncio.to_thread(self.memory.capture, text)
        return [{"kind": one.kind, "memory_ids": list(one.memory_ids), "request": one} for one in report.asked]

    async def confirm(self, request: Mapping[str, Any]) -> None:
        await asyncio.to_thread(self.memory.carry_out, request["request"])


class CommandLine:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def _run(self, *words: str) -> Any:
        done = await asyncio.to_thread(run, self.folder, *words, "--user", "ana", "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    async def found(self, question: str) -> Sequence[str]:
        return [str(one["memory"]["content"]) for one in (await self._run("search", question))["hits"]]

    async def asked(self, text: str) -> Sequence[Mapping[str, Any]]:
        return [{**one, "text": text} for one in (await self._run("capture", text))["asked"]]

    async def confirm(self, request: Mapping[str, Any]) -> None:
        await self._run("capture", request["text"], "--yes")


class Tools:
    def __init__(self, client: Any) -> None:
        self.client = client

    async def _call(self, tool: str, **given: Any) -> Any:
        result = await self.client.call_tool(tool, given)
        assert not result.is_error, result.content
        return result.structured_content

    async def found(self, question: str) -> Sequence[str]:
        found = await self._call("search_memory", query=question)
        return [str(one["content"]) for one in found["memories"]]

    async def asked(self, text: str) -> Sequence[Mapping[str, Any]]:
        found: Sequence[Mapping[str, Any]] = (await self._call("capture", message=text))["asked"]
        return found

    async def confirm(self, request: Mapping[str, Any]) -> None:
        await self._call("carry_out", request=request, dry_run=False)


@asynccontextmanager
async def library(store: Path) -> AsyncIterator[Face]:
    with MemoryManager("ana", store=store) as memory:
        yield Library(memory)


@asynccontextmanager
async def command_line(store: Path) -> AsyncIterator[Face]:
    yield CommandLine(store.parent)


@asynccontextmanager
async def rest(store: Path) -> AsyncIterator[Face]:
    with (
        serving(store.parent) as served,
        connect(served.address, api_key=served.key("reader", "writer", "subject")) as client,
    ):
        yield Library(client)


@asynccontextmanager
async def mcp(store: Path) -> AsyncIterator[Face]:
    async with (
        build_engine(Settings(store=str(store))) as engine,
        Client(memory_server(engine, ANA, host_confirms=True)) as client,
    ):
        yield Tools(client)


@pytest.mark.parametrize("face", [library, command_line, rest, mcp], ids=lambda one: one.__name__)
async def test_then_and_now_are_told_apart_and_requests_are_carried_out_when_confirmed(
    face: Any, tmp_path: Path
) -> None:
    store = tmp_path / "s.db"
    with MemoryManager("ana", store=store) as memory:
        for number, (text, at) in enumerate(TOLD):
            memory.capture(Message(role="user", content=text, sent_at=at, session=f"s{number}"))
    async with face(store) as way:
        for question, answer, closed in QUESTIONS:
            hits = await way.found(question)
            assert hits, question
            assert answer in hits[0], (question, hits)
            assert closed is None or not any(closed in one for one in hits), (question, hits)
        (request,) = await way.asked(REQUEST)
        assert request["kind"] == "forget"
        assert len(request["memory_ids"]) == 1
        assert any("passport" in one for one in await way.found("When does my passport expire?"))
        await way.confirm(request)
        assert not any("passport" in one for one in await way.found("When does my passport expire?"))
