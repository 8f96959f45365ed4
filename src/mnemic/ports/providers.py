"""Providers of time, vectors and text for the engine; see `mnemic.ports`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, runtime_checkable

from mnemic.errors import ModelFailed
from mnemic.types import Completion, Cost, Deadline, Prompt, Vector, VectorSpace


class Clock(Protocol):
    """Time, injected so that tests never wait for it."""

    def now(self) -> datetime:
        """Return the wall clock, aware, UTC."""

    def monotonic(self) -> float:
        """Return seconds on a monotonic clock."""

    async def sleep(self, duration: timedelta) -> None:
        """Wait without blocking the event loop."""


class Embedder(Protocol):
    """Text in, unit-length vectors out."""

    @property
    def space(self) -> VectorSpace:
        """The space of every vector of this embedder. Constant."""

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        """One vector per text, in order. Never blocks the event loop, never returns a partial list.

        Raises EmbedderFailed (`embedder_failed:<why>`); a zero, non-finite or wrongly sized vector is such a failure.
        """

    async def close(self) -> None:
        """Free threads, sockets and model memory. May be called twice."""


@runtime_checkable
class ModelLoading(Protocol):
    """Optional capability of an embedder that loads a model for its first text."""

    @property
    def loaded(self) -> bool:
        """True once a question need not wait for a model."""

    async def warm(self) -> None:
        """Load whatever a question needs, and return once it is there. Raises EmbedderFailed as `embed` does."""

    def begin(self) -> None:
        """Start loading and return at once; no effect if already started. Never raises: `embed` reports failures."""


@runtime_checkable
class EmbedsQueries(Protocol):
    """Optional capability of an embedder that embeds questions differently from statements."""

    async def embed_queries(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        """One vector per question, in order, in the space of `embed`. Raises EmbedderFailed as `embed` does."""


@runtime_checkable
class JudgesAnswers(Protocol):
    """Optional capability of an embedder whose model can read a question and a statement together, and what stands
    beside an embedder that cannot.
    """

    async def judge_answers(
        self, question: str, statements: Sequence[str], *, deadline: Deadline | None = None
    ) -> list[float]:
        """Return, for each statement, the natural logarithm of the odds that it answers the question. Raises
        EmbedderFailed as `embed` does.
        """

    async def close(self) -> None:
        """Release the model. May be called twice."""


@runtime_checkable
class JudgesChanges(Protocol):
    """Optional capability of an embedder whose model can read two statements together."""

    async def judge_changes(
        self, pairs: Sequence[tuple[str, str]], *, question: str | None = None, deadline: Deadline | None = None
    ) -> list[float]:
        """Return, for each pair of an earlier and a later statement, the natural logarithm of the odds that the later
        one ends or replaces the earlier; with `question` that it does so in what is asked. Raises EmbedderFailed as
        `embed` does.
        """


@runtime_checkable
class JudgesKeeping(Protocol):
    """Optional capability of an embedder whose model can read a part of a message and the words around it together."""

    async def judge_keeping(
        self, parts: Sequence[tuple[str, str]], *, deadline: Deadline | None = None
    ) -> list[float | None]:
        """Return, for each part of a message with the words around it, the natural logarithm of the odds that it is
        worth storing; None for one in a language that the model does not know. Raises EmbedderFailed as `embed` does.
        """


class Completer(Protocol):
    """A language model that answers with text meant to be one JSON object. One whose client passes on `Prompt.files`
    has an attribute `reads_files`, which is true.
    """

    @property
    def model(self) -> str:
        """The model's name, for reports."""

    async def complete(self, prompt: Prompt, *, deadline: Deadline) -> Completion:
        """One completion, finished before `deadline`.

        Raises ModelTimeout, ModelUnavailable or ModelEmpty. The text is not parsed here.
        """

    async def close(self) -> None:
        """Free sockets. May be called twice."""


class Reranker(Protocol):
    """Scores memories against a query, better and slower than a list can."""

    async def rerank(self, query: str, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[float]:
        """One score in 0..1 per text, in order. Raises RerankerFailed."""

    async def close(self) -> None:
        """Free sockets. May be called twice."""


@dataclass(slots=True)
class Meter:
    """A cost that grows with each call."""

    cost: Cost = Cost()


CostReport = Callable[[Cost], None]
_METER: ContextVar[Meter | None] = ContextVar("mnemic_model_cost", default=None)
_CHARGED: ContextVar[CostReport | None] = ContextVar("mnemic_model_charge", default=None)


def charge_models_to(report: CostReport) -> None:
    """Give the cost of each call from here on to `report`, too, also of calls in tasks that are started by this one."""
    _CHARGED.set(report)


@contextmanager
def counting() -> Iterator[Meter]:
    """Count the answers of metered models inside the block, also in tasks started there."""
    meter = Meter()
    token = _METER.set(meter)
    try:
        yield meter
    finally:
        _METER.reset(token)


class MeteredCompleter:
    """Adds the answers of `inner` to the meter of the calling work: also unusable ones, which cost the same."""

    is_metered = True

    def __init__(self, inner: Completer) -> None:
        self._inner = inner

    @property
    def model(self) -> str:
        """The model's name."""
        return self._inner.model

    @property
    def reads_files(self) -> bool:
        """As of `inner`."""
        return reads_files(self._inner)

    async def complete(self, prompt: Prompt, *, deadline: Deadline) -> Completion:
        """Return the answer of `inner`, after counting it."""
        try:
            completion = await self._inner.complete(prompt, deadline=deadline)
        except ModelFailed as failure:
            _add(Cost(**failure.paid))
            raise
        _add(Cost.from_completion(completion))
        return completion

    async def close(self) -> None:
        """Close `inner`."""
        await self._inner.close()


def reads_files(completer: Completer) -> bool:
    """Return True if `completer` shows its model the files of a prompt; what it says of others would be invented."""
    return bool(getattr(completer, "reads_files", False))


def count_calls(completer: Completer) -> Completer:
    """`completer`, so that its calls are counted, once each."""
    return completer if getattr(completer, "is_metered", False) else MeteredCompleter(completer)


def _add(cost: Cost) -> None:
    meter, charge = _METER.get(), _CHARGED.get()
    if meter is not None:
        meter.cost += cost
    if charge is not None:
        charge(cost)
