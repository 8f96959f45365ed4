"""The small model's server as a process of its own: `start`, then `url`, and in the end `stop`."""

from __future__ import annotations

import subprocess

from tests.architecture.sources import ROOT
from tests.processes import OneProcess

READY = ROOT / "build" / "model" / ".ready"
"""Stands where `make test-model` has built the environment of the server."""
PYTHON = READY.parent / "venv" / "bin" / "python"


class LocalModel(OneProcess):
    """Answers on a port of the loopback. What the server itself prints goes to a file in `folder`."""

    name = "SmolLM2-135M-Instruct"

    def __init__(self) -> None:
        super().__init__("llm")
        self.url = ""

    def start(self) -> None:
        with (self.folder / "server.log").open("wb") as log:
            command = [str(PYTHON), str(ROOT / "tests" / "model" / "server.py")]
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=log)
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().decode().strip() + "/v1"
        if not self.url.startswith("http://127.0.0.1:"):
            raise RuntimeError("the server of the local model did not start")

    def stop(self) -> None:
        """As `OneProcess`; the pipes to the server are closed, too."""
        super().stop()
        if self._process is not None:
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()
