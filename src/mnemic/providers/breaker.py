"""Circuit breakers: a model that hangs or is gone is not asked again for a while, so that nobody waits for it.

After `failures` calls in a row that could not reach it the circuit is open, and calls fail at once. When `rest` is over
one call is let through (half open): it closes the circuit, or opens it again (Nygard, "Release It!", 2nd edition, 2018,
chapter 5). What a server refuses, or answers badly, says nothing about its being there and does not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from mnemic.errors import EmbedderFailed, MnemicError, ModelFailed, ModelTimeout, ModelUnavailable
from mnemic.ports import Clock, Completer, Embedder
from mnemic.ports.metering import metered
from mnemic.types import Completion, Deadline, Prompt, Vector, VectorSpace

FAILURES = 3
REST = timedelta(seconds=15)
FEW = 8
"""Texts of a call that somebody waits for: a query, or what is written now. More are a job's."""
FEW_SECONDS = timedelta(seconds=8)
"""Seconds for such a call in all, its retries included: a search answers by words and keys then, well within the
service's thirty seconds.
"""
PATIENCE_SECONDS = 2.0
"""A call that was given less may have failed for want of time."""
_UNREACHED = frozenset({"embedder_failed:timeout", "embedder_failed:unavailable"})


class Circuit:
    """The state of one circuit."""

    def __init__(self, clock: Clock, *, failures: int = FAILURES, rest: timedelta = REST) -> None:
        self._clock = clock
        self._most = failures
        self._rest = rest
        self._failed = 0
        self._tried_at = 0.0

    def closed(self) -> bool:
        """Return True if a call may be made now; the first one after a rest is the trial."""
        if self._failed < self._most:
            return True
        now = self._clock.monotonic()
        if now - self._tried_at < self._rest.total_seconds():
            return False
        self._tried_at = now
        return True

    def told(self, failure: MnemicError, *, missed: bool) -> None:
        """A call failed; `missed`: the other side did not answer, though it had the time."""
        if missed and not failure.permanent:
            self._failed += 1
            self._tried_at = self._clock.monotonic()
        elif not missed:
            self._failed = min(self._failed, self._most - 1)

    def reached(self) -> None:
        """The other side is there."""
        self._failed = 0


class BreakingEmbedder:
    """An embedder behind a circuit. Raises EmbedderFailed (`embedder_failed:circuit_open`) where it is open."""

    def __init__(self, inner: Embedder, clock: Clock) -> None:
        self._inner = inner
        self._clock = clock
        self._circuit = Circuit(clock)

    @property
    def space(self) -> VectorSpace:
        return self._inner.space

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        if not self._circuit.closed():
            raise EmbedderFailed("circuit_open", hint="the embedder did not answer; it is asked again in a while")
        if len(texts) <= FEW:
            soon = Deadline.after(FEW_SECONDS, self._clock.monotonic)
            deadline = soon if deadline is None or soon.remaining() < deadline.remaining() else deadline
        patient = deadline is None or deadline.remaining() >= PATIENCE_SECONDS
        try:
            vectors = await self._inner.embed(texts, deadline=deadline)
        except EmbedderFailed as failure:
            self._circuit.told(failure, missed=patient and failure.reason in _UNREACHED)
            raise
        self._circuit.reached()
        return vectors

    async def close(self) -> None:
        await self._inner.close()


class BreakingCompleter:
    """A language model behind a circuit. Raises ModelUnavailable where it is open."""

    is_metered = True

    def __init__(self, inner: Completer, clock: Clock) -> None:
        self._inner = metered(inner)
        self._circuit = Circuit(clock)

    @property
    def model(self) -> str:
        return self._inner.model

    async def complete(self, prompt: Prompt, *, deadline: Deadline) -> Completion:
        if not self._circuit.closed():
            raise ModelUnavailable(hint="the model did not answer; it is asked again in a while")
        patient = deadline.remaining() >= PATIENCE_SECONDS
        try:
            completion = await self._inner.complete(prompt, deadline=deadline)
        except ModelFailed as failure:
            self._circuit.told(failure, missed=patient and isinstance(failure, ModelTimeout | ModelUnavailable))
            raise
        self._circuit.reached()
        return completion

    async def close(self) -> None:
        await self._inner.close()
