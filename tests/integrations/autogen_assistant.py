from __future__ import annotations

from typing import Any

from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient

from mnemic.agents.autogen import MnemicContext
from tests.integrations.assistant import Given, texts, timetable

NAMED = "scripted"
"""The name that the scripted server answers with: another one is a warning of AutoGen's."""


class AutoGenAssistant:
    """An `AssistantAgent` with its context."""

    def __init__(self, given: Given) -> None:
        self.context = MnemicContext(given.engine, given.actor)
        self.memory = self.context.memory
        info: Any = {
            "vision": False, "function_calling": True, "json_output": False, "family": "unknown",
            "structured_output": False,
        }  # fmt: skip
        client = OpenAIChatCompletionClient(model=NAMED, model_info=info, **given.api)
        given.closing.push_async_callback(client.close)
        tools: list[Any] = [timetable]
        if given.memory_tools:
            tools += self.context.tools
        self.agent = AssistantAgent(
            "assistant", client, tools=tools, model_context=self.context, system_message="Be brief.",
            max_tool_iterations=5,
        )  # fmt: skip
        self.messages: list[Any] = []

    async def say(self, text: str) -> str:
        result = await self.agent.run(task=text)
        self.messages += result.messages
        self.state = await self.agent.save_state()
        return str(result.messages[-1].content)

    def kept(self) -> str:
        return texts([*self.messages, self.state])
