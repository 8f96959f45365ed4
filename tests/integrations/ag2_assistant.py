from __future__ import annotations

from typing import Any

from ag2 import Agent, tool
from ag2.config import OpenAIConfig
from httpx2 import AsyncClient

from mnemic.agents.ag2 import MnemicMemory
from tests.integrations.assistant import MODEL, Given, texts, timetable


class AG2Assistant:
    """An agent of AG2 whose replies are asked on."""

    def __init__(self, given: Given) -> None:
        memory = MnemicMemory(given.engine, given.actor)
        self.memory = memory.memory
        tools = [tool(timetable), *(memory.tools if given.memory_tools else [])]
        http = AsyncClient()
        given.closing.push_async_callback(http.aclose)
        config = OpenAIConfig(model=MODEL, http_client=http, **given.api)
        self.asked: Any = Agent("assistant", "Be brief.", config=config, tools=tools, middleware=[memory])
        self.events: list[Any] = []

    async def say(self, text: str) -> str:
        self.asked = await self.asked.ask(text)
        self.events = list(await self.asked.history.get_events())
        return str(self.asked.body)

    def kept(self) -> str:
        return texts(self.events)
