"""The MCP server as the SDK's own client sees it, over standard input and output and over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitRequestParams, ElicitResult

from mnemic.agents.mcp import memory_server
from mnemic.bootstrap import build_engine
from mnemic.config import Settings
from mnemic.engine import MemoryEngine
from mnemic.types import Origin
from tests.integrations.assistant import ANA, BOB

TOKEN = "a-token-for-this-test"
COMMAND = ["-m", "mnemic", "--store", "memory.db", "--user", "ana", "mcp"]


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("MNEMIC_", "OPENAI_"))}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of this module's own, on a free port."""
    process = subprocess.Popen(
        [sys.executable, *COMMAND, "--http", "0"],
        cwd=tmp_path_factory.mktemp("http"),
        env={**environment(), "MNEMIC_MCP_TOKEN": TOKEN},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        yield process.stderr.readline().strip()
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stderr.close()


@asynccontextmanager
async def over_http(address: str, token: str = TOKEN) -> AsyncIterator[Client]:
    bearer = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=bearer, timeout=60) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):
        yield client


def over_stdio(folder: Path) -> AbstractAsyncContextManager[Client]:
    parameters = StdioServerParameters(command=sys.executable, args=COMMAND, env=environment(), cwd=folder)
    return Client(stdio_client(parameters))


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content


async def refused(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The answer of a tool that failed: an error by the protocol, with its reason in the text and beside it."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.structured_content
    assert isinstance(result.structured_content, dict)
    assert json.loads(result.content[0].text) == result.structured_content  # type: ignore[union-attr]
    return result.structured_content


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_a_client_remembers_finds_corrects_and_forgets(transport: str, address: str, tmp_path: Path) -> None:
    async with over_http(address) if transport == "http" else over_stdio(tmp_path) as client:
        captured = await call(client, "capture", message="I prefer aisle seats.")
        assert (captured["status"], captured["memories"][0]["outcome"]) == ("ok", "created")
        assert (await call(client, "add_memory", content="Ana travels with a cat."))["stored"]
        found = await call(client, "search_memory", query="Which seat does she like?", max_results=1)
        assert found["memories"][0]["content"] == "seat: aisle"
        memory_id = found["memories"][0]["memory_id"]

        planned = await call(client, "update_memory", memory_id=memory_id, content="window")
        assert planned["would_change"]["content"] == "seat: aisle"
        assert (await call(client, "update_memory", memory_id=memory_id, content="window", dry_run=False))["stored"]
        tagged = {"memory_id": memory_id, "data": {"trip": "oslo"}, "dry_run": False}
        assert (await call(client, "update_memory", **tagged))["stored"]
        found = await call(client, "search_memory", query="seat", where={"trip": "oslo"})
        assert [one["content"] for one in found["memories"]] == ["seat: window"]
        resource = await client.read_resource(f"memory://memories/{memory_id}")
        assert [one["content"] for one in json.loads(resource.contents[0].text)["versions"]] == [
            "seat: aisle",
            "seat: window",
            "seat: window",  # with data
        ]
        prompt = await client.get_prompt("ask_with_memory", {"question": "Which seat do I prefer?"})
        for _ in range(9):  # on a busy machine a search may take longer than a prompt waits for it
            if "seat: window" not in prompt.messages[0].content.text:
                prompt = await client.get_prompt("ask_with_memory", {"question": "Which seat do I prefer?"})
        assert "seat: window" in prompt.messages[0].content.text
        assert prompt.messages[0].content.text.endswith("Which seat do I prefer?")

        assert (await call(client, "forget_memory", memory_id=memory_id))["would_forget"]["content"] == "seat: window"
        assert len((await call(client, "list_memories"))["memories"]) == 2
        assert await call(client, "forget_memory", memory_id=memory_id, dry_run=False) == {"forgotten": True}
        newest = json.loads((await client.read_resource("memory://newest")).contents[0].text)
        assert [one["content"] for one in newest["memories"]] == ["Ana travels with a cat."]
        assert await refused(client, "forget_memory", memory_id=memory_id) == {"error": "memory_not_found"}


async def test_a_filter_on_data_narrows_what_a_model_finds(engine: MemoryEngine) -> None:
    await engine.open()
    for year, told in ((2025, "Ana took the train to Turin."), (2026, "Ana sailed for a week.")):
        await engine.add(told, actor=ANA, data={"year": year})
    async with Client(memory_server(engine, ANA)) as client:
        for tool, given in (("list_memories", {}), ("search_memory", {"query": "train to Turin"})):
            found = await call(client, tool, where={"year": {"$lt": 2026}}, **given)
            assert [one["content"] for one in found["memories"]] == ["Ana took the train to Turin."]
            for unknown in ({"$like": 1}, {"year": {"in": [2025]}}, {"AND": [{"year": 2025}]}):
                assert (await refused(client, tool, where=unknown, **given))["error"] == "invalid_input:operator"
            assert (await refused(client, tool, where={"year": 2**70}, **given))["error"] == "invalid_input:where"


async def test_statements_that_disagree_name_each_other(tmp_path: Path) -> None:
    question = "What is my dog called?"
    async with build_engine(Settings(store=str(tmp_path / "memory.db"))) as engine:
        for said in ("My dog is called Rex", "My dog is called Max", "My sister lives in Oslo"):
            await engine.add(said, actor=ANA)
        async with Client(memory_server(engine, ANA)) as client:
            newer, older = (await call(client, "search_memory", query=question))["memories"]
            (alone,) = (await call(client, "search_memory", query="Where does my sister live?"))["memories"]
            described = {one.name: one.output_schema or {} for one in (await client.list_tools()).tools}
    assert (newer["content"], older["content"]) == ("My dog is called Max", "My dog is called Rex")
    assert (newer["disagrees_with"], older["disagrees_with"]) == ([older["memory_id"]], [newer["memory_id"]])
    assert "disagrees_with" not in alone
    field = described["search_memory"]["$defs"]["Shown"]["properties"]["disagrees_with"]
    assert (field["title"], "memory_id" in field["description"]) == ("Disagrees With", True)


async def test_the_page_names_every_tool_with_its_arguments(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "frameworks" / "mcp.md").read_text(encoding="utf-8")
    named = {tool: told.split(", ") for tool, told in re.findall(r"^\| `(\w+)\(([^)]*)\)` \|", page, re.MULTILINE)}
    async with (
        build_engine(Settings(store=str(tmp_path / "memory.db"))) as engine,
        Client(memory_server(engine, ANA)) as client,
    ):
        offered = {one.name: [*one.input_schema["properties"]] for one in (await client.list_tools()).tools}
    assert named == offered


async def test_only_the_bearer_of_the_token_is_served(address: str) -> None:
    async with httpx2.AsyncClient(timeout=60) as http:
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}):
            answer = await http.post(address, json=ping, headers=headers)
            assert (answer.status_code, answer.content) == (401, b"")
        rebound = {"Authorization": f"Bearer {TOKEN}", "Host": "evil.example"}
        assert (await http.post(address, json=ping, headers=rebound)).status_code == 421


