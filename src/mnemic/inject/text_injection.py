"""Any just-in-time text into the model's input for one call: the time, a document, the state of a form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any, Protocol

from mnemic.inject.configuration import DEFAULT_TIMEOUT, InjectionConfig, InjectionContext, Trigger, context_of
from mnemic.inject.injection_result import Injection, SkippedInjection, await_within, run_guarded
from mnemic.inject.injector import count_outcome, should_inject
from mnemic.inject.messages import SEPARATOR, Placement, fold
from mnemic.ports import Clock
from mnemic.runtime.clock import SystemClock
from mnemic.types import Deadline


class RenderCallback(Protocol):
    """Writes the text, and answers for its escaping."""

    def __call__(self, context: InjectionContext, **kwargs: Any) -> str | Awaitable[str | None] | None:
        """Return the text to fold in; None or blank text to skip."""


RenderContent = Callable[[InjectionContext], str | Awaitable[str | None] | None] | RenderCallback


class TextInjector:
    """Inserts the result of `render_content` into the messages unchanged. Fails open and reports it, as an `Injector`
    does.
    """

    def __init__(
        self,
        render_content: RenderContent,
        *,
        trigger: Trigger = "userTurn",
        placement: Placement = "auto",
        separator: str = SEPARATOR,
        timeout: timedelta = DEFAULT_TIMEOUT,
        clock: Clock | None = None,
    ) -> None:
        self.config = InjectionConfig(trigger=trigger, placement=placement, timeout=timeout)
        self.counts: Counter[str] = Counter()
        self._render = render_content
        self._separator = separator
        self._clock = clock or SystemClock()

    async def inject(self, messages: Sequence[Any], *, state: Any = None) -> Injection:
        """`messages` with the text in them, or as they are, and why."""
        try:
            injection = await self._inject(messages, await run_guarded("messages", context_of, messages, state))
        except SkippedInjection as skip:
            injection = Injection(messages=messages, reason=skip.reason, degraded=skip.degraded)
        count_outcome(injection, self.counts)
        return injection

    async def _inject(self, messages: Sequence[Any], context: InjectionContext) -> Injection:
        deadline = Deadline.after(self.config.timeout, self._clock.monotonic)
        if not await run_guarded("trigger", should_inject, self.config.trigger, context, deadline):
            raise SkippedInjection("not_triggered")
        text = await run_guarded("render", self._render_block, context, deadline)
        if not text or not text.strip():
            raise SkippedInjection("empty_block")
        folded = await run_guarded("messages", self._insert_text, messages, text)
        if folded.at is None:
            raise SkippedInjection("no_user_message")
        return Injection(messages=folded.messages, injected=True, text=text, trailing=folded.trailing)

    async def _render_block(self, context: InjectionContext, deadline: Deadline) -> Any:
        return await await_within(self._render(context), deadline)

    def _insert_text(self, messages: Sequence[Any], text: str) -> Any:
        return fold(messages, text, placement=self.config.placement, separator=self._separator)
