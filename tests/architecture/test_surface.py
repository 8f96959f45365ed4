"""What `import mnemic` offers, and what it must not cost."""

from __future__ import annotations

import subprocess
import sys

import pytest

import mnemic
from tests.architecture.sources import ROOT

PINNED = ROOT / "tests" / "architecture" / "public_surface.txt"
HEAVY = ("apsw", "httpx", "httpx2", "numpy", "onnxruntime", "openai", "pydantic", "pydantic_settings")


def test_public_names_are_the_pinned_ones() -> None:
    """A name that comes or goes is a decision: change the file with it, and add a line to the changelog."""
    assert sorted(mnemic.__all__) == PINNED.read_text(encoding="utf-8").split()


def test_every_public_name_is_there_and_documented() -> None:
    undocumented = [name for name in mnemic.__all__ if not getattr(getattr(mnemic, name), "__doc__", None)]
    assert undocumented == []


def test_public_names_are_found_by_dir() -> None:
    assert set(mnemic.__all__) <= set(dir(mnemic))


@pytest.mark.parametrize(
    "statement",
    ["import mnemic", "import sys; sys.argv = ['mnemic', '--help']; from mnemic_cli import main; main()"],
    ids=["import mnemic", "mnemic --help"],
)
def test_start_up_loads_nothing_heavy(statement: str) -> None:
    script = (
        f"import atexit, sys; heavy = {HEAVY!r}\n"
        "atexit.register(lambda: print('loaded:', *[m for m in heavy if m in sys.modules], file=sys.stderr))\n"
        f"{statement}"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)

    assert run.returncode == 0, run.stderr
    assert run.stderr.strip() == "loaded:"
