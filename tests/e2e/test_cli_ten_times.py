"""Ten times what a limit allows, on the command line, in its imports and over MCP: a typed refusal, nothing lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from mnemic.agents.mcp import memory_server
from mnemic.cli.terminal import Exit
from mnemic.engine import MemoryEngine
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor
from tests.e2e.conftest import Call, complaint

KEPT = "The cat is called Miso."
DEEP = '{"a":' * 320 + "1" + "}" * 320
DEEP_FILTER = '{"a":' * 160 + "1" + "}" * 160
WIDE = json.dumps({f"n{number}": 1 for number in range(7_000)})
LONG = "seat " * 16_500

COMMANDS: dict[str, tuple[list[str], str | None]] = {
    "content": (["add", "-"], "a " * 41_000),
    "standard input": (["add", "-"], "a " * 5_300_000),
    "key": (["add", "x", "--key", "k" * 1_280], None),
    "depth": (["add", "x", "--data", DEEP], None),
    "names": (["add", "x", "--data", WIDE], None),
    "query": (["search", LONG], None),
    "results": (["search", "seat", "--top-k", "1000"], None),
    "page": (["list", "--limit", "10000000"], None),
    "identifier": (["get", "a" * 1_280], None),
    "user": (["--user", "u" * 1_280, "list"], None),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_a_command_refuses_ten_times_its_limit_by_name(mnemic: Call, case: str) -> None:
    mnemic("add", KEPT)
    words, stdin = COMMANDS[case]
    result = mnemic(*words, stdin=stdin)
    assert result.exit_code in (Exit.INPUT, Exit.USAGE, Exit.REFUSED), (result.exit_code, result.stdout[:200])
    assert complaint(result).startswith(("invalid_", "usage", "memory_not_found"))
    assert [one["content"] for one in json.loads(mnemic("list", "--json").stdout)["memories"]] == [KEPT]


def test_a_message_that_is_ten_times_too_long_is_skipped_by_name(mnemic: Call) -> None:
    mnemic("add", KEPT)
    assert mnemic("capture", "-", stdin="a " * 164_000).stdout.split() == ["skipped", "too_long"]
    assert [one["content"] for one in json.loads(mnemic("list", "--json").stdout)["memories"]] == [KEPT]


def test_an_import_refuses_a_message_that_is_ten_times_too_long_and_keeps_the_others(
    mnemic: Call, tmp_path: Path
) -> None:
    mnemic("add", KEPT)
    said = ["I prefer aisle seats.", "a " * 164_000, "I live in Oslo."]
    lines = [{"role": "user", "content": one, "name": "ana"} for one in said]
    talk = tmp_path / "talk.jsonl"
    talk.write_text("\n".join(json.dumps(one) for one in lines), encoding="utf-8")
    mnemic("import", str(talk), "--format", "chat")
    kept = {one["content"] for one in json.loads(mnemic("list", "--json", "--limit", "100").stdout)["memories"]}
    assert {KEPT, said[0], said[2]} <= kept


TOOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "query": ("search_memory", {"query": LONG}),
    "depth of a filter": ("search_memory", {"query": "seat", "where": json.loads(DEEP_FILTER)}),
    "width of a filter": ("list_memories", {"where": json.loads(WIDE)}),
    "score": ("search_memory", {"query": "seat", "min_score": 10.0}),
    "message": ("capture", {"message": "a " * 164_000}),
    "identifier": ("forget_memory", {"memory_id": "a" * 1_280, "dry_run": False}),
    "content": ("add_memory", {"content": "a " * 41_000}),
    "data": ("update_memory", {"memory_id": "a" * 1_280, "data": json.loads(WIDE), "dry_run": False}),
}


@pytest.mark.parametrize("case", TOOLS)
async def test_a_tool_refuses_ten_times_its_limit_by_name(case: str) -> None:
    ana = Actor(user="ana")
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder()) as engine:
        await engine.add(KEPT, actor=ana)
        async with Client(memory_server(engine, ana)) as client:
            offered = {tool.name for tool in (await client.list_tools()).tools}
            tool, given = TOOLS[case]
            assert tool in offered
            answer = await client.call_tool(tool, given)
        told = json.dumps(answer.structured_content) + "".join(getattr(part, "text", "") for part in answer.content)
        assert answer.is_error, told[:300]
        assert "invalid_" in told or "memory_not_found" in told, told[:300]
        assert [one.content for one in await engine.list(actor=ana)] == [KEPT]


@pytest.mark.parametrize("tool", ["search_memory", "list_memories"])
async def test_ten_times_the_most_results_are_the_most_results(tool: str) -> None:
    ana = Actor(user="ana")
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder()) as engine:
        for number in range(60):
            await engine.add(f"Seat {number} is by the aisle in row {number * 7}.", actor=ana)
        async with Client(memory_server(engine, ana)) as client:
            given = {"query": "aisle seat", "max_results": 200} if tool == "search_memory" else {"limit": 500}
            answer = await client.call_tool(tool, given)
    assert not answer.is_error
    assert answer.structured_content is not None
    assert len(answer.structured_content["memories"]) <= (20 if tool == "search_memory" else 50)
