"""Would the tests notice? Every line is reached, and a mistake put into the code on purpose makes a test fail (S26)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT
from tests.faults.scale import FULL
from tests.strength.mutated import mutated

COVERED_PERCENT, KILLED_PERCENT = 90, 85
SAMPLE = ("*__mutmut_19", "*__mutmut_25")
"""The small run tries two mutants of each function, those of these two numbers; their numbers were drawn by lot from 1
to 30, and a function with fewer mutants is left to the full run, which tries all of them.
"""
CAUGHT = {1, 3, 24, -24, 36, 152, 255, -11, -9}
"""How mutmut writes down a failed test (1, 3), a run that did not end (24, 36, 152, 255), and one that crashed."""
UNREACHED = {
    "pyproject.toml": """
        [tool.mutmut]
        source_paths = ["src"]
        only_mutate = ["src/sums.py"]
        pytest_add_cli_args = ["-c", "pyproject.toml", "--rootdir", "."]
        pytest_add_cli_args_test_selection = ["tests"]
        also_copy = ["pyproject.toml"]
    """,
    "src/sums.py": "def increased(number):\n    return number + 1\n",
    "tests/test_sums.py": "def test_of_something_else():\n    assert sum([1, 2]) == 3\n",
}
"""Files of a package whose only test runs none of its code."""


def test_the_tests_reach_the_code(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    report = ROOT / "build" / "coverage.json" if FULL else _reached(tmp_path / "coverage.json")
    assert report.is_file(), "`make coverage` writes it"
    found = json.loads(report.read_text(encoding="utf-8"))
    totals = [found["totals"]] if FULL else [one["summary"] for name, one in found["files"].items() if _costly(name)]
    percent = 100 * sum(map(_covered, totals)) / sum(one["num_statements"] + one["num_branches"] for one in totals)
    where = "" if FULL else f" of the {len(totals)} files where a mistake costs most, by their own tests"
    record_property("said", f"branch coverage {percent:.1f} %{where}")
    assert percent >= COVERED_PERCENT


def _reached(report: Path) -> Path:
    """What the tests that a mistake is tried with reach."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-n",
        "2",
        *_mutmut("pytest_add_cli_args_test_selection"),
    ]
    subprocess.run(
        [*command, "--cov", "--cov-report", f"json:{report}", "--cov-fail-under", "0"],
        cwd=ROOT,
        env={**os.environ, "MNEMIC_FAULT_SCALE": "small", "COVERAGE_FILE": str(report.with_suffix(".data"))},
        capture_output=True,
        check=False,
    )
    return report


def _costly(name: str) -> bool:
    return _among(name, _mutmut("only_mutate"))


def _covered(summary: Mapping[str, int]) -> int:
    return summary["covered_lines"] + summary["covered_branches"]


def _mutmut(setting: str) -> list[str]:
    """The paths of a setting, relative to the root."""
    return [
        (folder / path).relative_to(ROOT).as_posix()
        for folder, settings in mutated().items()
        for path in settings[setting]
    ]


@pytest.mark.parametrize("folder", mutated(), ids=lambda folder: folder.name)
def test_the_tests_keep_their_names(folder: Path) -> None:
    command = [sys.executable, "-m", "tests.strength.names_twice"]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip().endswith("the same twice"), done.stdout


def test_the_tests_notice_mistakes(record_property: Callable[[str, object], None]) -> None:
    tried: dict[str, int] = {}
    for folder in mutated():
        tried |= _tried(folder)
    survived = sorted(name for name, code in tried.items() if code not in CAUGHT)
    percent = 100 * (1 - len(survived) / len(tried))
    record_property("said", f"{len(tried) - len(survived)} of {len(tried)} mutants killed, {percent:.1f} %")
    assert percent >= KILLED_PERCENT, f"`mutmut show NAME` tells what each is: {survived}"


def test_a_package_whose_tests_reach_no_mutant_fails_with_the_reason(tmp_path: Path) -> None:
    for name, text in UNREACHED.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(AssertionError, match=f"(?s){tmp_path.name}: no mutant was tried.*could not find any test case"):
        _tried(tmp_path)


def _tried(folder: Path) -> dict[str, int]:
    """The mutants of a folder that were tried, and how each test run ended; at least one."""
    chosen = ("*",) if FULL else SAMPLE
    shutil.rmtree(folder / "mutants", ignore_errors=True)  # what an earlier run found may not hold for the tests of now
    done = subprocess.run(
        [sys.executable, "-m", "mutmut", "run", *(() if FULL else SAMPLE)],
        cwd=folder,
        # CI=true: the same examples of every property on every run.
        env={**os.environ, "MNEMIC_FAULT_SCALE": "small", "CI": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    tried: dict[str, int] = {}
    for file in (folder / "mutants" / "src").rglob("*.meta"):
        codes = json.loads(file.read_text(encoding="utf-8"))["exit_code_by_key"]
        tried |= {name: code for name, code in codes.items() if code is not None and _among(name, chosen)}
    assert tried, f"{folder.name}: no mutant was tried: {(done.stdout + done.stderr)[-2000:]}"
    return tried


def _among(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)
