"""Execution of the `work` of a transaction or a snapshot on a database across the network.

`work` is driven by hand: each of its queries is passed up to the driver, awaited there, and the result passed back
down. Any other await is refused, so neither a model nor an embedder can be called while a transaction is open.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any, Generic, TypeVar

P = TypeVar("P")
T = TypeVar("T")


class Step(Generic[T]):
    """One query of the database. Awaiting it hands it to `drive`, the only caller that runs `ask`."""

    __slots__ = ("ask",)

    def __init__(self, ask: Callable[[], Awaitable[T]]) -> None:
        self.ask = ask

    def __await__(self) -> Generator[Step[T], T, T]:
        return (yield self)


async def drive(work: Callable[[P], Awaitable[T]], port: P) -> T:
    """Return the result of `work(port)`. Raises RuntimeError, with `work` closed, when it awaits anything but steps."""
    steps: Any = work(port).__await__()
    try:
        result: T = await _answered(steps)
        return result
    finally:
        close = getattr(steps, "close", None)
        if close is not None:
            close()


async def _answered(steps: Any) -> Any:
    answer: Any = None
    failure: Exception | None = None
    while True:
        try:
            asked = steps.send(answer) if failure is None else steps.throw(failure)
        except StopIteration as stop:
            return stop.value
        if not isinstance(asked, Step):
            raise RuntimeError("a transaction may await nothing but itself")
        answer, failure = None, None
        try:
            answer = await asked.ask()
        except Exception as error:  # noqa: BLE001 - it belongs to `work`, which asked
            failure = error
