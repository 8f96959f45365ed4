"""One `add` runs through few files and functions, and loads what it needs (docs/adr/0037-what-an-add-loads.md)."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.architecture.journey import Journey
from tests.architecture.sources import ROOT

LIMITS = {
    "way_files": 26,
    "way_functions": 100,
    "files": 54,
    "functions": 228,
    "loaded_modules": 95,
    "loaded_lines": 12_000,
}


@pytest.fixture(scope="module")
def measured() -> dict[str, int]:
    """The figures of a fresh process."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.architecture.journey", "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    counted: dict[str, int] = json.loads(run.stdout)
    return counted


@pytest.mark.parametrize("figure", LIMITS)
def test_the_way_of_an_add_does_not_grow(measured: dict[str, int], figure: str) -> None:
    assert 0 < measured[figure] <= LIMITS[figure]


def test_the_measure_notes_a_function_once_and_no_comprehension() -> None:
    journey = Journey(followed=True)
    sys.setprofile(journey.note)
    try:
        [_entered() for _ in range(3)]
    finally:
        sys.setprofile(None)
    assert {code.co_name: times for code, times in journey.entered.items() if code.co_name != "setprofile"} == {
        "_entered": 3
    }


def _entered() -> None:
    """A function to be noted."""
