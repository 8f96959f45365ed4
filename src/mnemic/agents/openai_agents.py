"""OpenAI Agents: an input filter that injects, hooks that capture, and a session that captures instead of them.

`pip install "mnemic[openai-agents]"`.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from mnemic.agents.turns import TurnMemory, answer_in, latest_asks, turns_before
from mnemic.engine import MemoryEngine
from mnemic.inject import InjectionConfig, MemorySource
from mnemic.inject.messages import ASSISTANT
from mnemic.plugins.extras import brought_by
from mnemic.types import Actor

with brought_by("openai-agents"):
    from agents.items import TResponseInputItem
    from agents.memory import Session, SessionSettings
    from agents.run import CallModelData, ModelInputData
    from agents.run_config import CallModelInputFilter
    from agents.tool import FunctionTool, function_tool

    from agents import RunConfig, RunHooks

_LATEST = 50
"""Maximum number of a session's items searched for a turn and the turns before it."""


class MnemicMemory(RunHooks[Any]):
    """Memory for the runs of one actor: injects before the model is called, captures the user's messages after the
    turn.

        memory = MnemicMemory(engine, Actor(user="ana"))
        await Runner.run(agent, "Which seat?", session=session, run_config=memory.run_config(), hooks=memory)

    The block is in the model's input alone, never in the session. `memory` has the outcome (`last`, `counts`). A
    conversation stored by the provider (`conversation_id`, `previous_response_id`) would contain the block, too: use a
    session.
    """

    def __init__(
        self,
        engine: MemoryEngine,
        actor: Actor,
        config: InjectionConfig | None = None,
        *,
        sources: Sequence[MemorySource] = (),
    ) -> None:
        self.memory = TurnMemory(engine, actor, config, sources=sources, by="openai-agents")

    def run_config(self, config: RunConfig | None = None) -> RunConfig:
        """Return `config` with the injection after its own input filter. By default traces leave out messages: they
        would otherwise take the memories to wherever they are sent.
        """
        config = config or RunConfig(trace_include_sensitive_data=False)
        return dataclasses.replace(config, call_model_input_filter=self._filter_after(config.call_model_input_filter))

    @property
    def tools(self) -> list[FunctionTool]:
        """`search_memory` and `add_memory` for an agent's `tools`."""
        return [function_tool(function) for function in self.memory.tools]

    def session(self, session: Session) -> MnemicSession:
        """Return `session`, capturing the user's statements in it: for runs with other hooks."""
        return MnemicSession(session, self.memory)

    async def filter(self, data: CallModelData[Any]) -> ModelInputData:
        """Return the model's input with the block in it: a `call_model_input_filter`."""
        given = data.model_data
        injection = await self.memory.inject(given.input, state=data.context)
        return ModelInputData(input=list(injection.messages), instructions=given.instructions)

    async def on_agent_end(self, context: Any, agent: Any, output: Any) -> None:
        """Capture the turn, which has ended."""
        await self.memory.capture(*latest_asks(context.turn_input, self.memory.actor.user), answer=str(output))

    def _filter_after(self, first: CallModelInputFilter | None) -> Callable[[CallModelData[Any]], Any]:
        if first is None:
            return self.filter

        async def filter_twice(data: CallModelData[Any]) -> ModelInputData:
            changed = first(data)
            given = await changed if inspect.isawaitable(changed) else changed
            return await self.filter(dataclasses.replace(data, model_data=given))

        return filter_twice


class MnemicSession:
    """Wraps another session and leaves its items unchanged. The user's statements are captured once they have been
    answered.
    """

    def __init__(self, session: Session, memory: TurnMemory) -> None:
        self.session_id = session.session_id
        self.session_settings: SessionSettings | None = session.session_settings
        self._session = session
        self._memory = memory
        self._said: list[str] = []

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the session's items."""
        return await self._session.get_items(limit)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Store the items; if an answer is among them, capture the request."""
        await self._session.add_items(items)
        self._said += latest_asks(items, self._memory.actor.user)
        if any(item.get("role") == ASSISTANT for item in items):
            said, self._said = self._said, []
            before = turns_before(await self._session.get_items(_LATEST))
            await self._memory.capture(*said, answer=answer_in(items), before=before)

    async def pop_item(self) -> TResponseInputItem | None:
        """Return the session's latest item, taken out of it."""
        return await self._session.pop_item()

    async def clear_session(self) -> None:
        """Empty the session. Captured memories remain."""
        self._said.clear()
        await self._session.clear_session()
