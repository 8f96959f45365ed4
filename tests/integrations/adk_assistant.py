from __future__ import annotations

from typing import Any

from anthropic import AsyncAnthropic
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models.anthropic_llm import AnthropicLlm
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types

from mnemic.agents.adk import MnemicMemoryService, MnemicPlugin
from tests.integrations.assistant import MODEL, Given, timetable

APP = "default"


class ADKAssistant:
    """A runner with sessions, over Anthropic's protocol."""

    def __init__(self, given: Given) -> None:
        service = MnemicMemoryService(given.engine)
        self.user = given.actor.user or ""
        self.memory = service.memory_of(APP, self.user)
        client = AsyncAnthropic(base_url=given.base_url.removesuffix("/v1"), api_key="test", max_retries=0)
        given.closing.push_async_callback(client.close)
        agent = LlmAgent(
            name="assistant",
            model=AnthropicLlm(model=MODEL, client=client),
            tools=[timetable, *(service.tools if given.memory_tools else [])],
        )
        self.sessions: Any = InMemorySessionService()
        app = App(name=APP, root_agent=agent, plugins=[MnemicPlugin(service)])
        self.runner = Runner(app=app, session_service=self.sessions, memory_service=service, auto_create_session=True)

    async def say(self, text: str) -> str:
        message = types.Content(role="user", parts=[types.Part(text=text)])
        answer = ""
        async for event in self.runner.run_async(user_id=self.user, session_id="s1", new_message=message):
            if event.is_final_response() and event.content:
                answer = "".join(part.text or "" for part in event.content.parts or [])
        return answer

    def kept(self) -> str:
        return repr(self.sessions.sessions)
