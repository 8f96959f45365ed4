"""One turn, as the engine runs it."""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.errors import MnemicError
from mnemic.extract import Extraction
from mnemic.requests import Run
from mnemic.types import Actor, Message
from mnemic.types.trace import Watch


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """The request `turn` of an actor. `message` is what the user said in it, to be remembered from; `watch` receives
    each step. `read`: what was extracted from the message beforehand, or why the turn must stop.
    """

    actor: Actor
    turn: Run
    message: Message | None = None
    watch: Watch | None = None
    read: Extraction | MnemicError | None = None
