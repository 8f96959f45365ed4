"""Callers under `mypy --strict` get no error from us, and the errors they should get."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from mnemic import MemoryManager
from tests.architecture.sources import ROOT

USES = "tests/typing/public_api.py"


def mypy(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mypy", "--strict", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)


@pytest.mark.slow
def test_the_public_api_type_checks() -> None:
    """Every `type: ignore` in the file is a misuse; an unneeded one is an error too."""
    run = mypy(USES)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.slow
def test_a_wrong_call_is_an_error(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text("from mnemic.types import Actor\n\nActor(user=1)\n", encoding="utf-8")
    run = mypy("--config-file", "pyproject.toml", str(wrong))
    assert run.returncode == 1
    assert 'Argument "user" to "Actor" has incompatible type "int"' in run.stdout


@pytest.mark.slow
def test_an_editor_shows_the_parameters_of_a_verb_before_there_is_a_manager(tmp_path: Path) -> None:
    asked = tmp_path / "asked.py"
    asked.write_text("from mnemic import MemoryManager\n\nreveal_type(MemoryManager.search)\n", encoding="utf-8")
    shown = mypy("--config-file", "pyproject.toml", str(asked)).stdout
    _, *asked_for = inspect.signature(MemoryManager.search).parameters  # `self` is nothing that a caller writes
    assert [name for name in asked_for if name not in shown] == []
