"""Several processes of the service on one socket, each with a separate engine, supervised by the process that was
started.
"""

from __future__ import annotations

import errno
import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection, wait
from socket import AF_INET, AF_INET6, IPPROTO_TCP, create_server, socket
from types import FrameType

from mnemic.errors import InvalidConfig, MnemicError

Work = Callable[[socket, Callable[[], None]], None]
"""Answers at a socket until asked to stop; calls the given function once it listens."""

MORE_SECONDS = 10
"""Time beyond that of running requests until a worker that does not end is killed, in seconds."""
_READY = b"ready"
_log = logging.getLogger("mnemic.service")
# A fork would share files, threads and locks that a store has open.
_CONTEXT = multiprocessing.get_context("spawn")
multiprocessing.allow_connection_pickling()


class _Worker:
    """A process that does `work` at `listening`."""

    def __init__(self, work: Work, listening: socket) -> None:
        self._pipe, theirs = _CONTEXT.Pipe()
        self.process = _CONTEXT.Process(target=_begin, args=(work, listening, theirs))
        self.process.start()
        # The child has its own copy; only when both ends here are closed does a read report the end.
        theirs.close()

    @property
    def began(self) -> bool:
        """True if it has ever answered; called once, after its end."""
        with suppress(EOFError, OSError):
            return self._pipe.poll() and self._pipe.recv_bytes() == _READY
        return False

    def stop(self, seconds: float) -> None:
        """Wait for the end of the process, which was asked to end; kill it if it takes longer than `seconds`."""
        self.process.join(seconds)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self._pipe.close()


def listen(host: str, port: int, *, backlog: int) -> socket:
    """Return a socket that listens there. Raises InvalidConfig: `service_port` if another process already listens, else
    `service_host`.
    """
    try:
        made = create_server((host, port), family=AF_INET6 if ":" in host else AF_INET, backlog=backlog)
        # With its protocol named, as `create_server` does not: only then asyncio sends at once (TCP_NODELAY), and
        # an answer in two parts does not wait 40 ms for the caller to acknowledge the first.
        return socket(made.family, made.type, IPPROTO_TCP, fileno=made.detach())
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            hint = f"something else listens at port {port} already: choose another one with --port"
            raise InvalidConfig("service_port", hint=hint) from None
        hint = f"the service could not listen there: {error.strerror}"
        raise InvalidConfig("service_host", hint=hint) from None


def supervise(work: Work, listening: socket, *, count: int, drain_seconds: float) -> None:
    """Run `work` in `count` processes until this one is asked to stop; replace a process that ends.

    Raises InvalidConfig (`service_workers`) if one ends before its first answer: the next would, too.
    """
    stop, stopping = _CONTEXT.Pipe(duplex=False)
    before = {one: signal.signal(one, partial(_ask, stopping)) for one in (signal.SIGTERM, signal.SIGINT)}
    workers = [_Worker(work, listening) for _ in range(count)]
    try:
        while stop not in (ended := wait([stop, *(one.process.sentinel for one in workers)])):
            for number, worker in enumerate(workers):
                if worker.process.sentinel in ended:
                    began = worker.began
                    worker.stop(0)
                    if not began:
                        raise InvalidConfig("service_workers", hint="a worker could not start; see the lines above")
                    _log.warning("a worker ended, another one takes its place")
                    workers[number] = _Worker(work, listening)
    finally:
        for worker in workers:
            # All are asked first, so that they finish their requests at the same time.
            worker.process.terminate()
        for worker in workers:
            worker.stop(drain_seconds + MORE_SECONDS)
        for one, handler in before.items():
            signal.signal(one, handler)


def _ask(stopping: Connection, _number: int, _frame: FrameType | None) -> None:
    # A handler may run between any two instructions; writing to a pipe is safe there and wakes `wait`.
    stopping.send_bytes(b"stop")


def _begin(work: Work, listening: socket, pipe: Connection) -> None:
    """Run in the new process."""
    threading.Thread(target=_end_with_parent, args=(pipe,), daemon=True).start()
    try:
        work(listening, partial(pipe.send_bytes, _READY))
    except MnemicError as error:
        _log.error("a worker could not start: %s", error)
        raise SystemExit(1) from None


def _end_with_parent(pipe: Connection) -> None:
    """Stop as if asked to once the process that started this one is gone, for any reason."""
    with suppress(EOFError, OSError):
        pipe.recv_bytes()
    # By signal, so that running requests are finished as in an ordinary stop.
    os.kill(os.getpid(), signal.SIGTERM)
