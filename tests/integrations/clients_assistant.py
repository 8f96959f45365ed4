from __future__ import annotations

import asyncio
import json
from typing import Any, ClassVar

from anthropic import AsyncAnthropic
from openai import AsyncOpenAI, OpenAI

from mnemic.agents.clients import TurnMemory, wrap
from tests.integrations.assistant import MODEL, Given, timetable

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


class Loop:
    """A program of one's own: it asks the model, calls the tool, and keeps the messages in a list."""

    offered: ClassVar[Any]

    def __init__(self, given: Given) -> None:
        self.memory = TurnMemory(given.engine, given.actor)
        self.messages: list[Any] = []
        self.client: Any = wrap(self.open(given), self.memory)
        self.options = {"model": MODEL, "tools": [self.offered]}

    def open(self, given: Given) -> Any:
        client = AsyncOpenAI(**given.api)
        given.closing.push_async_callback(client.close)
        return client

    async def ask(self) -> tuple[str, Any]:
        """One answer: its text, and the message or item of a tool's answer where the model calls one."""
        raise NotImplementedError

    async def say(self, text: str) -> str:
        self.messages.append({"role": "user", "content": text})
        answer, result = await self.ask()
        while result is not None:
            self.messages.append(result)
            answer, result = await self.ask()
        return answer

    def kept(self) -> str:
        return json.dumps(self.messages)


FUNCTION = {"name": "timetable", "description": "Flights to a city.", "parameters": PARAMETERS}


class ChatLoop(Loop):
    """Chat completions, asynchronous."""

    offered: ClassVar[Any] = {"type": "function", "function": FUNCTION}

    async def ask(self) -> tuple[str, Any]:
        return self.read(await self.client.chat.completions.create(messages=self.messages, **self.options))

    def read(self, completion: Any) -> tuple[str, Any]:
        message = completion.choices[0].message
        self.messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return message.content, None
        call = message.tool_calls[0]
        answer = timetable(**json.loads(call.function.arguments))
        return "", {"role": "tool", "tool_call_id": call.id, "content": answer}


class SynchronousChatLoop(ChatLoop):
    """Chat completions, synchronous."""

    def open(self, given: Given) -> Any:
        return given.closing.enter_context(OpenAI(**given.api))

    async def ask(self) -> tuple[str, Any]:
        options = {"messages": self.messages, **self.options}
        return self.read(await asyncio.to_thread(self.client.chat.completions.create, **options))


class StreamingChatLoop(ChatLoop):
    """Chat completions as they come."""

    async def ask(self) -> tuple[str, Any]:
        async with self.client.chat.completions.stream(messages=self.messages, **self.options) as stream:
            async for _ in stream:
                pass
            return self.read(await stream.get_final_completion())


class ResponsesLoop(Loop):
    """OpenAI's Responses."""

    offered: ClassVar[Any] = {"type": "function", "strict": False, **FUNCTION}

    async def ask(self) -> tuple[str, Any]:
        response = await self.client.responses.create(input=self.messages, **self.options)
        item = response.output[0]
        self.messages.append(item.model_dump(exclude_none=True))
        if item.type != "function_call":
            return response.output_text, None
        answer = timetable(**json.loads(item.arguments))
        return "", {"type": "function_call_output", "call_id": item.call_id, "output": answer}


class MessagesLoop(Loop):
    """Anthropic's messages."""

    offered: ClassVar[Any] = {"name": "timetable", "description": "Flights to a city.", "input_schema": PARAMETERS}

    def open(self, given: Given) -> Any:
        client = AsyncAnthropic(base_url=given.base_url.removesuffix("/v1"), api_key="test", max_retries=0)
        given.closing.push_async_callback(client.close)
        return client

    async def ask(self) -> tuple[str, Any]:
        answer = await self.client.messages.create(messages=self.messages, max_tokens=99, **self.options)
        block = answer.content[0]
        self.messages.append({"role": "assistant", "content": [block.model_dump(exclude_none=True)]})
        if block.type != "tool_use":
            return block.text, None
        result = {"type": "tool_result", "tool_use_id": block.id, "content": timetable(**block.input)}
        return "", {"role": "user", "content": [result]}
