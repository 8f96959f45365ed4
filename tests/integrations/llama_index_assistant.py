from __future__ import annotations

from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.tools import FunctionTool
from llama_index.llms.ollama import Ollama
from ollama import AsyncClient

from mnemic.agents.llama_index import MnemicMemory
from tests.integrations.assistant import MODEL, Given, texts, timetable


class LlamaIndexAssistant:
    """A `FunctionAgent` with its memory."""

    def __init__(self, given: Given) -> None:
        self.kept_memory = MnemicMemory.for_actor(given.engine, given.actor)
        self.memory = self.kept_memory.turn
        client = AsyncClient(host=given.base_url.removesuffix("/v1"))
        given.closing.push_async_callback(client._client.aclose)
        llm = Ollama(model=MODEL, context_window=8_192, async_client=client, is_function_calling_model=True)
        tools: list[Any] = [FunctionTool.from_defaults(timetable)]
        if given.memory_tools:
            tools += self.kept_memory.tools
        self.agent: Any = FunctionAgent(tools=tools, llm=llm, system_prompt="Be brief.", streaming=False)

    async def say(self, text: str) -> str:
        return str(await self.agent.run(text, memory=self.kept_memory))

    def kept(self) -> str:
        return texts(self.kept_memory.get_all())
