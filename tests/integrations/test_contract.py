"""What every adapter owes, with the real framework and a scripted model over HTTP: the block reaches the model, nothing
durable holds it, what the user says is captured, and an outage is visible and stops nothing.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.extract.layered_extractor import LayeredExtractor
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.models.openai_completer import OpenAICompleter
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Kind
from mnemic.write.turn_log import turns_of
from tests.integrations.assistant import ANA, BOB, Assistant, Given, blocks, sent
from tests.scripted_model import Fault, ModelRequest, Reply, Scripted, ScriptedModelServer

ASSISTANTS = [
    "langchain_assistant:LangChainAssistant",
    "langchain_assistant:SynchronousLangChainAssistant",
    "openai_agents_assistant:OpenAIAgentsAssistant",
    "openai_agents_assistant:CapturingSessionAssistant",
    "pydantic_ai_assistant:PydanticAIAssistant",
    "agent_framework_assistant:AgentFrameworkAssistant",
    "adk_assistant:ADKAssistant",
    "llama_index_assistant:LlamaIndexAssistant",
    "ag2_assistant:AG2Assistant",
    *(
        f"clients_assistant:{name}Loop"
        for name in ("Chat", "SynchronousChat", "StreamingChat", "Responses", "Messages")
    ),
    "strands_assistant:StrandsAssistant",
    "strands_assistant:SynchronousStrandsAssistant",
]
# A framework whose packages do not fit beside the others' is tried in an environment of its own (docs/adr/0012).
if own := os.environ.get("MNEMIC_ASSISTANT"):
    ASSISTANTS = own.split(",")
WITHOUT_TOOLS = ("clients_assistant",)
"""Where the program itself says which tools its model has."""

Build = Callable[..., Assistant]


def name_of(assistant: Assistant, tool: str) -> str:
    """The name by which the model of this framework calls a tool."""
    return str(getattr(assistant, "called", {}).get(tool, tool))


def short(name: str) -> str:
    return name.partition(":")[2]


@pytest.fixture(params=ASSISTANTS, ids=short)
async def build(request: pytest.FixtureRequest, server: ScriptedModelServer, tmp_path: Path) -> AsyncIterator[Build]:
    """Builds one framework's assistant: `build(engine, actor)`."""
    module, _, name = request.param.partition(":")
    made: Callable[[Given], Assistant] = getattr(import_module(f"tests.integrations.{module}"), name)

    def of(engine: MemoryEngine, actor: Actor = ANA, **options: Any) -> Assistant:
        given = Given(engine=engine, actor=actor, base_url=server.base_url, folder=tmp_path, closing=closing, **options)
        return made(given)

    async with AsyncExitStack() as closing:
        yield of


async def test_three_turns_with_a_tool_call(
    build: Build, engine: MemoryEngine, server: ScriptedModelServer, script: list[Scripted]
) -> None:
    assistant = build(engine)
    shown: list[list[str]] = []

    def noted() -> list[str]:
        last = assistant.memory.last
        return [entry.content for entry in last.entries] if last is not None else []

    script += ["Noted.", Reply.call(name_of(assistant, "timetable"), city="Denver"), "Two flights.", "An aisle seat."]
    assert await assistant.say("I prefer aisle seats.") == "Noted."
    assert await assistant.say("Find a flight to Denver; which seat do I prefer?") == "Two flights."
    shown.append(noted())
    assert await assistant.say("And which seat is it?") == "An aisle seat."
    shown.append(noted())

    first, asked, answered, last = server.requests
    assert blocks(server) == [0, 1, 1, 1]
    held, again = said(asked), said(answered)
    assert again[: len(held)] == held, "the block is in the same message, so that a prompt cache stays valid"
    assert shown[0] == shown[1] == ["seat: aisle"], "what is told of the turn is told of all its calls"
    assert "seat: aisle" in sent(asked)
    assert "seat: aisle" in sent(last)
    assert "two flights to Denver" in sent(answered)
    assert "I prefer aisle seats." in sent(first)

    kept = assistant.kept()
    assert "I prefer aisle seats." in kept
    assert "two flights to Denver" in kept
    assert "An aisle seat." in kept
    assert "<memory" not in kept
    assert "fence" not in kept

    assert assistant.memory.counts["captured"] == 3
    kept = {memory.category: memory.content for memory in await engine.list(actor=ANA)}
    assert kept == {"preference": "aisle", "message": "I prefer aisle seats."}
    logged = [event.detail for event in await engine.audit(actor=ANA) if event.action == "injected"]
    assert len(logged) == assistant.memory.counts["injected"] >= 2
    assert assistant.memory.last is not None
    assert assistant.memory.last.digest in {detail["sha256"] for detail in logged}


async def test_another_user_is_shown_nothing(
    build: Build, engine: MemoryEngine, server: ScriptedModelServer, script: list[Scripted]
) -> None:
    await engine.open()
    await engine.add("aisle", key="seat", actor=ANA)
    script += ["I do not know."]
    assert await build(engine, BOB).say("Which seat do I prefer?") == "I do not know."
    assert blocks(server) == [0]


