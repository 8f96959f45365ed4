"""Answers to several transactions that are handed to the writing thread at once, and waited for at once."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from contextlib import suppress
from typing import Any


class Answers:
    """Answers to `count` jobs, by their places: the result of each, or its error. A future for each of them would take
    two locks, two futures and a turn of the loop a job.
    """

    def __init__(self, count: int) -> None:
        self._whole: Future[list[Any]] = Future()
        self._whole.set_running_or_notify_cancel()  # it cannot be cancelled as one: some of it may have started
        self._found: list[Any] = [None] * count
        if not count:
            self._whole.set_result([])
        self._left = count
        self._stopped = False
        self._lock = threading.Lock()

    async def all(self) -> list[Any]:
        """Return all answers. If cancelled, jobs that have not started never run, and one that has is waited for."""
        waiting = asyncio.wrap_future(self._whole)
        try:
            return await asyncio.shield(waiting)
        except asyncio.CancelledError:
            with self._lock:
                self._stopped = True
            # A second cancellation must not abandon a transaction that is running: its caller would retry while it
            # commits.
            while not waiting.done():
                with suppress(asyncio.CancelledError):
                    await asyncio.wait([waiting])
            raise

    def begin(self, place: int) -> bool:
        """Return False for a job that must not start any more; that is its answer then."""
        with self._lock:
            begins = not self._stopped
        if not begins:
            self.note(place, asyncio.CancelledError())
        return begins

    def note(self, place: int, answer: Any) -> None:
        """Store the result or the error of a job. Called by the writing thread alone."""
        self._found[place] = answer
        self._left -= 1
        if not self._left:
            self._whole.set_result(self._found)


class OneOfSeveral:
    """Answer to one of several jobs, with as much of a `Reply` as the thread that runs it needs."""

    __slots__ = ("_place", "_several")

    def __init__(self, several: Answers, place: int) -> None:
        self._several, self._place = several, place

    def begin(self) -> bool:
        """Return False if the job must not start any more."""
        return self._several.begin(self._place)

    def set_result(self, result: Any) -> None:
        """Answer with the result of the job."""
        self._several.note(self._place, result)

    def set_exception(self, error: BaseException | None) -> None:
        """Answer with the error of the job."""
        self._several.note(self._place, error)
