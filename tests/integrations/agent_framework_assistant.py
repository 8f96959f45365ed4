from __future__ import annotations

import json
from typing import Any

from agent_framework import Agent, InMemoryHistoryProvider
from agent_framework.openai import OpenAIChatCompletionClient
from openai import AsyncOpenAI

from mnemic.agents.agent_framework import MnemicContextProvider
from tests.integrations.assistant import MODEL, Given, timetable


class AgentFrameworkAssistant:
    """An agent with a history provider and a session."""

    def __init__(self, given: Given) -> None:
        provider = MnemicContextProvider(given.engine, given.actor, tools=given.memory_tools)
        self.memory = provider.memory
        client = AsyncOpenAI(**given.api)
        given.closing.push_async_callback(client.close)
        self.agent: Any = Agent(
            client=OpenAIChatCompletionClient(model=MODEL, async_client=client),
            tools=[timetable],
            context_providers=[InMemoryHistoryProvider(), provider],
        )
        self.session = self.agent.create_session()

    async def say(self, text: str) -> str:
        return str((await self.agent.run(text, session=self.session)).text)

    def kept(self) -> str:
        return json.dumps(self.session.to_dict(), default=repr)
