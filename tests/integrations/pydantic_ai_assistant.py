from __future__ import annotations

from typing import Any

from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessagesTypeAdapter
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from mnemic.agents.pydantic_ai import MnemicMemory
from tests.integrations.assistant import MODEL, Given, timetable


class PydanticAIAssistant:
    """An agent whose message history goes from run to run, as JSON."""

    def __init__(self, given: Given) -> None:
        capability = MnemicMemory(given.engine, given.actor, tools=given.memory_tools)
        self.memory = capability.memory
        client = AsyncOpenAI(**given.api)
        given.closing.push_async_callback(client.close)
        model = OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=client))
        self.agent: Any = Agent(model, tools=[timetable], capabilities=[capability], system_prompt="Be brief.")
        self.history = b"[]"

    async def say(self, text: str) -> str:
        history = ModelMessagesTypeAdapter.validate_json(self.history)
        result = await self.agent.run(text, message_history=history)
        self.history = result.all_messages_json()
        return str(result.output)

    def kept(self) -> str:
        return self.history.decode()
