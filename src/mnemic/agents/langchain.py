"""LangChain: a middleware that injects and captures, for `create_agent`.

`pip install "mnemic[langchain]"`. For LangGraph's stores and graphs see `mnemic.agents.langgraph`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import wraps
from typing import Any

from mnemic.agents.turns import TurnMemory, answer_in, latest_asks
from mnemic.engine import MemoryEngine
from mnemic.inject import Injection, InjectionConfig, MemorySource
from mnemic.plugins.extras import brought_by
from mnemic.types import Actor

with brought_by("langchain"):
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
    from langchain_core.tools import BaseTool, StructuredTool


class MnemicMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Memory for a LangChain agent: injects before the model is called, captures the user's messages after the turn.

        agent = create_agent(model, tools, middleware=[MnemicMiddleware(engine, Actor(user="ana"))])

    The block is in the request alone, never in the agent's state, so no checkpoint contains it. `memory` has what
    became of it (`last`, `counts`). With `tools` the model may search and add, too. Works in `invoke` and `ainvoke`;
    synchronous calls run on a loop of the middleware's own, so the engine must be no other loop's.
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
        super().__init__()
        self.memory = TurnMemory(engine, actor, config, sources=sources, by="langchain")
        self.tools: Sequence[BaseTool] = [_tool(self.memory, function) for function in self.memory.tools if tools]
        self._captures = capture

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Return the model's answer to the request with the block in it."""
        return handler(_add_block(request, self.memory.now(self._inject, request)))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """As `wrap_model_call`."""
        return await handler(_add_block(request, await self._inject(request)))

    def after_agent(self, state: AgentState[Any], runtime: Any) -> None:
        """Capture the turn, which has ended."""
        self.memory.now(self.aafter_agent, state, runtime)

    async def aafter_agent(self, state: AgentState[Any], runtime: Any) -> None:
        """As `after_agent`."""
        if self._captures:
            await self.memory.capture(
                *latest_asks(state["messages"], self.memory.actor.user), answer=answer_in(state["messages"])
            )

    async def _inject(self, request: ModelRequest[Any]) -> Injection:
        return await self.memory.inject(request.messages, state=request.state, thread=_thread(request.runtime))


def _add_block(request: ModelRequest[Any], injection: Injection) -> ModelRequest[Any]:
    return request.override(messages=list(injection.messages)) if injection.injected else request


def _thread(runtime: Any) -> str | None:
    thread: str | None = getattr(getattr(runtime, "execution_info", None), "thread_id", None)
    return thread


def _tool(memory: TurnMemory, function: Callable[..., Awaitable[dict[str, Any]]]) -> BaseTool:
    @wraps(function)
    def now(*args: Any, **kwargs: Any) -> dict[str, Any]:
        return memory.now(function, *args, **kwargs)

    return StructuredTool.from_function(now, coroutine=function, parse_docstring=True)
