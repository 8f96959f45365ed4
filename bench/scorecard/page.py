"""The page of the scorecard, from the results of runs: `python -m bench.scorecard.page RESULT.json... > PAGE.md`.

Several results may be given, as rows of the published size take hours and are run apart: of each row and size the last
run is shown.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.scorecard.row import all_rows

HEAD = """# Scorecard

What mnemic promises, each row run by the tests that would break it. `make scorecard` runs every row at a small size
and writes `build/scorecard.json` with the counts of each (one row: `make scorecard ROWS=S1`); `python -m
bench.scorecard --size full --only ROW` runs one at the published size, which takes up to hours. A row that did not
run is a failure. `bench/scorecard/rows.toml` says which tests a row runs and what makes it bite. The table is made by
`python -m bench.scorecard.page RESULT.json...`; the day is that of the last run.

| | property | aim | small | published size |
|---|---|---|---|---|
"""


def page(results: Sequence[Mapping[str, Any]]) -> str:
    """The results as Markdown: a row for each property, with its verdict at each size."""
    last = {(one["size"], one["id"]): one for one in sorted(results, key=lambda one: one["ended_at"])}
    return HEAD + "".join(
        f"| {row.id} | {_cell(row.property)} | {_cell(row.aim)} | {_verdict(last.get(('small', row.id)))} "
        f"| {_verdict(last.get(('full', row.id)))} |\n"
        for row in all_rows()
    )


def _verdict(ran: Mapping[str, Any] | None) -> str:
    return f"{ran['verdict']}, {ran['ended_at'][:10]}" if ran else "no run on record"


def _cell(text: str) -> str:
    return text.replace("|", chr(92) + "|")


if __name__ == "__main__":
    print(page([row for path in sys.argv[1:] for row in json.loads(Path(path).read_text(encoding="utf-8"))]), end="")
