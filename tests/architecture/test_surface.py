"""The names that `import mnemic` offers, and the cost of it."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata

import mnemic
from tests.architecture.sources import ROOT

PINNED = ROOT / "tests" / "architecture" / "public_surface.txt"
HEAVY = ("apsw", "httpx", "httpx2", "numpy", "onnxruntime", "openai", "pydantic", "pydantic_settings")
STARTS = ("import mnemic", "import sys; sys.argv = ['mnemic', '--help']; from mnemic.cli import main; main()")


def test_public_names_are_the_pinned_ones_and_documented() -> None:
    """A name that comes or goes is a decision: change the file with it, and add a line to the changelog."""
    assert sorted(mnemic.__all__) == PINNED.read_text(encoding="utf-8").split()
    assert [name for name in mnemic.__all__ if not getattr(getattr(mnemic, name), "__doc__", None)] == []
    assert set(mnemic.__all__) <= set(dir(mnemic))
    assert mnemic.__version__ == metadata.version("mnemic")


def test_start_up_loads_nothing_heavy() -> None:
    for statement in STARTS:
        script = (
            f"import atexit, sys; heavy = {HEAVY!r}\n"
            "atexit.register(lambda: print('loaded:', *[m for m in heavy if m in sys.modules], file=sys.stderr))\n"
            f"{statement}"
        )
        run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
        assert (run.returncode, run.stderr.strip()) == (0, "loaded:"), statement