@pytest.mark.parametrize(
    ("host", "servers"),
    [("claude-desktop", "mcpServers"), ("claude-code", "mcpServers"), ("cursor", "mcpServers"), ("vscode", "servers")],
)
async def test_the_settings_for_a_host_start_the_server_from_any_folder_and_path(
    host: str, servers: str, tmp_path: Path
) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    elsewhere.mkdir()
    words = ["-m", "mnemic", "--store", "~/memory.db", "--user", "ana", "mcp", "--believe-user", "--print-config", host]
    printed = partial(subprocess.run, env={**environment(), "HOME": str(home)}, capture_output=True, check=True)
    told = await asyncio.to_thread(printed, [sys.executable, *words])
    server = json.loads(told.stdout)[servers]["memory"]
    assert Path(server["command"]).is_absolute()
    assert server.get("type", "stdio") == "stdio"
    assert server["args"][-2:] == ["mcp", "--believe-user"]

    bare = {"PATH": "/nowhere", "HOME": str(tmp_path)}
    parameters = StdioServerParameters(command=server["command"], args=server["args"], env=bare, cwd=elsewhere)
    async with Client(stdio_client(parameters)) as client:
        assert (await call(client, "add_memory", content="Ana travels with a cat."))["stored"]
    assert (home / "memory.db").exists()
    assert list(elsewhere.iterdir()) == []


# -- what it offers ----------------------------------------------------------------------------------------------------


async def test_nothing_has_an_argument_for_whose_memories(engine: MemoryEngine) -> None:
    async with Client(memory_server(engine, ANA)) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        arguments = {name for tool in tools.values() for name in tool.input_schema["properties"]}
        templates = [one.uri_template for one in (await client.list_resource_templates()).resource_templates]
        prompts = (await client.list_prompts()).prompts
    assert arguments == {
        "verdict",
        "query",
        "max_results",
        "limit",
        "message",
        "content",
        "data",
        "memory_id",
        "request",
        "dry_run",
        "where",
        "min_score",
        "asked_at",
        "before",
    }
    assert templates == ["memory://memories/{memory_id}"]
    assert [[argument.name for argument in prompt.arguments or []] for prompt in prompts] == [["question"]]


