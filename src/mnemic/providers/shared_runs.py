"""Texts of several callers in one run of a model: those that arrive while it is busy are embedded together next.

Only texts of the same number of tokens share a run. Their vectors are then, to the byte, those that each text has when
it is embedded alone; padding would change the last bit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from typing import Protocol, runtime_checkable

from mnemic.types import Vector

_Call = tuple[str, Future[list[Vector]]]


@runtime_checkable
class CountsTokens(Protocol):
    """Capability of a loaded model, without which texts share no runs."""

    def tokens(self, text: str) -> int:
        """Return the number of tokens that the model sees of a text."""


class WaitingTexts:
    """Calls with one text each that wait for a thread. Any thread may add one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._calls: deque[_Call] = deque()

    def add(self, text: str) -> Future[list[Vector]]:
        """Return the future of the vector of `text`, as a list of one."""
        future: Future[list[Vector]] = Future()
        self._calls.append((text, future))
        return future

    def cancel(self) -> None:
        """Cancel every call that waits."""
        for _, future in self._taken():
            future.cancel()

    def run(self, make: Callable[[Sequence[str]], list[Vector]], model: Callable[[], object]) -> None:
        """Answer the calls that wait now, up to the limit; `model` returns the loaded model."""
        for group in self._groups(list(self._taken(self._most)), model):
            _answer([call for call in group if call[1].set_running_or_notify_cancel()], make)

    def _taken(self, most: int | None = None) -> Iterator[_Call]:
        taken = 0
        while self._calls and (most is None or taken < most):
            yield self._calls.popleft()
            taken += 1

    def _groups(self, calls: list[_Call], model: Callable[[], object]) -> Iterator[list[_Call]]:
        """Yield the calls that share a run, the one that has waited longest first."""
        if len(calls) < 2:
            yield from ([call] for call in calls)
            return
        try:
            counting = model()
        except Exception as error:  # noqa: BLE001 - belongs to the callers
            for _, future in calls:
                if future.set_running_or_notify_cancel():
                    future.set_exception(error)
            return
        groups: dict[int, list[_Call]] = {}
        for place, call in enumerate(calls):
            # Without a count each place is a group, that is: no shared runs.
            tokens = counting.tokens(call[0]) if isinstance(counting, CountsTokens) else place
            groups.setdefault(tokens, []).append(call)
        yield from groups.values()


def _answer(calls: Sequence[_Call], make: Callable[[Sequence[str]], list[Vector]]) -> None:
    """Run the model once for all texts; if that fails, once for each, so that one caller's text fails no other call."""
    if not calls:
        return
    texts = list(dict.fromkeys(text for text, _ in calls))
    try:
        made = dict(zip(texts, make(texts), strict=True))
    except Exception as error:  # noqa: BLE001 - belongs to the callers
        # One text failed alone: its caller gets the error, and the recursion ends here.
        if len(calls) == 1:
            calls[0][1].set_exception(error)
            return
        for call in calls:
            _answer([call], make)
        return
    for text, future in calls:
        future.set_result([made[text]])
