"""A home of its own, and a repository in it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mnemic.cli import cli

Mnemic = Callable[..., Result]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith(("MNEMIC_", "OPENAI_", "CLAUDE_", "CODEX_", "XDG_", "WORKSPACE_")):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def repository(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = home / "shop"
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "config").write_text('[remote "origin"]\n\turl = git@github.com:Acme/Shop.git\n')
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def mnemic(repository: Path) -> Mnemic:
    def call(*words: str) -> Result:
        result = CliRunner().invoke(cli, ["--user", "ana", *words], prog_name="mnemic")
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    return call
