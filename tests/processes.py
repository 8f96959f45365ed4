"""What the private servers of tests share: a free port, a process that is ended, and files that go with it."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar


class Server(Protocol):
    """Something that is started and stopped."""

    def start(self) -> None: ...

    def stop(self) -> None: ...


S = TypeVar("S", bound=Server)


@contextmanager
def running(server: S) -> Iterator[S]:
    """The server, started; stopped when the block ends, also where it did not come up."""
    try:
        server.start()
        yield server
    finally:
        server.stop()


def free_port() -> int:
    """A port of the loopback that nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class OneProcess:
    """A server that is one process with a folder of its own."""

    def __init__(self, name: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix=f"mnemic-{name}-"))
        self._process: subprocess.Popen[bytes] | None = None

    def kill(self) -> None:
        """End the server as a crash would."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """Stop the server at once if it runs, and remove all its files: nothing in them is wanted any more."""
        if self._process is not None and self._process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
