"""The cost of all calls of language models made in one piece of work, whoever makes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from mnemic.errors import ModelFailed
from mnemic.ports.providers import Completer
from mnemic.types import Completion, Cost, Deadline, Prompt


@dataclass(slots=True)
class Meter:
    """A cost that grows with each call."""

    cost: Cost = Cost()


_METER: ContextVar[Meter | None] = ContextVar("mnemic_model_cost", default=None)


@contextmanager
def counting() -> Iterator[Meter]:
    """Count what metered models answer inside the block, also in tasks that are started there."""
    meter = Meter()
    token = _METER.set(meter)
    try:
        yield meter
    finally:
        _METER.reset(token)


class MeteredCompleter:
    """Adds what `inner` answers to the meter of the work it is called from: also an answer that turns out to be
    unusable, as it was paid for.
    """

    is_metered = True

    def __init__(self, inner: Completer) -> None:
        self._inner = inner

    @property
    def model(self) -> str:
        """The model's name."""
        return self._inner.model

    async def complete(self, prompt: Prompt, *, deadline: Deadline) -> Completion:
        """Return what `inner` answers, counted."""
        try:
            completion = await self._inner.complete(prompt, deadline=deadline)
        except ModelFailed as failure:
            _add(Cost(**failure.paid))
            raise
        _add(Cost.of(completion))
        return completion

    async def close(self) -> None:
        """Close `inner`."""
        await self._inner.close()


def metered(completer: Completer) -> Completer:
    """`completer`, so that its calls are counted, once each."""
    return completer if getattr(completer, "is_metered", False) else MeteredCompleter(completer)


def _add(cost: Cost) -> None:
    meter = _METER.get()
    if meter is not None:
        meter.cost += cost
