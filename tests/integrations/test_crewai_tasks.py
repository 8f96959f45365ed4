"""Behaviour of CrewAI's adapter beside the contract: tasks of a crew, calls of the framework's own, and models whose
tool calls are words. Runs where CrewAI is installed (docs/adr/0012).
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool

from mnemic.agents.crewai import MnemicMemory
from mnemic.engine import MemoryEngine
from tests.integrations.assistant import ANA, blocks, sent, texts, timetable
from tests.scripted_model import ModelRequest, Scripted, ScriptedModelServer


def model(server: ScriptedModelServer, name: str = "gpt-4.1-mini") -> Any:
    return LLM(model=name, base_url=server.base_url, api_key="test", max_retries=0)


@pytest.mark.parametrize("captures", [False, True])
async def test_a_task_is_shown_memories_and_captured_only_on_demand(
    engine: MemoryEngine, server: ScriptedModelServer, script: list[Scripted], captures: bool
) -> None:
    await engine.open()
    await engine.add("aisle", key="seat", actor=ANA)
    memory = MnemicMemory(engine, ANA, capture_tasks=captures)
    agent = Agent(role="Agent", goal="Help.", backstory="Brief.", llm=memory.wrap_model(model(server)))
    task = Task(description="I prefer hot meals. Which seat do I prefer?", expected_output="A seat.", agent=agent)
    script += ["The aisle."]
    result = await asyncio.to_thread(Crew(agents=[agent], tasks=[task]).kickoff)
    assert result.raw == "The aisle."
    assert blocks(server) == [1]
    assert "seat: aisle" in sent(server.requests[0])
    assert "<memory" not in texts([result.model_dump(), *result.tasks_output[0].messages])
    assert memory.memory.counts["captured"] == int(captures)


async def test_a_call_that_asks_nothing_of_an_agent_passes_unchanged(
    engine: MemoryEngine, server: ScriptedModelServer, script: list[Scripted]
) -> None:
    memory = MnemicMemory(engine, ANA)
    script += ["A plan."]
    said = [{"role": "user", "content": "I prefer aisle seats."}]
    assert await asyncio.to_thread(memory.wrap_model(model(server)).call, said) == "A plan."
    assert server.requests[0].body["messages"] == said
    assert memory.memory.counts == {}


async def test_a_step_in_words_does_not_end_the_turn(engine: MemoryEngine) -> None:
    memory = MnemicMemory(engine, ANA)
    replies = [
        'Thought: look.\nAction: timetable\nAction Input: {"city": "Denver"}',
        "Thought: I know.\nFinal Answer: Two flights.",
    ]
    captured: list[int] = []

    def answer(_: ModelRequest) -> str:
        captured.append(memory.memory.counts["captured"])
        return replies.pop(0)

    with ScriptedModelServer(answer) as server:
        llm = memory.wrap_model(model(server, "o1-mini"))  # a model without calls of tools
        agent = Agent(role="Agent", goal="Help.", backstory="Brief.", llm=llm, tools=[tool(timetable)])
        result = await asyncio.to_thread(agent.kickoff, "I prefer aisle seats. Find a flight to Denver.")
    assert result.raw == "Two flights."
    assert "two flights to Denver" in sent(server.requests[1])
    assert captured == [0, 0]
    assert memory.memory.counts["captured"] == 1
