"""What a stranger installs works: `pip install` of this folder into a new environment, with an empty home."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.test_further_blocks import CHAT
from tests.e2e.test_pages_run import ROOT, blocks

Run = Callable[..., str]
QUICKSTART = ROOT / "examples" / "quickstarts" / "langgraph_quickstart.py"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def run(home: Path) -> Run:
    """Run a command in the new environment, with nothing of this one but the path to the system's programs."""
    clean = {"HOME": str(home), "PATH": f"{home}/venv/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}

    def run(*words: str, folder: Path = home) -> str:
        done = subprocess.run(
            words, cwd=folder, env=clean, capture_output=True, text=True, timeout=1200, check=False, input=""
        )
        assert done.returncode == 0, f"{words[-1]}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    subprocess.run([sys.executable, "-m", "venv", str(home / "venv")], check=True, timeout=600)
    run(f"{home}/venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", f"{ROOT}[langgraph]")
    return run


def test_the_first_blocks_of_the_pages_run_after_one_install(run: Run, home: Path, tmp_path: Path) -> None:
    python = f"{home}/venv/bin/python"
    assert [run(python, "-c", code, folder=tmp_path) for code in blocks("README.md", "python")] == blocks(
        "README.md", "text"
    )
    for code in blocks("docs/getting-started.md", "python"):
        run(python, "-c", code, folder=tmp_path)
    (tmp_path / "chat.jsonl").write_text(CHAT, encoding="utf-8")
    commands = [line for line in blocks("README.md", "sh")[-1].splitlines() if "MEMORY_ID" not in line]
    run("bash", "-euo", "pipefail", "-c", "\n".join(commands), folder=tmp_path)


def test_the_help_lists_the_commands_and_an_agent_of_langgraph_remembers(run: Run, home: Path, tmp_path: Path) -> None:
    assert "Memories:" in run(f"{home}/venv/bin/mnemic", "--help")
    assert "seat: aisle" in run(f"{home}/venv/bin/python", str(QUICKSTART), folder=tmp_path)
