"""Metering of all language model calls within one piece of work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
