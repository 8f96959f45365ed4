"""One row: a promise, the tests that would break it, and what running them said."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree as ET

ROOT = Path(__file__).parents[2]
SEED = 20240229
"""What the property tests draw their examples from, unless another one is given."""

Verdict = Literal["pass", "fail", "not_run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A promise. `tests` are paths or node ids of pytest; `aim` is what has to come out.

    `bites` says how the row would notice a broken defence: which of its tests switches the defence off, or plants the
    damage, and must see it. `missing` says what of the promise no test covers yet; such a row does not pass. `alone`:
    its figures are times, or what a process weighs, so nothing else may run beside it. Times fail no test; a test whose
    figure misses the aim says so (property `missed`), and the row does not pass.
    """

    id: str
    property: str
    aim: str
    tests: tuple[str, ...] = ()
    bites: str = ""
    missing: str = ""
    alone: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What running a row said."""

    row: Row
    verdict: Verdict
    result: str
    seconds: float
    command: str
    seed: int
    size: str
    ended_at: datetime

    def as_dict(self) -> dict[str, Any]:
        """The row as JSON data."""
        return {
            "id": self.row.id,
            "property": self.row.property,
            "aim": self.row.aim,
            "bites": self.row.bites,
            "size": self.size,
            "ended_at": self.ended_at.isoformat(timespec="seconds"),
            "result": self.result,
            "verdict": self.verdict,
            "seconds": round(self.seconds, 1),
            "command": self.command,
            "seed": self.seed,
        }


def run(row: Row, *, size: str, folder: Path, seed: int = SEED) -> Ran:
    """Run the row's tests at `size` (`small` or `full`) in a process of their own; the report stays in `folder`."""
    command = f"MNEMIC_FAULT_SCALE={size} pytest --hypothesis-seed={seed} {' '.join(row.tests)}"
    told = partial(Ran, row=row, size=size, seed=seed)
    absent = [path for path in row.tests if not (ROOT / path.partition("::")[0]).exists()]
    if not row.tests or absent:
        result = row.missing or f"no {', '.join(absent)}"
        return told(verdict="not_run", result=result, seconds=0, command="", ended_at=datetime.now(UTC))
    report = folder / f"{row.id}-{size}.xml"
    report.unlink(missing_ok=True)
    began = time.monotonic()
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-o",
            "junit_family=xunit1",
            f"--junitxml={report}",
            f"--hypothesis-seed={seed}",
            *row.tests,
        ],
        cwd=ROOT,
        env={**os.environ, **row.environment, "MNEMIC_FAULT_SCALE": size, "CI": ""},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    verdict, result = judged(report, row)
    seconds = time.monotonic() - began
    return told(verdict=verdict, result=result, seconds=seconds, command=command, ended_at=datetime.now(UTC))


def judged(report: Path, row: Row) -> tuple[Verdict, str]:
    """The verdict on what pytest wrote to `report`, and the figures that the tests themselves named."""
    if not report.is_file():
        return "not_run", "pytest wrote no report"
    root = ET.parse(report).getroot()
    suites = root.iter("testsuite")
    counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    found: list[str] = []
    missed: list[str] = []
    for suite in suites:
        for name in counts:
            counts[name] += int(suite.get(name, 0))
        for one in suite.iter("property"):
            told = {"said": found, "missed": missed}.get(one.get("name", ""), [])
            told.append(one.get("value", ""))
    broken = counts["failures"] + counts["errors"]
    tally = f"{counts['tests'] - broken - counts['skipped']} of {counts['tests']} tests"
    figures = [said if times == 1 else f"{said} ({times} times)" for said, times in Counter(found).items()]
    missing = [f"not covered: {row.missing}"] if row.missing else []
    result = "; ".join([tally, *figures, *(f"missed: {aim}" for aim in missed), *missing])
    if broken:
        failed = [_name(case) for case in root.iter("testcase") if {"failure", "error"} & {one.tag for one in case}]
        return "fail", "; ".join([result, *(f"failed: {name}" for name in failed)])
    if missed:
        return "fail", result
    if not counts["tests"] or counts["skipped"]:
        return "not_run", result
    return ("not_run" if row.missing else "pass"), result


def _name(case: ET.Element) -> str:
    """The test's module or class, and its name."""
    return f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name', '')}"


def all_rows() -> list[Row]:
    """Every row of `rows.toml`, S1 first."""
    told = tomllib.loads(Path(__file__).with_name("rows.toml").read_text(encoding="utf-8"))["row"]
    return [Row(**one | {"tests": tuple(one.get("tests", ()))}) for one in told]
