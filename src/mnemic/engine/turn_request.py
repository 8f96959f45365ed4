"""Request for one turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from mnemic.errors import MnemicError
from mnemic.extract import Extraction
from mnemic.types import Actor, Message
from mnemic.types.trace import Watch


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """Request for one turn. `message` is something the user said, to be remembered from; `goal` something to answer.

    `context` is what the application knows and the answer may use; it is never remembered. `min_score` and `asked_at`
    are those of a search. `watch` sees the steps. `read`: what the message gives, or why the run must stop, where it
    was read before.
    """

    actor: Actor
    message: Message | None = None
    goal: str | None = None
    context: Mapping[str, Any] = field(default_factory=dict)
    idempotency_key: str | None = None
    min_score: float = 0.0
    asked_at: datetime | None = None
    watch: Watch | None = None
    read: Extraction | MnemicError | None = None
