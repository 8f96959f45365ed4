from __future__ import annotations

import asyncio
from typing import Any

from strands import Agent, tool
from strands.models.openai import OpenAIModel
from strands.session.file_session_manager import FileSessionManager

from mnemic.agents.strands import MnemicMemory
from tests.integrations.assistant import MODEL, Given, timetable


class StrandsAssistant:
    """An agent with a session in files, called asynchronously."""

    def __init__(self, given: Given) -> None:
        plugin = MnemicMemory(given.engine, given.actor, tools=given.memory_tools)
        self.memory = plugin.memory
        self.sessions = given.folder / "sessions"
        sessions = FileSessionManager(session_id="s1", storage_dir=str(self.sessions))
        model = OpenAIModel(client_args=given.api, model_id=MODEL)
        self.agent = Agent(
            model=model, tools=[tool(timetable)], plugins=[plugin], session_manager=sessions, callback_handler=None
        )

    async def say(self, text: str) -> str:
        return str(await self.agent.invoke_async(text)).strip()

    def kept(self) -> str:
        return "\n".join([repr(self.agent.messages), *(file.read_text() for file in self.sessions.rglob("*.json"))])


class SynchronousStrandsAssistant(StrandsAssistant):
    """The same, called synchronously: Strands runs each call on a loop of its own."""

    async def say(self, text: str) -> str:
        answer: Any = await asyncio.to_thread(self.agent, text)
        return str(answer).strip()
