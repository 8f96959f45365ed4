"""The memory graph with a chat model of LangChain over HTTP: three turns, a tool call, an outage."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AnyMessage, HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

from mnemic import Actor
from mnemic.agents.langgraph import MemoryGraph, memory_graph
from mnemic.engine import MemoryEngine
from mnemic.types import MemoryRequest
from mnemic_eval.replay import chosen_embedder, throwaway_engine
from tests.integrations.assistant import ANA, MODEL, Given, blocks, sent, texts, timetable
from tests.scripted_model import Reply, Scripted, ScriptedModelServer

flights = tool(timetable)


class Conversation:
    """A thread of Ana's. The model sees the memories in front of what she says, and may look at the timetable."""

    def __init__(self, given: Given) -> None:
        model = ChatOpenAI(model=MODEL, **given.api)
        given.closing.push_async_callback(model.root_async_client.close)
        given.closing.callback(model.root_client.close)
        self.model = model.bind_tools([flights])
        self.saver = InMemorySaver()
        self.graph: MemoryGraph = memory_graph(given.engine, self.respond, checkpointer=self.saver)

    async def respond(self, context: dict[str, Any]) -> str:
        messages: list[AnyMessage] = [HumanMessage(f"{context['memory_block']}\n\n{context['input']}")]
        while (answer := await self.model.ainvoke(messages)).tool_calls:
            messages += [answer, *[await flights.ainvoke(call) for call in answer.tool_calls]]
        return str(answer.text)

    async def say(self, text: str) -> dict[str, Any]:
        turn = await self.graph.ainvoke({"input": text, "user_id": "ana", "thread_id": "t1"})
        return dict(turn["final_output"])

    def kept(self) -> str:
        return texts(list(self.saver.list(self.graph.thread("ana", "t1"))))


@pytest.fixture
async def given(engine: MemoryEngine, server: ScriptedModelServer, tmp_path: Path) -> AsyncIterator[Given]:
    async with AsyncExitStack() as closing:
        yield Given(engine=engine, actor=ANA, base_url=server.base_url, folder=tmp_path, closing=closing)


async def test_three_turns_with_a_tool_call(given: Given, server: ScriptedModelServer, script: list[Scripted]) -> None:
    await given.engine.open()
    conversation = Conversation(given)
    script += ["Noted.", Reply.call("timetable", city="Denver"), "Two flights.", "An aisle seat."]
    told = await conversation.say("I prefer aisle seats.")
    assert [one["key"] for one in told["stored_updates"]] == ["seat"]
    asked = await conversation.say("Find a flight to Denver; which seat do I prefer?")
    assert (asked["status"], asked["response"]) == ("ok", "Two flights.")
    assert [one["key"] for one in asked["retrieved_memories"]] == ["seat"]
    assert (await conversation.say("And which seat is it?"))["response"] == "An aisle seat."

    assert blocks(server) == [0, 1, 1, 1]
    assert "seat: aisle" in sent(server.requests[1])
    assert "two flights to Denver" in sent(server.requests[2])
    kept = conversation.kept()
    assert "I prefer aisle seats." in kept
    assert "An aisle seat." in kept
    assert "<memory" not in kept
    assert "fence" not in kept


async def test_an_outage_is_an_error_of_the_turn_and_the_model_answers(
    given: Given, broken: MemoryEngine, server: ScriptedModelServer, script: list[Scripted]
) -> None:
    conversation = Conversation(
        Given(engine=broken, actor=ANA, base_url=given.base_url, folder=given.folder, closing=given.closing)
    )
    script += ["Still here."]
    turn = await conversation.say("I prefer aisle seats. Which seat do I prefer?")
    assert turn["response"] == "Still here."
    assert turn["errors"]
    assert turn["stored_updates"] == []
    assert blocks(server) == [0]


async def test_a_graph_changes_what_a_message_changes_without_stating_it() -> None:
    told = (
        (("I have a dog called Biscuit.", "Biscuit died."), {"Biscuit died."}),
        (("I live in Bergen.", "Sorry, I meant Stavanger."), {"home_city: Stavanger"}),
        (("My budget is 500 euros.", "Make that 600 euros."), {"My budget is 600 euros."}),
    )
    async with throwaway_engine(chosen_embedder(None, None)) as engine:
        graph = memory_graph(engine, lambda context: "Noted.")
        for number, (texts, held) in enumerate(told):
            for text in texts:
                await graph.ainvoke({"input": text, "user_id": f"u{number}", "thread_id": "t"})
            found = await engine.list(actor=Actor(user=f"u{number}"), limit=20)
            lasting = [one for one in found if one.kind == "long_term"]
            assert {f"{one.key}: {one.content}" if one.key else one.content for one in lasting} == held
        asked = await graph.ainvoke(
            {"input": "Forget what I told you about my dog.", "user_id": "u0", "thread_id": "t"}
        )
        assert [one["reason"] for one in asked["final_output"]["skipped_updates"]] == ["memory_request"]


async def test_a_request_about_memory_is_reported_with_its_memories_and_carried_out_on_confirmation() -> None:
    async with throwaway_engine(chosen_embedder(None, None)) as engine:
        graph = memory_graph(engine, lambda context: "Noted.")
        about = {"user_id": "ana", "thread_id": "t"}
        await graph.ainvoke({"input": "My dog is called Rex.", **about})
        turn = await graph.ainvoke({"input": "Forget what I told you about my dog.", **about})
        (request,) = turn["final_output"]["memory_requests"]
        known = await engine.list(actor=Actor(user="ana"), limit=20)
        assert (request["kind"], request["subject"]) == ("forget", "my dog")
        assert {one.memory_id for one in known if "Rex" in one.content} <= set(request["memory_ids"])
        await engine.carry_out(MemoryRequest.from_dict(request), actor=Actor(user="ana"))
        left = await engine.list(actor=Actor(user="ana"), limit=20)
        assert not [one for one in left if "Rex" in one.content]
        after = await graph.ainvoke({"input": "I live in Bergen.", **about})
        assert "memory_requests" not in after["final_output"]
