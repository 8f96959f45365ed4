"""Defences that are taken out on purpose, one at a time: the tests of a row must notice each.

`python -m bench.scorecard.plants` copies the sources aside, takes out a defence in the copy and runs the tests that are
to fail there. `--only` names rows. Exit code 1 unless every one was noticed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bench.scorecard.row import ROOT

COPIED = ("src", "packages", "bench", "tests", "docs", "deploy", "clients", "examples")
SECONDS = 600
"""A run that takes longer says nothing: the tests that look for a hang have a limit each."""
_FAILED = 1
"""The exit code of pytest where tests ran and some failed; any other says nothing about the defence."""

Outcome = Literal["noticed", "survived", "did not run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plant:
    """A defect: in `file`, `was` becomes `now`. At least one of `tests` must fail of it."""

    row: str
    defect: str
    file: str
    was: str
    now: str
    tests: tuple[str, ...]

    @contextmanager
    def planted(self, root: Path) -> Iterator[None]:
        """The defect is there until the end."""
        file = root / self.file
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace(self.was, self.now), encoding="utf-8")
        try:
            yield
        finally:
            file.write_text(text, encoding="utf-8")


PLANTS = tuple(
    Plant(**one | {"tests": tuple(one["tests"])})
    for one in tomllib.loads(Path(__file__).with_name("plants.toml").read_text(encoding="utf-8"))["plant"]
)


def noticed(plant: Plant, root: Path) -> tuple[Outcome, str]:
    """What the tests said of the defect in the copy at `root`, and the end of their report."""
    sources = [root, root / "src", *sorted(root.glob("packages/*/src")), root / "bench/eval/src"]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *plant.tests]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, sources)),
        "MNEMIC_FAULT_SCALE": "small",
        "CI": "",
    }
    with plant.planted(root):
        try:
            done = subprocess.run(
                command, cwd=root, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return "did not run", f"not to its end in {SECONDS} seconds"
    last = done.stdout.strip().splitlines()[-1:]
    outcome: Outcome = "noticed" if done.returncode == _FAILED else "did not run" if done.returncode else "survived"
    return outcome, "".join(last)


def copied(target: Path) -> Path:
    """A copy of the sources and tests."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
    for file in ROOT.iterdir():
        if file.is_file():
            shutil.copy2(file, target)
    return target


def main(words: Sequence[str] | None = None) -> int:
    """Plant the chosen defects, one after the other, and print what became of each."""
    parser = argparse.ArgumentParser(prog="plants", description="Are the defences missed when they are taken out?")
    parser.add_argument("--only", nargs="*", metavar="ROW", help="these rows alone, for instance S29")
    chosen = parser.parse_args(words).only
    plants = [one for one in PLANTS if not chosen or one.row in chosen]
    found = 0
    with tempfile.TemporaryDirectory(prefix="mnemic-plants-") as folder:
        root = copied(Path(folder))
        for plant in plants:
            outcome, said = noticed(plant, root)
            found += outcome == "noticed"
            print(f"{plant.row:>4}  {outcome:<11} {plant.defect}: {said}", flush=True)
    print(f"\n{found} of {len(plants)} defects noticed")
    return 0 if found == len(plants) else 1


if __name__ == "__main__":
    sys.exit(main())
