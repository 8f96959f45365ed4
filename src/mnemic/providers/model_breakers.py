"""A model with a circuit breaker: while it does not answer, calls fail at once.

A refusal or a bad answer shows that the server is there, so it closes the circuit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from datetime import timedelta
from typing import Any

from mnemic.errors import EmbedderFailed, MnemicError, ModelFailed, ModelTimeout, ModelUnavailable
from mnemic.ports import Clock, Completer, Embedder
from mnemic.ports.providers import count_calls, reads_files
from mnemic.runtime.circuit_breaker import CircuitBreaker
from mnemic.types import Completion, Deadline, Prompt, Vector, VectorSpace

FEW = 8
"""Maximum number of texts of an interactive call: a query, or a write. Larger calls belong to jobs."""
FEW_SECONDS = timedelta(seconds=8)
"""Seconds for such a call in all, its retries included: a search answers by words and keys then, well within the
service's thirty seconds. A call that took all of them opens the circuit.
"""
TRIAL_WAIT = timedelta(seconds=1)
"""Time after which a caller no longer waits for the trial of an open circuit, which continues without it; the same
applies to a crowd of callers while none is answered.
"""
CROWD = 8
"""Number of callers that may wait together for an unresponsive embedder: each of them occupies a request slot of a
service.
"""
MIN_SECONDS = 2.0
"""A call with less time may have failed for that reason, and does not count."""
_UNREACHED = frozenset({"embedder_failed:timeout", "embedder_failed:unavailable"})


class BreakingEmbedder:
    """An embedder with a circuit breaker. Raises EmbedderFailed (`embedder_failed:circuit_open`) if it is open."""

    def __init__(self, inner: Embedder, clock: Clock) -> None:
        self._inner = inner
        self._clock = clock
        self._circuit = CircuitBreaker(clock.monotonic)
        self._trials: set[asyncio.Future[list[Vector]]] = set()
        self._waiting = self._answers = 0

    @property
    def space(self) -> VectorSpace:
        return self._inner.space

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        if not self._circuit.allows():
            raise _circuit_open()
        # A large batch takes long by nature, so its timeout does not open the circuit.
        if len(texts) > FEW:
            return await self._ask_inner(texts, deadline, had_time=_has_time(deadline), opens=False)
        soon = Deadline.after(FEW_SECONDS, self._clock.monotonic)
        whole = deadline is None or soon.remaining() <= deadline.remaining()
        # The half-open trial: one call is let through to find out whether the server is back.
        if self._circuit.is_open:
            return await self._try_call(self._ask_inner(texts, soon, had_time=True, opens=True))
        within = soon if whole else deadline
        asked = self._ask_inner(texts, within, had_time=_has_time(within), opens=whole)
        self._waiting += 1
        try:
            # A crowd waits only briefly, so that a hanging embedder does not occupy all request slots.
            return await (self._try_call(asked, crowded=True) if self._waiting > CROWD else asked)
        finally:
            self._waiting -= 1

    async def _ask_inner(
        self, texts: Sequence[str], deadline: Deadline | None, *, had_time: bool, opens: bool
    ) -> list[Vector]:
        try:
            vectors = await self._inner.embed(texts, deadline=deadline)
        except EmbedderFailed as failure:
            # A refusal is an answer: the server is up, and waiting would not change it.
            unanswered = failure.reason in _UNREACHED
            opens = opens and failure.reason == "embedder_failed:timeout"
            _record(self._circuit, failure, unanswered=unanswered, had_time=had_time, opens=opens)
            raise
        self._circuit.close_circuit()
        # A counter, not a flag: callers compare it with the value they began with.
        self._answers += 1
        return vectors

    async def _try_call(self, call: Coroutine[Any, Any, list[Vector]], *, crowded: bool = False) -> list[Vector]:
        """Run a call with the full time limit of which its caller waits for a part only: the trial of an open circuit,
        or one in a crowd of which none was answered.
        """
        before = self._answers
        trial = asyncio.ensure_future(call)
        self._trials.add(trial)
        # The set keeps a reference: asyncio itself has only a weak one to a running task.
        trial.add_done_callback(self._over)
        # Not `wait_for`, which would cancel the trial: it continues, and its outcome opens or closes the circuit.
        pause = asyncio.ensure_future(self._clock.sleep(TRIAL_WAIT))
        try:
            await asyncio.wait({trial, pause}, return_when=asyncio.FIRST_COMPLETED)
            # Another call was answered meanwhile, so the embedder works and this caller continues to wait.
            if crowded and self._answers != before:
                await asyncio.wait({trial})
        finally:
            pause.cancel()
        if not trial.done():
            raise _circuit_open()
        return trial.result()

    def _over(self, trial: asyncio.Future[list[Vector]]) -> None:
        self._trials.discard(trial)
        if not trial.cancelled():
            trial.exception()  # retrieved: its caller may have gone

    async def close(self) -> None:
        for trial in self._trials:
            trial.cancel()
        await self._inner.close()


class BreakingCompleter:
    """A language model with a circuit breaker. Raises ModelUnavailable if it is open."""

    is_metered = True

    def __init__(self, inner: Completer, clock: Clock) -> None:
        self._inner = count_calls(inner)
        self._circuit = CircuitBreaker(clock.monotonic)

    @property
    def model(self) -> str:
        return self._inner.model

    @property
    def reads_files(self) -> bool:
        return reads_files(self._inner)

    async def complete(self, prompt: Prompt, *, deadline: Deadline) -> Completion:
        if not self._circuit.allows():
            raise ModelUnavailable(hint="the model did not answer; it is asked again in a while")
        had_time = deadline.remaining() >= MIN_SECONDS
        try:
            completion = await self._inner.complete(prompt, deadline=deadline)
        except ModelFailed as failure:
            unanswered = isinstance(failure, ModelTimeout | ModelUnavailable)
            _record(self._circuit, failure, unanswered=unanswered, had_time=had_time)
            raise
        self._circuit.close_circuit()
        return completion

    async def close(self) -> None:
        await self._inner.close()


def _circuit_open() -> EmbedderFailed:
    return EmbedderFailed("circuit_open", hint="the embedder did not answer; it is asked again in a while")


def _has_time(deadline: Deadline | None) -> bool:
    return deadline is None or deadline.remaining() >= MIN_SECONDS


def _record(
    circuit: CircuitBreaker, failure: MnemicError, *, unanswered: bool, had_time: bool, opens: bool = False
) -> None:
    if not unanswered or failure.permanent:
        circuit.close_circuit()
    # The timeout of a call that began with hardly any time left is no evidence against the server.
    elif had_time:
        circuit.count_timeout(opens=opens)
