from __future__ import annotations

import json
import sqlite3
from typing import Any

from openai import AsyncOpenAI

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    SQLiteSession,
    function_tool,
)
from mnemic.agents.openai_agents import MnemicMemory
from tests.integrations.assistant import MODEL, Given, timetable


class OpenAIAgentsAssistant:
    """An agent over the Responses protocol with a session in a file; hooks capture."""

    model: Any = OpenAIResponsesModel

    def __init__(self, given: Given) -> None:
        self.hooks = MnemicMemory(given.engine, given.actor)
        self.memory = self.hooks.memory
        self.file = given.folder / "session.db"
        self.session: Any = SQLiteSession("s1", self.file)
        client = AsyncOpenAI(**given.api)
        given.closing.push_async_callback(client.close)
        given.closing.callback(self.session.close)
        model = self.model(MODEL, client)
        tools = [function_tool(timetable), *(self.hooks.tools if given.memory_tools else [])]
        self.agent = Agent(name="assistant", model=model, tools=tools)
        self.options: dict[str, Any] = {"hooks": self.hooks}

    async def say(self, text: str) -> str:
        run_config = self.hooks.run_config(RunConfig(tracing_disabled=True))
        result = await Runner.run(self.agent, text, session=self.session, run_config=run_config, **self.options)
        assert "<memory" not in json.dumps(result.to_input_list())
        return str(result.final_output)

    def kept(self) -> str:
        with sqlite3.connect(self.file) as file:
            return "\n".join(row[0] for row in file.execute("SELECT message_data FROM agent_messages"))


class CapturingSessionAssistant(OpenAIAgentsAssistant):
    """An agent over chat completions; its session captures."""

    model = OpenAIChatCompletionsModel

    def __init__(self, given: Given) -> None:
        super().__init__(given)
        self.session = self.hooks.session(self.session)
        self.options = {}
