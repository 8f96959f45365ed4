"""LlamaIndex: a memory for agents and chat engines that injects and captures around another memory.

`pip install "mnemic[llama-index]"`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from mnemic.agents.turns import TurnMemory, latest_asks
from mnemic.engine import MemoryEngine
from mnemic.inject import InjectionConfig, MemorySource
from mnemic.plugins.extras import brought_by
from mnemic.types import Actor

with brought_by("llama-index"):
    from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
    from llama_index.core.bridge.pydantic import Field, PrivateAttr, SerializeAsAny
    from llama_index.core.memory import BaseMemory, ChatMemoryBuffer
    from llama_index.core.tools import BaseTool, FunctionTool

_TOOL_ANSWERS = frozenset({MessageRole.TOOL, MessageRole.FUNCTION})


class MnemicMemory(BaseMemory):
    """Memory of one actor around the memory of a conversation, which stores the messages unchanged.

        memory = MnemicMemory.for_actor(engine, Actor(user="ana"))
        await agent.run("Which seat do I prefer?", memory=memory)

    Messages read while a question of the user's is open carry the block of memories; the user's message is captured
    once it has been answered. `turn` has the outcome (`last`, `counts`), and `tools` for the agent.
    """

    inner: SerializeAsAny[BaseMemory] = Field(default_factory=ChatMemoryBuffer.from_defaults)
    _turn: TurnMemory = PrivateAttr()
    _said: list[dict[str, Any]] = PrivateAttr(default_factory=list)
    _shown: tuple[str, list[ChatMessage]] | None = PrivateAttr(default=None)

    @classmethod
    def for_actor(
        cls,
        engine: MemoryEngine,
        actor: Actor,
        config: InjectionConfig | None = None,
        *,
        inner: BaseMemory | None = None,
        sources: Sequence[MemorySource] = (),
    ) -> Self:
        """Return the memory around `inner`, by default a buffer of messages."""
        made = cls() if inner is None else cls(inner=inner)
        made._turn = TurnMemory(engine, actor, config, sources=sources, by="llama-index")
        return made

    @classmethod
    def from_defaults(cls, **kwargs: Any) -> Self:
        """Return the memory of `engine` and `actor`; see `for_actor`."""
        return cls.for_actor(**kwargs)

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex serialises it."""
        return "MnemicMemory"

    @property
    def turn(self) -> TurnMemory:
        """Turns of this actor: the memories shown and captured."""
        return self._turn

    @property
    def tools(self) -> list[BaseTool]:
        """`search_memory` and `add_memory` for an agent's `tools`."""
        return [FunctionTool.from_defaults(async_fn=function) for function in self._turn.tools]

    # -- reading ------------------------------------------------------------------------------------------------------

    async def aget(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:  # noqa: A002
        """Return the messages, with the block of memories in the open question of the user's."""
        return await self._inject_block(await self.inner.aget(input, **kwargs))

    def get(self, input: str | None = None, **kwargs: Any) -> list[ChatMessage]:  # noqa: A002
        """Return the messages for a synchronous caller."""
        return self._turn.now(self._inject_block, self.inner.get(input, **kwargs))

    async def aget_all(self) -> list[ChatMessage]:
        """Return all stored messages."""
        return await self.inner.aget_all()

    def get_all(self) -> list[ChatMessage]:
        """Return all stored messages."""
        return self.inner.get_all()

    async def _inject_block(self, messages: list[ChatMessage]) -> list[ChatMessage]:
        plain = [_plain(message) for message in messages]
        if not plain or plain[-1]["role"] != "user":
            return messages
        mark = repr(
            plain
        )  # an agent reads the memory at every step of its tool loop, without the messages of that loop
        if self._shown is None or self._shown[0] != mark:
            injection = await self._turn.inject(plain, thread=id(self))
            folded = list(messages)
            for block in injection.blocks:
                folded[block.at] = _with_block(folded[block.at], block.text, front=block.front)
            self._shown = (mark, folded)
        return list(self._shown[1])

    # -- writing ------------------------------------------------------------------------------------------------------

    async def aput(self, message: ChatMessage) -> None:
        """Store a message; an answer ends the turn, which is captured."""
        await self.inner.aput(message)
        await self._capture_messages([message])

    def put(self, message: ChatMessage) -> None:
        """Do the same for a synchronous caller."""
        self.inner.put(message)
        self._turn.now(self._capture_messages, [message])

    async def aput_messages(self, messages: list[ChatMessage]) -> None:
        """Store messages; an answer among them ends the turn, which is captured."""
        await self.inner.aput_messages(messages)
        await self._capture_messages(messages)

    async def aset(self, messages: list[ChatMessage]) -> None:
        """Replace all messages by these; nothing of them is captured."""
        await self.inner.aset(messages)

    def set(self, messages: list[ChatMessage]) -> None:
        """Replace all messages by these; nothing of them is captured."""
        self.inner.set(messages)

    async def areset(self) -> None:
        """Clear the conversation. Captured memories stay."""
        self._said, self._shown = [], None
        await self.inner.areset()

    def reset(self) -> None:
        """Clear the conversation. Captured memories stay."""
        self._said, self._shown = [], None
        self.inner.reset()

    async def _capture_messages(self, messages: Sequence[ChatMessage]) -> None:
        for message in messages:
            if message.role is MessageRole.USER:
                self._said.append(_plain(message))
            elif message.role is MessageRole.ASSISTANT and message.content:
                said, self._said = self._said, []
                if said:
                    await self._turn.capture(*latest_asks(said, self._turn.actor.user), answer=message.content)


def _plain(message: ChatMessage) -> dict[str, Any]:
    """Return the message as the injection reads it."""
    if message.role in _TOOL_ANSWERS:
        return {"role": "user", "content": [{"type": "tool_result"}]}
    role = {MessageRole.USER: "user", MessageRole.SYSTEM: "system", MessageRole.DEVELOPER: "system"}
    texts = [{"text": block.text} for block in message.blocks if isinstance(block, TextBlock)]
    return {"role": role.get(message.role, "assistant"), "content": texts}


def _with_block(message: ChatMessage, text: str, *, front: bool) -> ChatMessage:
    block = TextBlock(text=text)
    blocks = [block, *message.blocks] if front else [*message.blocks, block]
    return message.model_copy(update={"blocks": blocks})
