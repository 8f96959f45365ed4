"""The quickstarts of the framework pages run as they stand, against the real frameworks, with a scripted model."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.test_pages_run import ROOT, blocks

PAGES = ["docs/injection.md", "docs/frameworks/langgraph.md", "docs/frameworks/strands.md"]
MODEL = """
from strands.models import Model

class Scripted(Model):
    def update_config(self, **config): ...
    def get_config(self): return {}
    async def structured_output(self, *_, **__):
        yield {}
    async def stream(self, messages, *_, **__):
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockDelta": {"delta": {"text": "fine"}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}

model = Scripted()
"""


def run(script: str, folder: Path) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("MNEMIC_", "OPENAI_"))}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, env=clean, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("page", PAGES)
def test_every_quickstart_runs_and_finds_what_was_remembered(page: str, tmp_path: Path) -> None:
    code = blocks(page, "python")
    assert code
    for number, block in enumerate(code):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert "aisle" in run((MODEL if "strands" in page else "") + block, folder)


@pytest.mark.parametrize("page", PAGES)
def test_a_quickstart_is_short(page: str) -> None:
    for block in blocks(page, "python"):
        lines = [line for line in block.splitlines() if line.strip() and not line.startswith(("import ", "from "))]
        assert len(lines) <= 15


def test_the_travel_assistant_shows_what_it_promises(tmp_path: Path) -> None:
    shown = run(
        f"import runpy, sys; sys.argv = ['assistant.py', 'travel.db']; "
        f"runpy.run_path({str(ROOT / 'examples' / 'travel' / 'assistant.py')!r}, run_name='__main__')",
        tmp_path,
    )
    assert "stored seat = aisle" in shown
    assert "seat: aisle" in shown.partition("Find me a flight to Denver")[2]
    assert "left out 'window': needs_review:conflict" in shown
    assert "stored seat = window (replaced)" in shown
    assert "seat: window" in shown.partition("(a person approves)")[2]
    assert "messages kept: 4" in shown
