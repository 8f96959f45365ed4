"""Tests of the threads of a file: results, errors, cancellation before and after the start, closing, the end."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator

import apsw
import pytest

from mnemic.errors import StoreUnavailable
from mnemic.stores.sqlite.threads import Readers, Threads


def made_of(threads: int) -> Readers:
    return Readers(lambda: apsw.Connection(":memory:"), threads=threads)


@pytest.fixture
def readers() -> Iterator[Readers]:
    made = made_of(1)
    yield made
    made.close()


async def test_a_result_and_an_error_reach_the_caller(readers: Readers) -> None:
    def fail(_: apsw.Connection) -> None:
        raise ValueError("no")

    assert await readers.run(lambda _: threading.current_thread().name) == "mnemic-read_0"
    with pytest.raises(ValueError, match="no"):
        await readers.run(fail)
    assert await readers.run(lambda _: 1) == 1


async def test_a_job_cancelled_before_it_starts_never_runs(readers: Readers) -> None:
    go, ran = threading.Event(), []
    first = asyncio.ensure_future(readers.run(lambda _: go.wait()))
    second = asyncio.ensure_future(readers.run(lambda _: ran.append(1)))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    go.set()
    assert await first
    assert await readers.run(lambda _: list(ran)) == []


async def test_a_job_cancelled_while_it_runs_is_waited_for(readers: Readers) -> None:
    begun, go, done = threading.Event(), threading.Event(), []

    def work(_: apsw.Connection) -> None:
        begun.set()
        go.wait()
        done.append(1)

    job = asyncio.ensure_future(readers.run(work))
    await asyncio.to_thread(begun.wait)
    job.cancel()
    await asyncio.sleep(0)
    job.cancel()  # however often
    await asyncio.sleep(0)
    assert not job.done()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await job
    assert done == [1]


async def test_a_job_after_closing_is_refused() -> None:
    unused, used = made_of(2), made_of(2)
    await used.run(lambda _: None)
    for one in (unused, used):
        await asyncio.to_thread(one.close)
        with pytest.raises(StoreUnavailable, match="closed"):
            await one.run(lambda _: None)


async def test_jobs_of_two_threads_run_at_once() -> None:
    both, readers = threading.Barrier(2), made_of(2)
    assert sorted(await asyncio.gather(readers.run(lambda _: both.wait()), readers.run(lambda _: both.wait()))) == [
        0,
        1,
    ]
    await asyncio.to_thread(readers.close)


async def test_threads_end_with_their_owner() -> None:
    readers = made_of(2)
    before = set(threading.enumerate())
    await readers.run(lambda _: None)
    threads = set(threading.enumerate()) - before
    del readers
    for one in threads:
        await asyncio.to_thread(one.join, 30)
    assert len(threads) == 2
    assert not any(one.is_alive() for one in threads)


def test_a_process_ends_although_its_threads_were_not_closed() -> None:
    code = (
        "import asyncio, apsw\nfrom mnemic.stores.sqlite.open_file import Readers\n"
        "readers = Readers(lambda: apsw.Connection(':memory:'), threads=2)\n"
        "print(asyncio.run(readers.run(lambda _: 7)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "7\n"


def test_what_was_handed_over_is_done_before_the_process_ends() -> None:
    code = (
        "import threading\nfrom mnemic.stores.sqlite.open_file import Threads\n"
        "threads, ended = Threads('writing'), threading.Event()\n"
        "threads.submit(lambda: ended.wait(0.2) or print('first'))\n"
        "threads.submit(lambda: print('second'))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "first\nsecond\n"


async def test_an_error_of_a_job_ends_no_thread() -> None:
    def leave() -> None:
        raise SystemExit

    threads, ran = Threads("writing"), threading.Event()
    threads.submit(leave)
    threads.submit(ran.set)
    with pytest.raises(SystemExit):
        await threads.run(leave)
    assert await threads.run(ran.is_set)
    await asyncio.to_thread(threads.close)
    with pytest.raises(StoreUnavailable, match="closed"):
        threads.submit(ran.clear)
