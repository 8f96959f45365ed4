"""AG2: a middleware that injects and captures, with tools.

`pip install "mnemic[ag2]"`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import wraps
from typing import Any

from mnemic.agents.turns import TurnMemory, latest_asks
from mnemic.engine import MemoryEngine
from mnemic.inject import Injection, InjectionConfig, MemorySource
from mnemic.plugins.extras import brought_by
from mnemic.types import Actor

with brought_by("ag2"):
    from ag2 import tool
    from ag2.annotations import Context
    from ag2.events import BaseEvent, ModelRequest, ModelResponse, TextInput, ToolResultEvent, ToolResultsEvent
    from ag2.middleware import AgentTurn, BaseMiddleware, LLMCall

_TOOL_RESULT: Mapping[str, str] = {"type": "tool_result"}


class MnemicMemory:
    """Memory for an agent of AG2: injects before the model is called, captures the user's messages after the turn.

        memory = MnemicMemory(engine, Actor(user="ana"))
        agent = Agent("assistant", config=config, middleware=[memory], tools=memory.tools)

    The block is a part of the call alone, never of the history. `memory` has the outcome (`last`, `counts`).
    """

    def __init__(
        self,
        engine: MemoryEngine,
        actor: Actor,
        config: InjectionConfig | None = None,
        *,
        sources: Sequence[MemorySource] = (),
    ) -> None:
        self.memory = TurnMemory(engine, actor, config, sources=sources, by="ag2")

    def __call__(self, event: BaseEvent, context: Context) -> BaseMiddleware:
        """Return the middleware of one turn, as AG2 asks for it."""
        return _Turn(event, context, self.memory)

    @property
    def tools(self) -> list[Any]:
        """`search_memory` and `add_memory` for an agent's `tools`."""
        return [tool(_function(method)) for method in self.memory.tools]


class _Turn(BaseMiddleware):
    """One turn of an agent with memory."""

    def __init__(self, event: BaseEvent, context: Context, memory: TurnMemory) -> None:
        super().__init__(event, context)
        self._memory = memory

    async def on_llm_call(self, call_next: LLMCall, events: Sequence[BaseEvent], context: Context) -> ModelResponse:
        """Call the model with the block in the latest request."""
        injection = await self._memory.inject([_plain(event) for event in events], thread=id(context.stream))
        return await call_next(_add_blocks(events, injection), context)

    async def on_turn(self, call_next: AgentTurn, event: BaseEvent, context: Context) -> ModelResponse:
        """Capture the turn once it has ended."""
        response = await call_next(event, context)
        await self._memory.capture(*latest_asks([_plain(event)], self._memory.actor.user), answer=response.content)
        return response


def _function(method: Callable[..., Awaitable[dict[str, Any]]]) -> Callable[..., Awaitable[dict[str, Any]]]:
    """Return a function that calls the method: AG2 copies an agent's tools, and would copy the memory with them."""

    @wraps(method)
    async def call(*args: Any, **kwargs: Any) -> dict[str, Any]:
        return await method(*args, **kwargs)

    return call


def _add_blocks(events: Sequence[BaseEvent], injection: Injection) -> list[BaseEvent]:
    """Return the events with each block as a separate input, before or after the user's message."""
    folded = list(events)
    for block in injection.blocks:
        request = folded[block.at]
        if isinstance(request, ModelRequest):
            text = TextInput(block.text)
            parts = [text, *request.parts] if block.front else [*request.parts, text]
            folded[block.at] = ModelRequest(parts)
    return folded


def _plain(event: BaseEvent) -> dict[str, Any]:
    """Return the event as the injection reads it: its role, its texts, and whether a tool answers in it."""
    if isinstance(event, (ToolResultsEvent, ToolResultEvent)):  # `|` of two events is a condition of AG2's
        return {"role": "user", "content": [_TOOL_RESULT]}
    if isinstance(event, ModelRequest):
        texts = [{"text": part.content} for part in event.parts if isinstance(part, TextInput)]
        return {"role": "user", "content": texts}
    said = event.content if isinstance(event, ModelResponse) else None
    return {"role": "assistant", "content": [{"text": said}] if said else []}
