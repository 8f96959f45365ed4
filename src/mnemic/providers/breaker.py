"""A model with a circuit breaker: while it does not answer, calls fail at once.

A refusal or a bad answer shows that the server is there, so it closes the circuit.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from mnemic.circuit_breaker import CircuitBreaker
from mnemic.errors import EmbedderFailed, MnemicError, ModelFailed, ModelTimeout, ModelUnavailable
from mnemic.ports import Clock, Completer, Embedder
from mnemic.ports.metering import metered
from mnemic.types import Completion, Deadline, Prompt, Vector, VectorSpace

FEW = 8
"""Texts of a call that somebody waits for: a query, or what is written now. More are a job's."""
FEW_SECONDS = timedelta(seconds=8)
"""Seconds for such a call in all, its retries included: a search answers by words and keys then, well within the
service's thirty seconds.
"""
LEAST_SECONDS = 2.0
"""A call with less time may have failed for that reason, and does not count."""
_UNREACHED = frozenset({"embedder_failed:timeout", "embedder_failed:unavailable"})


class BreakingEmbedder:
    """An embedder with a circuit breaker. Raises EmbedderFailed (`embedder_failed:circuit_open`) where it is open."""

    def __init__(self, inner: Embedder, clock: Clock) -> None:
        self._inner = inner
        self._clock = clock
        self._circuit = CircuitBreaker(clock.monotonic)

    @property
    def space(self) -> VectorSpace:
        return self._inner.space

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        if not self._circuit.allows():
            raise EmbedderFailed("circuit_open", hint="the embedder did not answer; it is asked again in a while")
        if len(texts) <= FEW:
            soon = Deadline.after(FEW_SECONDS, self._clock.monotonic)
            deadline = soon if deadline is None or soon.remaining() < deadline.remaining() else deadline
        had_time = deadline is None or deadline.remaining() >= LEAST_SECONDS
        try:
            vectors = await self._inner.embed(texts, deadline=deadline)
        except EmbedderFailed as failure:
            _record(self._circuit, failure, unanswered=failure.reason in _UNREACHED, had_time=had_time)
            raise
        self._circuit.answered()
        return vectors

    async def close(self) -> None:
        await self._inner.close()


class BreakingCompleter:
    """A language model with a circuit breaker. Raises ModelUnavailable where it is open."""

    is_metered = True

    def __init__(self, inner: Completer, clock: Clock) -> None:
        self._inner = metered(inner)
        self._circuit = CircuitBreaker(clock.monotonic)

    @property
    def model(self) -> str:
        return self._inner.model

    async def complete(self, prompt: Prompt, *, deadline: Deadline) -> Completion:
        if not self._circuit.allows():
            raise ModelUnavailable(hint="the model did not answer; it is asked again in a while")
        had_time = deadline.remaining() >= LEAST_SECONDS
        try:
            completion = await self._inner.complete(prompt, deadline=deadline)
        except ModelFailed as failure:
            unanswered = isinstance(failure, ModelTimeout | ModelUnavailable)
            _record(self._circuit, failure, unanswered=unanswered, had_time=had_time)
            raise
        self._circuit.answered()
        return completion

    async def close(self) -> None:
        await self._inner.close()


def _record(circuit: CircuitBreaker, failure: MnemicError, *, unanswered: bool, had_time: bool) -> None:
    if not unanswered or failure.permanent:
        circuit.answered()
    elif had_time:
        circuit.missed()
