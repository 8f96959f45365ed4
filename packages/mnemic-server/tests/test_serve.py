"""`mnemic serve` without its extra."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from mnemic.cli import cli


def test_without_the_extra_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "mnemic_server.server", raising=False)
    result = CliRunner().invoke(cli, ["serve", "--store", str(tmp_path / "s.db")], prog_name="mnemic")
    assert result.exit_code == 3
    assert "invalid_config:serve" in result.stderr
    assert "mnemic[server]" in result.stderr
