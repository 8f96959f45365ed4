"""Microsoft Agent Framework: a context provider that injects and captures.

`pip install "mnemic[agent-framework]"`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mnemic.agents.turns import TurnMemory, latest_asks
from mnemic.engine import MemoryEngine
from mnemic.inject import InjectionConfig, MemorySource
from mnemic.plugins.extras import brought_by
from mnemic.types import Actor

with brought_by("agent-framework"):
    from agent_framework import AgentSession, ContextProvider, Message, SessionContext, SupportsAgentRun


class MnemicContextProvider(ContextProvider):
    """Memory for an agent: adds memories to one run's context, captures the user's messages after it.

        agent = Agent(client=client, context_providers=[MnemicContextProvider(engine, Actor(user="ana"))])

    The block is a context message before the user's; no history provider stores it unless it is configured to. `memory`
    has the outcome (`last`, `counts`). With `tools` the model may search and add, too. If the service stores the
    conversation, it stores its input, including the block.
    """

    def __init__(
        self,
        engine: MemoryEngine,
        actor: Actor,
        config: InjectionConfig | None = None,
        *,
        source_id: str = "mnemic",
        sources: Sequence[MemorySource] = (),
        capture: bool = True,
        tools: bool = False,
    ) -> None:
        super().__init__(source_id)
        self.memory = TurnMemory(engine, actor, config, sources=sources, by="agent-framework")
        self._captures = capture
        self._offers = tools

    async def before_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Add the block, and the tools if they are offered."""
        injection = await self.memory.inject(_plain(context.input_messages), state=state, thread=context.session_id)
        if injection.injected:
            context.extend_messages(self, [Message("user", [injection.text])])
        if self._offers:
            context.extend_tools(self.source_id, self.memory.tools)

    async def after_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Capture the turn, which has ended."""
        if self._captures:
            answer = context.response.text if context.response is not None else None
            await self.memory.capture(
                *latest_asks(_plain(context.input_messages), self.memory.actor.user), answer=answer
            )


def _plain(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.text} for message in messages]
