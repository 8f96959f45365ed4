"""Settings of an injection, and the callbacks that a program may give it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal, Protocol, get_args, runtime_checkable

from mnemic.errors import InvalidConfig
from mnemic.inject.memory_source import SourceEntry
from mnemic.inject.messages import Placement
from mnemic.types.recall_limits import (
    DEFAULT_MAX_ENTRIES,
    DEFAULT_MAX_TOKENS,
    DEFAULT_MIN_RELEVANCE,
    DEFAULT_PINNED_SHARE,
)

DEFAULT_TIMEOUT = timedelta(seconds=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionContext:
    """Data that a callback may look at: the messages of this call (an own list, shared messages) and the framework's
    state as the adapter hands it on.
    """

    messages: Sequence[Any] = field(repr=False)
    state: Any = field(default=None, repr=False)


def context_of(messages: Sequence[Any], state: Any) -> InjectionContext:
    """Return the context of one call, with a copy of the list. Raises TypeError for a value that is not a sequence."""
    return InjectionContext(messages=list(messages), state=state)


class TriggerCallback(Protocol):
    """Decides whether to inject."""

    def __call__(self, context: InjectionContext, **kwargs: Any) -> bool | Awaitable[bool]:
        """Return True to inject into this call."""


class QueryCallback(Protocol):
    """Writer of the query."""

    def __call__(self, context: InjectionContext, **kwargs: Any) -> str | Awaitable[str | None] | None:
        """Return the query; None or blank text to skip."""


class FormatCallback(Protocol):
    """Writes the block, and answers for its escaping: `mnemic.inject.render` has `escape`, `visible` and `defused`."""

    def __call__(self, entries: Sequence[SourceEntry], **kwargs: Any) -> str | Awaitable[str]:
        """Return the text to fold in; blank text to skip."""


class RecallLog(Protocol):
    """Log of the memories that entered each input."""

    def __call__(self, run_id: str, entries: Sequence[SourceEntry], digest: str) -> Awaitable[None]:
        """Injection before the model is called. Memories that cannot be logged are not injected."""


@runtime_checkable
class MeasuringLog(Protocol):
    """Recall log that also records the size and the duration of an injection."""

    async def record_measured(
        self, run_id: str, entries: Sequence[SourceEntry], digest: str, *, tokens: int | None, ms: float | None
    ) -> None:
        """Record an injection: its number of tokens, and the milliseconds it took to find."""


TriggerName = Literal["userTurn", "everyTurn"]
Trigger = TriggerName | Callable[[InjectionContext], bool | Awaitable[bool]] | TriggerCallback
Query = Callable[[InjectionContext], str | Awaitable[str | None] | None] | QueryCallback
Format = Callable[[Sequence[SourceEntry]], str | Awaitable[str]] | FormatCallback


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionConfig:
    """Settings for when and how to inject.

    `trigger`: on a user turn, on every model call, or by a predicate. `query` replaces the adaptive query. Of
    `max_entries` across all sources, `max_untrusted` come from tools, the web or models (None: no limit). `max_tokens`
    bounds the block in the form in which it is sent, `pinned_share` (0 to 1) its pinned memories, which come first and
    alone if a source's relevance is below `least_relevance` (0: never); the others have at least `min_score`. With
    `profile_tokens` so much of the user's profile precedes everything, whatever is asked (0: what bears on it).
    `timeout` bounds callbacks and search together; a synchronous callback runs on the event loop and cannot be
    interrupted. `on_failure="stop"` raises InjectionFailed if memory is needed but could not be consulted.

    Raises InvalidConfig.
    """

    trigger: Trigger = "userTurn"
    query: Query | None = None
    format: Format | None = None
    placement: Placement = "auto"
    max_entries: int = DEFAULT_MAX_ENTRIES
    max_untrusted: int | None = 1
    max_tokens: int = DEFAULT_MAX_TOKENS
    pinned_share: float = DEFAULT_PINNED_SHARE
    least_relevance: float = DEFAULT_MIN_RELEVANCE
    min_score: float = 0.0
    profile_tokens: int = 0
    timeout: timedelta = DEFAULT_TIMEOUT
    on_failure: Literal["proceed", "stop"] = "proceed"

    def __post_init__(self) -> None:
        if isinstance(self.trigger, str) and self.trigger not in get_args(TriggerName):
            raise InvalidConfig("trigger", hint="userTurn, everyTurn or a predicate")
        if self.placement not in get_args(Placement):
            raise InvalidConfig("placement", hint="auto or append")
        if self.on_failure not in ("proceed", "stop"):
            raise InvalidConfig("on_failure", hint="proceed or stop")
        for name in ("max_entries", "max_tokens"):
            if type(getattr(self, name)) is not int or getattr(self, name) < 1:
                raise InvalidConfig(name, hint="a whole number from 1 up")
        if type(self.profile_tokens) is not int or not 0 <= self.profile_tokens <= self.max_tokens:
            raise InvalidConfig("profile_tokens", hint="a whole number from 0 to max_tokens")
        for name in ("pinned_share", "least_relevance", "min_score"):
            if not 0 <= getattr(self, name) <= 1:
                raise InvalidConfig(name, hint="a number from 0 to 1")
        if self.timeout <= timedelta(0):
            raise InvalidConfig("timeout", hint="must be greater than zero")