async def test_memories_are_listed_page_by_page_and_no_least_relevance_is_none(engine: MemoryEngine) -> None:
    await engine.open()
    for number in range(5):
        await engine.add(f"Ana has the boat number {number}.", actor=ANA)
    async with Client(memory_server(engine, ANA)) as client:
        seen: list[str] = []
        page = await call(client, "list_memories", limit=2)
        while True:
            seen += [one["content"] for one in page["memories"]]
            if "next" not in page:
                break
            page = await call(client, "list_memories", limit=2, before=page["next"])
        assert seen == [f"Ana has the boat number {number}." for number in (4, 3, 2, 1, 0)]
        found = await call(client, "search_memory", query="boat", min_score=None)
        assert found["memories"] == (await call(client, "search_memory", query="boat"))["memories"] != []


async def test_every_tool_says_what_it_takes_and_what_it_answers(engine: MemoryEngine) -> None:
    async with Client(memory_server(engine, ANA)) as client:
        tools = (await client.list_tools()).tools
    for tool in tools:
        assert tool.title, tool.name
        assert tool.description, tool.name
        for name, told in tool.input_schema["properties"].items():
            kinds = {told.get("type"), *(one.get("type") for one in told.get("anyOf", ()))}
            bounds = {"integer": ("minimum", "maximum"), "string": ("maxLength",)}
            assert told.get("description"), f"{tool.name}.{name}"
            assert all(bound in told for kind in kinds for bound in bounds.get(kind, ())), f"{tool.name}.{name}"
        answer = tool.output_schema or {}
        shapes = [answer, *answer.get("$defs", {}).values()]
        fields = [field for shape in shapes for field in shape.get("properties", {}).values()]
        assert fields, tool.name
        assert all(field.get("description") for field in fields), tool.name


async def test_what_the_policy_refuses_is_an_error_and_what_waits_for_a_person_is_not(engine: MemoryEngine) -> None:
    await engine.open()
    async with Client(memory_server(engine, ANA)) as client:
        told = await refused(client, "add_memory", content="")
        assert told["reason"] == "invalid_memory_candidates:value"
        assert (await refused(client, "carry_out", request={"kind": "burn"}))["error"].startswith("invalid_input")
        assert (await call(client, "add_memory", content="Ana travels with a cat."))["stored"]


async def test_what_destroys_says_so(engine: MemoryEngine) -> None:
    async with Client(memory_server(engine, ANA)) as client:
        hints = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
    destroying = {name for name, hint in hints.items() if hint is not None and hint.destructive_hint}
    reading = {name for name, hint in hints.items() if hint is not None and hint.read_only_hint}
    assert destroying == {"update_memory", "forget_memory", "carry_out"}
    assert reading == {"search_memory", "list_memories"}


async def test_somebody_elses_memory_is_not_there(engine: MemoryEngine) -> None:
    await engine.open()
    receipt = await engine.add("window", key="seat", actor=BOB)
    async with Client(memory_server(engine, ANA)) as client:
        assert (await call(client, "search_memory", query="seat"))["memories"] == []
        for tool in ("forget_memory", "update_memory"):
            extra = {"content": "aisle"} if tool == "update_memory" else {}
            answer = await refused(client, tool, memory_id=receipt.memory_id, dry_run=False, **extra)
            assert answer == {"error": "memory_not_found"}
        held = await client.read_resource(f"memory://memories/{receipt.memory_id}")
        assert json.loads(held.contents[0].text) == {"error": "memory_not_found"}
    assert (await engine.get(str(receipt.memory_id), actor=BOB)).content == "window"


@pytest.mark.parametrize(
    ("says", "confirmed", "gone"), [("accept", True, True), ("accept", False, False), ("decline", None, False)]
)
async def test_what_the_user_said_is_deleted_on_the_users_word(
    engine: MemoryEngine, says: Literal["accept", "decline"], confirmed: bool | None, gone: bool
) -> None:
    asked: list[str] = []

    async def answered(context: object, question: ElicitRequestParams) -> ElicitResult:
        asked.append(question.message)
        return ElicitResult(action=says, content=None if confirmed is None else {"confirmed": confirmed})

    await engine.open()
    memory_id = (await engine.add("window", key="seat", actor=ANA)).memory_id
    request = {"kind": "forget", "memory_ids": [memory_id]}
    async with Client(memory_server(engine, ANA), elicitation_callback=answered) as client:
        done = await call(client, "carry_out", request=request, dry_run=False)
        assert done["carried_out"] is gone
        memory_id = (await engine.add("window", key="seat", actor=ANA)).memory_id
        done = await call(client, "forget_memory", memory_id=memory_id, dry_run=False)
        assert done == ({"forgotten": True} if gone else {"forgotten": False, "declined": True})
    assert asked == ["Delete this permanently?\n- seat: window"] * 2
    assert (await engine.count(actor=ANA) == 0) is gone


