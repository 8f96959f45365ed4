"""Execution of the `work` of a transaction or a snapshot, in a file (`run_through`) or across the network (`drive`).

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


class Driven(Generic[T]):
    """`work(port)`, which is run from one query to the next. Close it in the end."""

    __slots__ = ("_asked", "_error", "_result", "_steps")

    def __init__(self, work: Callable[[P], Awaitable[T]], port: P) -> None:
        self._steps: Any = work(port).__await__()
        self._asked: Step[Any] | None = None
        self._error: Exception | None = None
        self._result: Any = None

    def begin(self) -> Step[Any] | None:
        """Run as far as the first query, and return it; None if it ended before. `finish` reports an error."""
        try:
            self._go_on(None)
        except Exception as error:  # noqa: BLE001 - `finish` raises it
            self._error = error
        return self._asked

    async def finish(self) -> T:
        """Return the result of the work, after `begin`. Raises RuntimeError when it awaits anything but steps."""
        if self._error is not None:
            raise self._error
        while self._asked is not None:
            answer, failure = None, None
            try:
                answer = await self._asked.ask()
            except Exception as error:  # noqa: BLE001 - it belongs to `work`, which asked
                failure = error
            self._go_on(answer, failure)
        result: T = self._result
        return result

    def _go_on(self, answer: Any, failure: Exception | None = None) -> None:
        self._asked = None
        try:
            asked = self._steps.send(answer) if failure is None else self._steps.throw(failure)
        except StopIteration as stop:
            self._result = stop.value
            return
        if not isinstance(asked, Step):
            raise RuntimeError("a transaction may await nothing but itself")
        self._asked = asked

    def close(self) -> None:
        """End the work if it has not ended."""
        close = getattr(self._steps, "close", None)
        if close is not None:
            close()


async def drive(work: Callable[[P], Awaitable[T]], port: P) -> T:
    """Return the result of `work(port)`. Raises RuntimeError, with `work` closed, when it awaits anything but steps."""
    driven = Driven(work, port)
    try:
        driven.begin()
        return await driven.finish()
    finally:
        driven.close()


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
