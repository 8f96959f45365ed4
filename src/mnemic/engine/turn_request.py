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
    """The request `turn` of an actor. `watch` receives each step. `read`: the extraction from the message made
    beforehand, or the reason why the turn must stop.
    """

    actor: Actor
    turn: Run
    watch: Watch | None = None
    read: Extraction | MnemicError | None = None

    @property
    def message(self) -> Message | None:
        """The user's words in the turn, to be remembered from; the engine has made a message of a text."""
        return self.turn.message if isinstance(self.turn.message, Message) else None
