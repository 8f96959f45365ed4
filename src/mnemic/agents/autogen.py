"""AutoGen: a model context that injects and captures around another one, with tools.

`pip install "mnemic[autogen]"`. For AG2, the project's other line, see `mnemic.agents.ag2`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mnemic.agents.turns import TurnMemory, latest_asks
from mnemic.engine import MemoryEngine
from mnemic.inject import InjectionConfig, MemorySource
from mnemic.plugins.extras import brought_by
from mnemic.types import Actor

with brought_by("autogen"):
    from autogen_core.model_context import ChatCompletionContext, UnboundedChatCompletionContext
    from autogen_core.models import AssistantMessage, FunctionExecutionResultMessage, LLMMessage, UserMessage
    from autogen_core.tools import FunctionTool

_TOOL_RESULT: Mapping[str, str] = {"type": "tool_result"}


class MnemicContext(ChatCompletionContext):  # type: ignore[misc]
    """Memory for an AutoGen agent, around the context that stores its messages unchanged.

        context = MnemicContext(engine, Actor(user="ana"))
        agent = AssistantAgent("assistant", model_client=client, model_context=context, tools=context.tools)

    The model's input has the block of memories; the user's message is captured once it has been answered. The block is
    never in the stored or saved messages. `memory` has the outcome (`last`, `counts`).
    """

    def __init__(
        self,
        engine: MemoryEngine,
        actor: Actor,
        config: InjectionConfig | None = None,
        *,
        inner: ChatCompletionContext | None = None,
        sources: Sequence[MemorySource] = (),
    ) -> None:
        super().__init__()
        self.inner = inner or UnboundedChatCompletionContext()
        self.memory = TurnMemory(engine, actor, config, sources=sources, by="autogen")
        self._said: list[dict[str, Any]] = []

    @property
    def tools(self) -> list[Any]:
        """`search_memory` and `add_memory` for an agent's `tools`."""
        return [FunctionTool(function, description=function.__doc__ or "") for function in self.memory.tools]

    async def get_messages(self) -> list[LLMMessage]:
        """Return the messages for one call of the model, with the block in the open question of the user's."""
        messages = list(await self.inner.get_messages())
        injection = await self.memory.inject([_plain(message) for message in messages], thread=id(self))
        for block in injection.blocks:
            messages[block.at] = _with_block(messages[block.at], block.text, front=block.front)
        return messages

    async def add_message(self, message: LLMMessage) -> None:
        """Store a message; an answer in words ends the turn, which is captured."""
        await self.inner.add_message(message)
        if isinstance(message, UserMessage):
            self._said.append(_plain(message))
        elif isinstance(message, AssistantMessage) and isinstance(message.content, str):
            said, self._said = self._said, []
            if said:
                await self.memory.capture(*latest_asks(said, self.memory.actor.user), answer=message.content)

    async def clear(self) -> None:
        """Clear the conversation. Captured memories stay."""
        self._said = []
        await self.inner.clear()

    async def save_state(self) -> Mapping[str, Any]:
        """Return the stored messages."""
        state: Mapping[str, Any] = await self.inner.save_state()
        return state

    async def load_state(self, state: Mapping[str, Any]) -> None:
        """Take up messages that `save_state` returned; nothing of them is captured."""
        await self.inner.load_state(state)


def _plain(message: LLMMessage) -> dict[str, Any]:
    """Return the message as the injection reads it: its role, its texts, and whether a tool answers in it."""
    if isinstance(message, FunctionExecutionResultMessage):
        return {"role": "user", "content": [_TOOL_RESULT]}
    if isinstance(message, UserMessage):
        parts = [message.content] if isinstance(message.content, str) else message.content
        return {"role": "user", "content": [{"text": part} for part in parts if isinstance(part, str)]}
    role = "assistant" if isinstance(message, AssistantMessage) else "system"
    return {"role": role, "content": [{"text": message.content}] if isinstance(message.content, str) else []}


def _with_block(message: LLMMessage, text: str, *, front: bool) -> LLMMessage:
    """Return a copy of the user's message with the block as a separate part, or of a tool's message with the block
    after it.
    """
    if not isinstance(message, UserMessage):
        return message
    parts = [message.content] if isinstance(message.content, str) else list(message.content)
    if all(isinstance(part, str) for part in parts):
        texts = [text, *parts] if front else [*parts, text]
        return message.model_copy(update={"content": "\n\n".join(texts)})
    return message.model_copy(update={"content": [text, *parts] if front else [*parts, text]})
