"""One loop on a thread of its own: results, errors, waiting, cancellation, the end."""

from __future__ import annotations

import asyncio
import contextvars
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import CancelledError
from types import FrameType

import pytest

from mnemic.runtime.event_loop_thread import Portal, PortalOwner

AMONG = contextvars.ContextVar("AMONG", default="nobody")


@pytest.fixture
def portal() -> Iterator[Portal]:
    opened = Portal()
    yield opened
    opened.close()


async def double(number: int) -> int:
    return 2 * number


async def numbers() -> AsyncIterator[int]:
    for number in range(3):
        yield number


def test_it_calls_and_iterates() -> None:
    portal = Portal()
    assert portal.call(double, 21) == 42
    assert list(portal.iterate(numbers())) == [0, 1, 2]
    assert not portal.closed
    portal.close()
    portal.close()
    assert portal.closed
    with pytest.raises(RuntimeError):
        portal.call(double, 21)


def test_one_loop_for_all_threads_and_never_the_callers(portal: Portal) -> None:
    async def where() -> tuple[asyncio.AbstractEventLoop, int]:
        return asyncio.get_running_loop(), threading.get_ident()

    seen = [portal.call(where)]
    other = threading.Thread(target=lambda: seen.append(portal.call(where)))
    other.start()
    other.join()
    assert seen[0] == seen[1]
    assert seen[0][1] != threading.get_ident()


def test_calls_of_two_threads_run_beside_each_other(portal: Portal) -> None:
    met = asyncio.Event()

    async def come() -> str:
        met.set()
        return "came"

    waiting: list[bool] = []
    other = threading.Thread(target=lambda: waiting.append(portal.call(met.wait)))
    other.start()
    assert portal.call(come) == "came"
    other.join()
    assert waiting == [True]


@pytest.mark.parametrize("error", [ValueError, SystemExit, KeyboardInterrupt])
def test_the_caller_gets_the_error_and_the_portal_lives_on(portal: Portal, error: type[BaseException]) -> None:
    async def fails() -> None:
        raise error

    with pytest.raises(error):
        portal.call(fails)
    assert portal.call(double, 1) == 2


def test_a_cancelled_call_says_so(portal: Portal) -> None:
    async def gives_up() -> None:
        raise asyncio.CancelledError

    with pytest.raises(CancelledError):
        portal.call(gives_up)
    assert portal.call(double, 1) == 2


def test_a_call_runs_in_the_context_of_its_caller(portal: Portal) -> None:
    async def among() -> str:
        AMONG.set(AMONG.get() + " within")
        return AMONG.get()

    token = AMONG.set("ana")
    assert portal.call(among) == "ana within"
    assert AMONG.get() == "ana"
    AMONG.reset(token)


def test_it_cannot_wait_for_itself(portal: Portal) -> None:
    async def within() -> None:
        portal.call(double, 1)

    with pytest.raises(RuntimeError):
        portal.call(within)


class Interrupted(Exception):
    pass


def test_an_interrupted_wait_cancels_its_call(portal: Portal) -> None:
    def interrupt(number: int, frame: FrameType | None) -> None:
        raise Interrupted

    ended = threading.Event()

    async def never() -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with pytest.raises(Interrupted):
            portal.call(never)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert ended.wait(30)
    assert portal.call(double, 1) == 2


def test_closing_waits_for_the_calls_in_progress() -> None:
    portal = Portal()
    begun, let, answers = threading.Event(), asyncio.Event(), list[str]()

    async def slow() -> str:
        begun.set()
        await let.wait()
        return "done"

    async def release() -> None:
        asyncio.get_running_loop().call_soon(let.set)

    caller = threading.Thread(target=lambda: answers.append(portal.call(slow)))
    caller.start()
    assert begun.wait(30)
    portal.call(release)
    portal.close()
    caller.join()
    assert answers == ["done"]


def test_a_portal_closed_on_its_own_loop_ends() -> None:
    portal = Portal()

    async def close() -> str:
        portal.close()
        return "closed"

    assert portal.call(close) == "closed"
    portal.close()
    assert portal.closed


class Owner(PortalOwner):
    def __init__(self) -> None:
        self._portal = Portal()
        self.released = 0

    async def _release(self) -> None:
        self.released += 1


def test_an_owner_releases_once() -> None:
    with Owner() as owner:
        assert owner.released == 0
    owner.close()
    assert owner.released == 1
