"""Kill, then restore and open: nothing is lost that was acknowledged, and nobody comes back who was erased (S31)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.architecture.sources import ROOT
from tests.faults.scale import size

TRIALS = size(4, 200)
UNWANTED = ("lost", "came_back", "damaged", "unopened", "incomplete", "without_vector", "left")


def run(folder: Path, trials: int, fences: str) -> dict[str, int]:
    command = [sys.executable, "-m", "tests.faults.recovery_run", str(folder), str(trials), "1", fences]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    counts: dict[str, int] = json.loads(done.stdout)
    return counts


def test_whatever_is_killed_can_be_recovered(tmp_path: Path, say: Callable[[str], None]) -> None:
    seen = run(tmp_path, TRIALS, "on")
    say(f"recovery after kills: {seen}")
    assert seen["trials"] == 5 * TRIALS
    assert seen["killed"] > 0
    assert {name: count for name, count in seen.items() if count and name not in ("trials", "killed")} == {}
    assert all(name in (*UNWANTED, "trials", "killed") for name in seen)


def test_made_in_place_a_killed_copy_is_half_there(tmp_path: Path) -> None:
    """The control run."""
    seen = run(tmp_path, size(12, 100), "off")
    assert sum(count for name, count in seen.items() if name not in ("trials", "killed")) > 0
