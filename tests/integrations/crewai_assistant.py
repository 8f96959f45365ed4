from __future__ import annotations

import asyncio
import os
from typing import Any

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}

from crewai import LLM, Agent
from crewai.tools import tool

from mnemic.agents.crewai import MnemicMemory
from tests.integrations.assistant import Given, texts, timetable


class CrewAIAssistant:
    """An agent whose program keeps the conversation."""

    def __init__(self, given: Given) -> None:
        crew = MnemicMemory(given.engine, given.actor)
        self.memory = crew.memory
        timetable.__annotations__ = {"city": str, "return": str}
        tools = [tool(timetable), *(crew.tools if given.memory_tools else [])]
        # A name that CrewAI knows: any other model is asked through LiteLLM.
        llm = crew.wrap_model(LLM(model="gpt-4.1-mini", **given.api))
        self.agent = Agent(role="Assistant", goal="Help.", backstory="Be brief.", llm=llm, tools=tools)
        self.messages: list[Any] = []
        self.runs: list[Any] = []

    async def say(self, text: str) -> str:
        self.messages.append({"role": "user", "content": text})
        result = await self.start(list(self.messages))
        self.messages.append({"role": "assistant", "content": result.raw})
        self.runs.append(result)
        return str(result.raw)

    async def start(self, messages: list[Any]) -> Any:
        return await self.agent.kickoff_async(messages)

    def kept(self) -> str:
        return texts([*self.messages, *(message for run in self.runs for message in run.messages)])


class SynchronousCrewAIAssistant(CrewAIAssistant):
    """The same, called synchronously."""

    async def start(self, messages: list[Any]) -> Any:
        return await asyncio.to_thread(self.agent.kickoff, messages)
