"""Run the rows; see the package. Exit code 1 unless every row passed."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from pathlib import Path

from bench.scorecard.row import ROOT, SEED, Ran, Row, all_rows, run

AT_ONCE = 2
"""The machine that the published figures are of has two cores."""


def main(words: Sequence[str] | None = None) -> int:
    """Run the chosen rows, print a table, write the JSON; what pytest said of each stays in `build/scorecard`."""
    parser = argparse.ArgumentParser(prog="scorecard", description="What mnemic promises, put to the test.")
    parser.add_argument("--size", choices=("small", "full"), default="small", help="full: the published sizes")
    parser.add_argument("--only", nargs="*", metavar="ID", help="these rows alone, for instance S1 S22")
    parser.add_argument("--json", type=Path, default=ROOT / "build" / "scorecard.json", metavar="FILE")
    parser.add_argument("--seed", type=int, default=SEED, help=f"what property tests draw from ({SEED})")
    given = parser.parse_args(words)
    rows = [row for row in all_rows() if not given.only or row.id in given.only]
    done: list[Ran] = []
    given.json.parent.mkdir(parents=True, exist_ok=True)
    folder = ROOT / "build" / "scorecard"
    folder.mkdir(parents=True, exist_ok=True)
    for ran in results(rows, partial(run, size=given.size, folder=folder, seed=given.seed)):
        done = sorted([*done, ran], key=lambda one: rows.index(one.row))
        given.json.write_text(json.dumps([one.as_dict() for one in done], indent=1) + "\n", encoding="utf-8")
        print(line(ran), flush=True)
    passed = sum(one.verdict == "pass" for one in done)
    print(f"\n{passed} of {len(done)} rows pass; seed {given.seed}; {given.json}")
    return 0 if passed == len(done) else 1


def results(rows: Sequence[Row], run_one: Callable[[Row], Ran]) -> Iterator[Ran]:
    """What each row said, as it ends: two at a time, then one after the other those that want the machine alone."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield from (
            future.result() for future in as_completed(pool.submit(run_one, row) for row in rows if not row.alone)
        )
    yield from map(run_one, (row for row in rows if row.alone))


def line(one: Ran) -> str:
    """A row for the terminal."""
    return f"{one.row.id:>4}  {one.verdict:<8} {one.seconds:7.1f} s  {one.row.property}: {one.result}"


if __name__ == "__main__":
    sys.exit(main())
