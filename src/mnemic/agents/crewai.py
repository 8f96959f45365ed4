"""CrewAI: a model that injects and captures around another one, with tools.

`pip install "mnemic[crewai]"`.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable, Sequence
from functools import wraps
from typing import Any

from mnemic.agents.turns import TurnMemory, latest_asks
from mnemic.engine import MemoryEngine
from mnemic.inject import InjectionConfig, MemorySource
from mnemic.plugins.extras import brought_by
from mnemic.types import Actor

with brought_by("crewai"):
    from crewai import LLM, BaseLLM
    from crewai.tools import tool
    from crewai.utilities.i18n import I18N_DEFAULT

_PROMPTS = ("task", "task_no_tools", "native_task")
"""Templates of CrewAI for passing an agent's task to its model."""

_FINAL = "Final Answer:"
_STEP = "\nAction:"


class MnemicMemory:
    """Memory for agents of CrewAI: injects before their model is called, captures the user's message once it is
    answered.

        memory = MnemicMemory(engine, Actor(user="ana"))
        agent = Agent(role="Assistant", ..., llm=memory.wrap_model("gpt-4.1-mini"), tools=memory.tools)
        agent.kickoff("Which seat do I prefer?")

    The block is in the call alone, never in the messages of the run. The description of a crew's task is the program's
    word: it is searched for, and captured only with `capture_tasks`. `memory` has the outcome (`last`, `counts`).
    """

    def __init__(
        self,
        engine: MemoryEngine,
        actor: Actor,
        config: InjectionConfig | None = None,
        *,
        sources: Sequence[MemorySource] = (),
        capture_tasks: bool = False,
    ) -> None:
        self.memory = TurnMemory(engine, actor, config, sources=sources, by="crewai")
        self._captures_tasks = capture_tasks

    def wrap_model(self, llm: BaseLLM | str) -> BaseLLM:
        """Return a copy of the model whose calls carry the block; the given model stays as it is."""
        inner: Any = LLM(model=llm) if isinstance(llm, str) else llm
        kind = type(inner)

        # The rest of a model (token counts, context window, events) is the class's own, so that this is a subclass.
        def call(model: Any, messages: Any, *args: Any, **kwargs: Any) -> Any:
            given, said = self._inject_block(messages, kwargs)
            answer = kind.call(model, given, *args, **kwargs)
            self._capture_turn(said, answer)
            return answer

        async def acall(model: Any, messages: Any, *args: Any, **kwargs: Any) -> Any:
            given, said = await asyncio.to_thread(self._inject_block, messages, kwargs)
            answer = await kind.acall(model, given, *args, **kwargs)
            await asyncio.to_thread(self._capture_turn, said, answer)
            return answer

        methods: tuple[Any, ...] = (call, acall)
        for method in methods:
            method._crewai_rate_limit_wrapped = True  # the class that is called tries again after too many calls
        copy = inner.model_copy()
        metaclass: Any = type(kind)
        remembering = {"call": call, "acall": acall, "__module__": kind.__module__, "__doc__": kind.__doc__}
        copy.__class__ = metaclass(kind.__name__, (kind,), remembering)
        return copy

    @property
    def tools(self) -> list[Any]:
        """`search_memory` and `add_memory` for an agent's `tools`."""
        return [tool(self._synchronous(method)) for method in self.memory.tools]

    def _inject_block(self, messages: Any, call: dict[str, Any]) -> tuple[Any, list[str]]:
        """Return the messages with the block in the agent's prompt, and the user's own words in it."""
        plain = _plain(messages, call.get("from_task")) if isinstance(messages, list) else None
        if plain is None:  # a check, a plan or a conversion, which the framework itself asks for
            return messages, []
        agent = call.get("from_agent")
        injection = self.memory.now(self.memory.inject, plain, thread=str(getattr(agent, "id", "")))
        given = list(messages)
        for block in injection.blocks:
            given[block.at] = _with_block(given[block.at], block.text, front=block.front)
        own = call.get("from_task") is None or self._captures_tasks
        return given, latest_asks(plain, self.memory.actor.user) if own else []

    def _capture_turn(self, said: Sequence[str], answer: Any) -> None:
        """Capture the user's message if this answer ends the turn: words, and no call of a tool."""
        if said and isinstance(answer, str) and (_FINAL in answer or _STEP not in f"\n{answer}"):
            self.memory.now(self.memory.capture, *said, answer=answer.rpartition(_FINAL)[2].strip())

    def _synchronous(self, method: Callable[..., Awaitable[dict[str, Any]]]) -> Callable[..., str]:
        """Return a function that calls the method: CrewAI calls the tools of an agent in threads."""

        @wraps(method)
        def call(*args: Any, **kwargs: Any) -> str:
            return json.dumps(self.memory.now(method, *args, **kwargs), ensure_ascii=False)

        signature = inspect.signature(method, eval_str=True)
        call.__signature__ = signature.replace(return_annotation=str)  # type: ignore[attr-defined]
        call.__annotations__ = {"return": str}
        return call


def _plain(messages: list[Any], task: Any) -> list[dict[str, Any]] | None:
    """Return the messages as the injection reads them, with the request to the agent taken out of its template. None if
    no agent has a task.
    """
    plain = [dict(message) for message in messages]
    for message in reversed(plain):
        said = _asked_in(message) if message.get("role") == "user" else None
        if said is not None:
            message["content"] = said if task is None else task.description
            return plain
    return None


def _asked_in(message: dict[str, Any]) -> str | None:
    content = message.get("content")
    if not isinstance(content, str):
        return None
    for name in _PROMPTS:
        head, _, tail = (part.strip() for part in I18N_DEFAULT.slice(name).partition("{input}"))
        text = content.strip()
        if text.startswith(head) and text.endswith(tail):
            return text[len(head) : len(text) - len(tail)].strip()
    return None


def _with_block(message: dict[str, Any], text: str, *, front: bool) -> dict[str, Any]:
    """Return a copy of the message with the block before its text or after it."""
    texts = [text, message["content"]] if front else [message["content"], text]
    return {**message, "content": "\n\n".join(texts)}
