"""A service of its own for a test: `mnemic serve` in a process, on a free port, on a file in a temporary folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import httpx

MNEMIC = [sys.executable, "-m", "mnemic"]


@dataclass(frozen=True)
class Served:
    """A running service: its address, its process, the file it serves."""

    address: str
    process: subprocess.Popen[str]
    store: Path

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Another command on the same file."""
        return run(self.store.parent, *words, **environment)

    @cached_property
    def _operator(self) -> str:
        made = self.run("apikeys", "create", "--role", "operator")
        assert made.returncode == 0, made.stderr
        return made.stdout.strip()

    def key(self, *roles: str, user: str | None = "ana") -> str:
        """A new API key, made by an operator whose own was made on the command line."""
        wanted = {"roles": roles, "user": user}
        headers = {"Authorization": f"Bearer {self._operator}"}
        made = httpx.post(f"{self.address}/v1/keys", json=wanted, headers=headers, timeout=60)
        assert made.status_code == 201, made.text
        return str(made.json()["api_key"])


def run(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """One command on the folder's file."""
    return subprocess.run(
        [*MNEMIC, *words, "--store", str(folder / "s.db")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **environment},
    )


@contextmanager
def serving(folder: Path, *words: str, **environment: str) -> Iterator[Served]:
    """A running service, stopped at the end; its file holds no key yet."""
    process = subprocess.Popen(
        [*MNEMIC, "serve", "--port", "0", "--store", str(folder / "s.db"), *words],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
    )
    try:
        assert process.stderr is not None
        address = ""
        while not address and (line := process.stderr.readline()):
            found = re.search(r"(?:running on|console is at) (http://127\.0\.0\.1:\d+)", line)
            address = found.group(1) if found else ""
        assert address, "the service said no address"
        yield Served(address, process, folder / "s.db")
    finally:
        process.kill()
        process.wait()
        process.communicate()
