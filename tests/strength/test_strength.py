"""Would the tests notice? Every line is reached, and a mistake put into the code on purpose makes a test fail (S26)."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable

from tests.architecture.sources import ROOT
from tests.faults.scale import FULL

COVERED_PERCENT, KILLED_PERCENT = 90, 85
SEED, ORDINALS = 20261122, 30
"""The small run tries one mutant of each function, the one of this seed's number; the full run tries all."""
CAUGHT = {1, 3, 24, -24, 36, 152, 255, -11, -9}
"""How mutmut writes down a failed test (1, 3), a run that did not end (24, 36, 152, 255), and one that crashed."""


def test_the_tests_reach_the_code(record_property: Callable[[str, object], None]) -> None:
    report = ROOT / "build" / "coverage.json"
    assert report.is_file(), "`make coverage` writes it"
    percent = json.loads(report.read_text(encoding="utf-8"))["totals"]["percent_covered"]
    record_property("said", f"branch coverage {percent:.1f} %")
    assert percent >= COVERED_PERCENT


def test_the_tests_notice_mistakes(record_property: Callable[[str, object], None]) -> None:
    number = random.Random(SEED).randint(1, ORDINALS)
    chosen = [] if FULL else [f"*__mutmut_{number}"]
    done = subprocess.run(
        [sys.executable, "-m", "mutmut", "run", *chosen],
        cwd=ROOT,
        env={**os.environ, "MNEMIC_FAULT_SCALE": "small"},
        capture_output=True,
        text=True,
        check=False,
    )
    codes = Counter[bool]()
    for file in (ROOT / "mutants" / "src").rglob("*.meta"):
        tried = json.loads(file.read_text(encoding="utf-8"))["exit_code_by_key"].values()
        codes.update(code in CAUGHT for code in tried if code is not None)
    assert codes.total(), done.stdout[-2000:]
    percent = 100 * codes[True] / codes.total()
    record_property("said", f"{codes[True]} of {codes.total()} mutants killed, {percent:.1f} %")
    assert percent >= KILLED_PERCENT
