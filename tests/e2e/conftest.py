"""The command line as a test calls it: in this process, on a file of its own, with an embedder that needs no model."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pytest
from click.testing import CliRunner, Result

from mnemic.cli import cli
from mnemic.testing.embedder import WordEmbedder


class Call(Protocol):
    def __call__(self, *words: str, stdin: str | bytes | None = None, user: str = "ana") -> Result: ...


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith(("MNEMIC_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def mnemic(store: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Runs one command line in this process."""
    monkeypatch.setattr("mnemic.bootstrap.build_embedder", lambda settings, clock: WordEmbedder())

    def call(*words: str, stdin: str | bytes | None = None, user: str = "ana") -> Result:
        result = CliRunner().invoke(
            cli, ["--store", str(store), "--user", user, *words], input=stdin, prog_name="mnemic"
        )
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    return call


@pytest.fixture
def process(store: Path) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Runs one command line in a process of its own, with the real embedder."""

    def call(*words: str | bytes, **options: Any) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "mnemic", "--store", str(store), "--user", "ana", *words]
        return subprocess.run(command, capture_output=True, timeout=120, **options)

    return call


def complaint(result: Result) -> str:
    """The one line on standard error."""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("mnemic: ")
    return lines[0].removeprefix("mnemic: ")
