"""Pydantic AI: a capability that injects and captures, with a toolset.

`pip install "mnemic[pydantic-ai]"`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from mnemic.agents.turns import TurnMemory, latest_asks
from mnemic.engine import MemoryEngine
from mnemic.inject import Injection, InjectionConfig, MemorySource
from mnemic.plugins.extras import brought_by
from mnemic.types import Actor

with brought_by("pydantic-ai"):
    from pydantic_ai import RunContext
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import (
        ModelMessage,
        ModelRequest,
        RetryPromptPart,
        SystemPromptPart,
        TextContent,
        TextPart,
        ToolReturnPart,
        UserPromptPart,
    )
    from pydantic_ai.models import ModelRequestContext
    from pydantic_ai.run import AgentRunResult
    from pydantic_ai.toolsets import FunctionToolset

_TOOL_RESULT: Mapping[str, str] = {"type": "tool_result"}


class MnemicMemory(AbstractCapability[Any]):
    """Memory for a Pydantic AI agent: injects before the model is called, captures the user's messages after the run.

        agent = Agent(model, capabilities=[MnemicMemory(engine, Actor(user="ana"))])

    The block is a part of the request alone, never of the message history. `memory` has the outcome (`last`, `counts`).
    With `tools` the model may search and add, too.
    """

    def __init__(
        self,
        engine: MemoryEngine,
        actor: Actor,
        config: InjectionConfig | None = None,
        *,
        sources: Sequence[MemorySource] = (),
        capture: bool = True,
        tools: bool = False,
    ) -> None:
        self.memory = TurnMemory(engine, actor, config, sources=sources, by="pydantic-ai")
        self._captures = capture
        self._toolset = FunctionToolset[Any](self.memory.tools, id="mnemic") if tools else None

    def get_toolset(self) -> FunctionToolset[Any] | None:
        """`search_memory` and `add_memory`, if they are offered."""
        return self._toolset

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Return the request with the block in its latest message from the user."""
        messages = request_context.messages
        injection = await self.memory.inject([_plain(one) for one in messages], state=ctx.deps, thread=ctx.run_id)
        return (
            replace(request_context, messages=_add_blocks(messages, injection))
            if injection.injected
            else request_context
        )

    async def after_run(self, ctx: RunContext[Any], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """Capture the turn, which has ended."""
        if self._captures:
            said = latest_asks([_plain(one) for one in result.new_messages()], self.memory.actor.user)
            await self.memory.capture(*said, answer=str(result.output))
        return result


def _add_blocks(messages: Sequence[ModelMessage], injection: Injection) -> list[ModelMessage]:
    """Return the messages with each block as a separate part, before the request or at the end."""
    folded = list(messages)
    for block in injection.blocks:
        request = folded[block.at]
        assert isinstance(request, ModelRequest)
        parts = list(request.parts)
        asks = [place for place, part in enumerate(parts) if isinstance(part, UserPromptPart)]
        parts.insert(asks[0] if block.front and asks else len(parts), UserPromptPart(block.text))
        folded[block.at] = replace(request, parts=parts)
    return folded


def _plain(message: ModelMessage) -> dict[str, Any]:
    """Return the message as the injection reads it: its role, its texts, and whether a tool answers in it."""
    if not isinstance(message, ModelRequest):
        texts = [part.content for part in message.parts if isinstance(part, TextPart)]
        return {"role": "assistant", "content": [{"text": text} for text in texts]}
    blocks = [block for part in message.parts for block in _blocks(part)]
    only_system = all(isinstance(part, SystemPromptPart) for part in message.parts)
    return {"role": "system" if only_system else "user", "content": blocks}


def _blocks(part: Any) -> list[Mapping[str, str]]:
    if isinstance(part, ToolReturnPart | RetryPromptPart):
        return [_TOOL_RESULT]
    if not isinstance(part, UserPromptPart):
        return []
    content = [part.content] if isinstance(part.content, str) else part.content
    texts = [piece.content if isinstance(piece, TextContent) else piece for piece in content]
    return [{"text": text} for text in texts if isinstance(text, str)]
