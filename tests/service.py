"""`mnemic serve` in a process of its own, for tests that call it over a socket."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

MNEMIC = [sys.executable, "-m", "mnemic"]


@dataclass(frozen=True)
class Service:
    """A running service: its process, its address, and the file that it serves."""

    process: subprocess.Popen[str]
    address: str
    store: Path

    def key(self, *words: str) -> dict[str, str]:
        """The header of a new key, made as an operator makes one: `--role reader --for-user ana`."""
        made = mnemic(self.store, "apikeys", "create", *words)
        assert made.returncode == 0, made.stderr
        return {"Authorization": f"Bearer {made.stdout.strip()}"}


def mnemic(store: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """One command, on the file."""
    return subprocess.run(
        [*MNEMIC, *words, "--store", str(store)], capture_output=True, text=True, timeout=120, check=False
    )


@contextmanager
def serving(store: Path, *words: str) -> Iterator[Service]:
    """A service on a free port, killed when the block ends."""
    process = subprocess.Popen(
        [*MNEMIC, "serve", "--port", "0", "--store", str(store), *words],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert process.stderr is not None
        address = ""
        while not address and (line := process.stderr.readline()):
            found = re.search(r"running on (http://127\.0\.0\.1:\d+)", line)
            address = found.group(1) if found else ""
        assert address, "the service said no address"
        yield Service(process, address, store)
    finally:
        process.kill()
        process.wait()
        process.communicate()
