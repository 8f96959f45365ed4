"""Procedural memories of mem0: one memory of an agent's actions, from its shortened conversation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from mnemic.agents.compat.mem0_values import argument_error
from mnemic.engine import MemoryEngine
from mnemic.engine.extraction import NO_MODEL
from mnemic.errors import NotSupported
from mnemic.maintenance.summarise import shorten_messages
from mnemic.types import Deadline, Message

PROCEDURAL = "procedural_memory"
_MAX_TOKENS = 1_000
_WITHIN = timedelta(seconds=60)


async def summary(
    engine: MemoryEngine, messages: Sequence[Message], instructions: str = ""
) -> tuple[dict[str, Any], Message]:
    """Return the conversation in one message of the assistant's, with mem0's form of it: by the language model if there
    is one, else by its most telling sentences. `instructions`: facts that the model should include or leave out. Raises
    ValidationError for a conversation without content, NotSupported (`wishes`) if no model could follow them.
    """
    if instructions and engine.completer is None:
        raise NotSupported("wishes", hint=NO_MODEL)
    deadline = Deadline.after(_WITHIN, engine.clock.monotonic)
    short = await shorten_messages(
        messages, max_tokens=_MAX_TOKENS, completer=engine.completer, deadline=deadline, instructions=instructions
    )
    text = "\n".join(short.lines).strip()
    if not text:
        raise argument_error("messages", "There is no content for the procedural memory summary.")
    return {"role": "assistant", "content": text}, Message(role="assistant", content=text)