async def test_everything_is_erased_on_the_users_word_alone(engine: MemoryEngine) -> None:
    async def agreed(context: object, question: ElicitRequestParams) -> ElicitResult:
        assert question.message.endswith("- everything that is known about you")
        return ElicitResult(action="accept", content={"confirmed": True})

    await engine.open()
    await engine.add("window", key="seat", actor=ANA)
    everything = {"kind": "forget_all", "memory_ids": []}
    async with Client(memory_server(engine, ANA)) as client:
        told = await refused(client, "carry_out", request=everything, dry_run=False)
    assert told == {"error": "write_blocked:lower_trust"}
    assert await engine.count(actor=ANA) == 1
    async with Client(memory_server(engine, ANA), elicitation_callback=agreed) as client:
        assert (await call(client, "carry_out", request=everything, dry_run=False))["erased"] is True
    assert await engine.count(actor=ANA) == 0


async def test_a_client_that_cannot_ask_deletes_what_a_model_wrote_and_more_only_where_its_host_confirms(
    engine: MemoryEngine,
) -> None:
    await engine.open()
    memory_id = (await engine.add("window", key="seat", actor=ANA)).memory_id
    async with Client(memory_server(engine, ANA)) as client:
        told = await refused(client, "forget_memory", memory_id=memory_id, dry_run=False)
        assert told == {"error": "write_blocked:lower_trust"}
        inferred = (await call(client, "add_memory", content="Ana travels with a cat."))["memory_id"]
        assert await call(client, "forget_memory", memory_id=inferred, dry_run=False) == {"forgotten": True}
    assert (await engine.get(str(memory_id), actor=ANA)).content == "window"
    async with Client(memory_server(engine, ANA, host_confirms=True)) as client:
        assert await call(client, "forget_memory", memory_id=memory_id, dry_run=False) == {"forgotten": True}


async def test_a_person_is_believed_where_the_operator_says_that_the_host_is_theirs(engine: MemoryEngine) -> None:
    await engine.open()
    said: dict[bool, list[Any]] = {}
    for believed, told in ((False, "I am vegetarian."), (True, "I am allergic to peanuts.")):
        async with Client(memory_server(engine, ANA, believes_user=believed)) as client:
            learnt = (await call(client, "capture", message=told))["memories"]
            added = await call(client, "add_memory", content=f"Ana owns boat {believed}.")
            ids = [*(one["memory_id"] for one in learnt), added["memory_id"]]
            said[believed] = [(await engine.get(one, actor=ANA)).source.origin for one in ids]
    assert said == {
        False: [Origin.AGENT_INFERRED, Origin.AGENT_INFERRED],
        True: [Origin.USER_STATED, Origin.AGENT_INFERRED],
    }


async def test_an_outage_is_an_answer(broken: MemoryEngine) -> None:
    async with Client(memory_server(broken, ANA)) as client:
        assert (await refused(client, "search_memory", query="seat"))["error"].startswith("store_")
        assert (await refused(client, "capture", message="I prefer aisle seats."))["error"].startswith("store_")
        assert (await refused(client, "add_memory", content="I prefer aisle seats."))["reason"].startswith("store_")
        prompt = await client.get_prompt("ask_with_memory", {"question": "Which seat?"})
        assert prompt.messages[0].content.text == "Which seat?"


async def test_the_block_of_a_prompt_is_logged(engine: MemoryEngine) -> None:
    await engine.open()
    await engine.add("aisle", key="seat", actor=ANA)
    async with Client(memory_server(engine, ANA)) as client:
        await client.get_prompt("ask_with_memory", {"question": "Which seat do I prefer?"})
    assert [event.action for event in await engine.audit(actor=ANA)].count("injected") == 1


@pytest.mark.parametrize(
    ("tool", "given", "told"),
    [
        ("add_memory", {"content": "Invoice paid", "data": {"invoice": 1}}, "add_memory has no 'data', but content"),
        ("add_memory", {"content": "I like tea.", "confidence": 7}, "no 'confidence'"),
        ("search_memory", {"query": "tea", "limit": 3}, "no 'limit', but query, max_results"),
        ("forget_memory", {"memory_id": "x", "dryRun": False}, "no 'dryRun', but memory_id, dry_run"),
    ],
)
async def test_an_argument_that_a_tool_lacks_is_refused_and_not_dropped_unsaid(
    tool: str, given: dict[str, Any], told: str
) -> None:
    async with build_engine(Settings(store="memory:")) as engine:
        async with Client(memory_server(engine, ANA)) as client:
            answer = await client.call_tool(tool, given)
        assert answer.is_error
        assert told in str(answer.content)
        assert "invalid_input:argument:unknown" in str(answer.content)
        assert await engine.count(actor=ANA) == 0