async def test_an_outage_is_visible_and_the_model_answers(
    build: Build, broken: MemoryEngine, server: ScriptedModelServer, script: list[Scripted]
) -> None:
    assistant = build(broken)
    script += ["Still here."]
    assert await assistant.say("I prefer aisle seats. Which seat do I prefer?") == "Still here."
    last = assistant.memory.last
    assert last is not None
    assert (last.injected, last.degraded) == (False, True)
    assert str(last.reason).startswith("search:store_")
    assert assistant.memory.counts[f"degraded:{last.reason}"] == 1
    assert [name for name in assistant.memory.counts if name.startswith("capture_failed:")]
    assert blocks(server) == [0]


@pytest.mark.parametrize(
    "build", [name for name in ASSISTANTS if not name.startswith(WITHOUT_TOOLS)], indirect=True, ids=short
)
async def test_the_model_may_search_and_add_but_not_say_for_whom(
    build: Build, engine: MemoryEngine, server: ScriptedModelServer, script: list[Scripted]
) -> None:
    await engine.open()
    await engine.add("aisle", key="seat", actor=ANA)
    await engine.add("window", key="seat", actor=BOB)
    assistant = build(engine, memory_tools=True)
    script += [
        Reply.call(name_of(assistant, "search_memory"), query="seat", max_results=3),
        Reply.call(name_of(assistant, "add_memory"), content="Ana travels with a cat."),
        "The aisle.",
    ]
    assert await assistant.say("Where do I sit?") == "The aisle."
    offered = {
        tool["name"].rpartition("__")[2]: schema for tool, schema in map(offer, server.requests[0].body["tools"])
    }
    assert set(offered) >= {"timetable", "search_memory", "add_memory"}
    assert set(offered["search_memory"]["properties"]) == {"query", "max_results", "min_score", "asked_at"}
    assert set(offered["add_memory"]["properties"]) == {"content"}
    assert "seat: aisle" in sent(server.requests[1])
    assert "window" not in sent(server.requests[1])
    added = [memory for memory in await engine.list(actor=ANA) if "cat" in memory.content]
    assert [memory.source.origin.value for memory in added] == ["agent_inferred"]
    assert [memory.content for memory in await engine.list(actor=BOB)] == ["window"]


def said(request: ModelRequest) -> list[Any]:
    """The messages of a request in any of the protocols, without marks for caches."""
    messages: list[Any] = request.body.get("messages") or request.body["input"]
    return messages


def offer(tool: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A tool as a request offers it in any of the protocols, and the schema of its arguments."""
    function = tool.get("function", tool)
    return function, function.get("parameters") or function["input_schema"]


async def test_the_person_can_read_what_was_asked_shown_and_answered(
    build: Build, engine: MemoryEngine, server: ScriptedModelServer, script: list[Scripted]
) -> None:
    await engine.open()
    seat = await engine.add("aisle", key="seat", actor=ANA)
    script += ["An aisle seat."]
    assistant = build(engine)
    await assistant.say("Which seat do I prefer? Answer to ana@example.com.")
    (turn,) = (await turns_of(engine.store, engine.vault, ANA)).values()
    assert turn.question.startswith("Which seat do I prefer? Answer to [EMAIL#")
    assert turn.answer == "An aisle seat."
    assert turn.named == (seat.memory_id,)
    assert "seat: aisle" in turn.block
    assert turn.shown == (seat.memory_id,)
    logged = await engine.audit(actor=ANA)
    assert turn.run_id in {event.detail["run_id"] for event in logged if event.action == "injected"}
    await engine.forget(str(seat.memory_id), actor=ANA)
    assert await turns_of(engine.store, engine.vault, ANA) == {}


async def test_an_answer_is_heard_with_its_question(build: Build, engine: MemoryEngine, script: list[Scripted]) -> None:
    script += ["What's your brother's name?", "I see."]
    assistant = build(engine)
    assert await assistant.say("My brother lives in Turin.") == "What's your brother's name?"
    assert await assistant.say("Álvaro.") == "I see."
    held = await engine.list(actor=ANA, kinds=[Kind.LONG_TERM])
    assert "My brother's name is Álvaro." in [memory.content for memory in held]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_a_fact_is_found_in_the_next_turn_while_the_model_that_reads_it_hangs(
    build: Build, kind: str, request: pytest.FixtureRequest, tmp_path: Path, script: list[Scripted]
) -> None:
    file = tmp_path / "memory.db"
    store = SqliteStore(file) if kind == "sqlite" else PostgresStore(request.getfixturevalue("postgres").database(file))
    script += ["Noted.", "Not with peanuts."]
    with ScriptedModelServer(lambda _: Reply.broken(Fault.HANG)) as hanging:
        completer = OpenAICompleter("scripted", base_url=hanging.base_url, api_key="test")
        extractor = LayeredExtractor(ModelExtractor(completer))
        async with MemoryEngine(store=store, embedder=WordEmbedder(), extractor=extractor) as engine:
            engine.background, engine.background_seconds = True, 0.0
            assistant = build(engine)
            assert await assistant.say("Hi! I am allergic to peanuts.") == "Noted."
            held = await engine.list(actor=ANA, kinds=[Kind.LONG_TERM])
            assert ["peanuts" in memory.content for memory in held] == [True]
            assert await assistant.say("What am I allergic to?") == "Not with peanuts."
            assert assistant.memory.last is not None
            assert [entry for entry in assistant.memory.last.entries if "peanuts" in entry.content]
            assert assistant.memory.later is not None
            await assistant.memory.later.stop()
        await completer.close()
