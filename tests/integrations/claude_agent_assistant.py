from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    TextBlock,
    create_sdk_mcp_server,
    tool,
)

from mnemic.agents.claude_agent import MnemicMemory
from tests.integrations.assistant import MODEL, Given, texts, timetable

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class ClaudeAgentAssistant:
    """A session of the SDK's command line, which keeps its own transcript."""

    called = {name: f"mcp__mnemic__{name}" for name in ("search_memory", "add_memory")} | {
        "timetable": "mcp__travel__timetable"
    }

    def __init__(self, given: Given) -> None:
        self.given = given
        self.agent = MnemicMemory(given.engine, given.actor, tools=given.memory_tools)
        self.memory = self.agent.memory
        self.client: ClaudeSDKClient | None = None
        self.seen: list[Any] = []

    async def say(self, text: str) -> str:
        client = self.client or await self.start()
        await client.query(text)
        answer = ""
        async for message in client.receive_response():
            self.seen.append(message)
            if isinstance(message, AssistantMessage):
                answer = "".join(part.text for part in message.content if isinstance(part, TextBlock)) or answer
        return answer

    async def start(self) -> ClaudeSDKClient:
        @tool("timetable", "Flights to a city.", SCHEMA)
        async def flights(given: dict[str, Any]) -> dict[str, Any]:
            return {"content": [{"type": "text", "text": timetable(**given)}]}

        closing, home = self.given.closing, str(self.given.folder)
        options = ClaudeAgentOptions(
            model=MODEL,
            cwd=home,
            tools=[],
            setting_sources=[],
            mcp_servers={"travel": create_sdk_mcp_server("travel", tools=[flights])},
            allowed_tools=["mcp__travel__timetable"],
            env=environment(home, self.given.base_url),
        )
        ready = await closing.enter_async_context(self.agent.options(options))
        self.client = await closing.enter_async_context(ClaudeSDKClient(ready))
        return self.client

    def kept(self) -> str:
        transcripts = (Path(self.given.folder) / "claude").rglob("*.jsonl")
        return texts([*self.seen, *(path.read_text(encoding="utf-8") for path in transcripts)])


def environment(home: str, base_url: str) -> dict[str, str]:
    """A home of its own, and a model that is scripted: nothing else is asked, and no mark of a cache moves."""
    quiet = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "DISABLE_PROMPT_CACHING", "IS_SANDBOX")
    here = {"HOME": home, "CLAUDE_CONFIG_DIR": f"{home}/claude", "PATH": os.environ["PATH"]}
    address = base_url.removesuffix("/v1")
    return {**here, **dict.fromkeys(quiet, "1"), "ANTHROPIC_API_KEY": "test", "ANTHROPIC_BASE_URL": address}
