"""Execution of the `work` of a transaction or a snapshot: from start to end, without ever giving way.

A transaction that waited for the network while it is open would stop every other writer for as long. So `work` is
driven by hand: its awaits of the transaction complete at once, any other await is refused.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

P = TypeVar("P")
T = TypeVar("T")


def run_through(work: Callable[[P], Awaitable[T]], port: P) -> T:
    """Return the result of `work(port)`. Raises RuntimeError, with `work` closed, when it awaits anything else."""
    steps = work(port).__await__()
    try:
        next(steps)
    except StopIteration as stop:
        result: T = stop.value
        return result
    close = getattr(steps, "close", None)
    if close is not None:
        close()
    raise RuntimeError("a transaction may await nothing but itself")
