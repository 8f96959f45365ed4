"""Callers under `mypy --strict` get no error from us, and those they should get; editors show what `help()` shows."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path

import jedi
import pytest

from mnemic import AsyncMemoryManager, MemoryManager
from mnemic.facade.verbs import MemoryVerbs
from mnemic.runtime.sync_facade import verb
from tests.architecture.sources import ROOT
from tests.signatures import in_help, shown

USES = "tests/typing/public_api.py"
VERBS = [name for name, one in vars(MemoryVerbs).items() if isinstance(one, verb)]


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


FACES = {"MemoryManager": MemoryManager, "AsyncMemoryManager": AsyncMemoryManager}


def asked_for(face: str) -> str:
    """A program in which somebody types each verb of a memory, one a line from the third."""
    return f"from mnemic import {face}\nmemory = {face}('ana')\n" + "".join(f"memory.{name}(\n" for name in VERBS)


@pytest.mark.slow
@pytest.mark.parametrize("face", FACES)
def test_jupyter_shows_the_signature_of_help_for_every_verb(face: str) -> None:
    typed = jedi.Script(asked_for(face))
    for line, name in enumerate(VERBS, start=3):
        signatures = typed.get_signatures(line, len(f"memory.{name}("))
        assert signatures
        of_help = in_help(getattr(FACES[face], name))
        assert {name: [shown(one.to_string()) for one in signatures]} == {name: [of_help] * len(signatures)}
        assert {one.docstring(raw=True) for one in signatures} == {inspect.getdoc(getattr(FACES[face], name))}


@pytest.mark.slow
@pytest.mark.parametrize("face", FACES)
def test_an_editor_with_pyright_shows_the_signature_of_help_for_every_verb(face: str, tmp_path: Path) -> None:
    typed = tmp_path / "typed.py"
    reveals = "".join(f"reveal_type(memory.{name})\n" for name in VERBS)
    typed.write_text(f"from mnemic import {face}\nmemory = {face}('ana')\n{reveals}", encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, str(typed)]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stdout + run.stderr
    told = [one["message"].split(" is ", 1)[1].strip('"') for one in json.loads(run.stdout)["generalDiagnostics"]]
    assert len(told) == len(VERBS)
    for name, signature in zip(VERBS, told, strict=True):
        of_help = in_help(getattr(FACES[face], name))
        awaited = f"Coroutine[Any, Any, {of_help.result}]"
        result = of_help.result if face == "MemoryManager" else awaited
        assert {name: shown(signature)} == {name: of_help._replace(result=result)}
