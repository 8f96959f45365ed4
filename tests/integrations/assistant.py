"""An assistant as the contract sees it, whatever framework it is built with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from mnemic.agents.turns import TurnMemory
from mnemic.engine import MemoryEngine
from mnemic.types import Actor
from tests.scripted_model import ModelRequest, ScriptedModelServer

ANA, BOB = Actor(user="ana"), Actor(user="bob")
MODEL = "claude-scripted"


def timetable(city: str) -> str:
    """Flights to a city.

    Args:
        city: Where to.
    """
    return f"two flights to {city}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What an assistant is built from. With `memory_tools` its model is offered the memory's tools, too. `closing` is
    where it leaves what is to be closed after the test.
    """

    engine: MemoryEngine
    actor: Actor
    base_url: str
    folder: Path
    closing: AsyncExitStack
    memory_tools: bool = False

    @property
    def api(self) -> dict[str, Any]:
        """Where the scripted model is, as OpenAI's clients take it. No second attempt: each is a request of its own."""
        return {"base_url": self.base_url, "api_key": "test", "max_retries": 0}


class Assistant(Protocol):
    """One conversation. `memory` tells what became of the injections."""

    memory: TurnMemory

    async def say(self, text: str) -> str:
        """One turn: the model's answer."""

    def kept(self) -> str:
        """All that the framework keeps of the conversation: history, checkpoints, sessions."""


def sent(request: ModelRequest) -> str:
    """All that one request said to the model."""
    return json.dumps(request.body, ensure_ascii=False)


def blocks(server: ScriptedModelServer) -> list[int]:
    """How many blocks of memories each request held."""
    return [sent(request).count("<memory fence") for request in server.requests]


def texts(parts: Sequence[Any]) -> str:
    """The representations of what a framework keeps."""
    return "\n".join(map(repr, parts))
