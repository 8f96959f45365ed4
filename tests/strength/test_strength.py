"""Would the tests notice? Every line is reached, and a mistake put into the code on purpose makes a test fail (S26)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from fnmatch import fnmatch

from tests.architecture.sources import ROOT
from tests.faults.scale import FULL

COVERED_PERCENT, KILLED_PERCENT = 90, 85
SAMPLE = ("*__mutmut_19", "*__mutmut_25")
"""The small run tries two mutants of each function, those of these two numbers; their numbers were drawn by lot from 1
to 30, and a function with fewer mutants is left to the full run, which tries all of them.
"""
CAUGHT = {1, 3, 24, -24, 36, 152, 255, -11, -9}
"""How mutmut writes down a failed test (1, 3), a run that did not end (24, 36, 152, 255), and one that crashed."""


def test_the_tests_reach_the_code(record_property: Callable[[str, object], None]) -> None:
    report = ROOT / "build" / "coverage.json"
    assert report.is_file(), "`make coverage` writes it"
    percent = json.loads(report.read_text(encoding="utf-8"))["totals"]["percent_covered"]
    record_property("said", f"branch coverage {percent:.1f} %")
    assert percent >= COVERED_PERCENT


def test_the_tests_keep_their_names() -> None:
    command = [sys.executable, "-m", "tests.strength.names_twice"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("the same twice"), done.stdout


def test_the_tests_notice_mistakes(record_property: Callable[[str, object], None]) -> None:
    chosen = ("*",) if FULL else SAMPLE
    shutil.rmtree(ROOT / "mutants", ignore_errors=True)  # what an earlier run found may not hold for the tests of now
    done = subprocess.run(
        [sys.executable, "-m", "mutmut", "run", *(() if FULL else SAMPLE)],
        cwd=ROOT,
        # CI=true: the same examples of every property on every run.
        env={**os.environ, "MNEMIC_FAULT_SCALE": "small", "CI": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    tried: dict[str, int] = {}
    for file in (ROOT / "mutants" / "src").rglob("*.meta"):
        codes = json.loads(file.read_text(encoding="utf-8"))["exit_code_by_key"]
        tried |= {name: code for name, code in codes.items() if code is not None and _among(name, chosen)}
    assert tried, done.stdout[-2000:]
    survived = sorted(name for name, code in tried.items() if code not in CAUGHT)
    percent = 100 * (1 - len(survived) / len(tried))
    record_property("said", f"{len(tried) - len(survived)} of {len(tried)} mutants killed, {percent:.1f} %")
    assert percent >= KILLED_PERCENT, f"`mutmut show NAME` tells what each is: {survived}"


def _among(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)
