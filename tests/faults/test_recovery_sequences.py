"""Kill, then restore and open: nothing is lost that was acknowledged, and nobody comes back who was erased (S31)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.architecture.sources import ROOT
from tests.faults.scale import size

KILLS = size(4, 200)
"""Of each verb, by SIGKILL; a child that was done before it came counts for nothing."""
VERBS = ("backup", "restore", "erase", "reembed")
UNWANTED = ("lost", "came_back", "damaged", "unopened", "incomplete", "without_vector", "left")


def run(folder: Path, kills: int, fences: str) -> dict[str, int]:
    command = [sys.executable, "-m", "tests.faults.recovery_run", str(folder), str(kills), "1", fences]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    counts: dict[str, int] = json.loads(done.stdout)
    return counts


def test_whatever_is_killed_can_be_recovered(tmp_path: Path, say: Callable[[str], None]) -> None:
    seen = run(tmp_path, KILLS, "on")
    say(f"recovery after kills: {seen}")
    assert {verb: seen[f"killed {verb}"] for verb in VERBS} == dict.fromkeys(VERBS, KILLS)
    assert seen["trials"] == len(VERBS) * KILLS + seen["ended"]
    assert wanting(seen) == {}
    assert all(name in UNWANTED or _counts(name) for name in seen)


def wanting(seen: dict[str, int]) -> dict[str, int]:
    """Return statements that must not be there, and those that are missing."""
    return {name: count for name, count in seen.items() if count and not _counts(name)}


def _counts(name: str) -> bool:
    return name in ("trials", "ended") or name.startswith("killed ")


def test_made_in_place_a_killed_copy_is_half_there(tmp_path: Path) -> None:
    """The control run."""
    seen = run(tmp_path, size(12, 100), "off")
    assert wanting(seen) != {}
