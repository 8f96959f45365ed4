"""The page of the scorecard, from the results of runs: `python -m tests.scorecard.page RESULT.json... > PAGE.md`.

Several results may be given, as rows of the published size take hours and are run apart: of each row and size the last
run is shown.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.scorecard.rows import all_rows

HEAD = """# Scorecard

What mnemic promises, each row run by the tests that would break it. `make scorecard` runs every row at a small size and
writes `build/scorecard.json`; `make soak` runs them at the published sizes, for hours. A row that did not run is a
failure, and so is one of which a part is not covered: it says which.

Every table below is made from the results of such runs by `python -m tests.scorecard.page`; the day is that of the run,
the seed what its property tests drew their examples from (none: whatever that run drew).
"""
COMMANDS = (
    "With `MNEMIC_FAULT_SCALE=small` or `full` and `--hypothesis-seed=SEED` before it, "
    "as `build/scorecard.json` has it; one row alone: `make scorecard ROWS=S1`."
)
TABLES = (
    ("small", "## Small (`make scorecard`)"),
    ("full", "## At the published sizes (`python -m tests.scorecard --size full --only ROW`)"),
)


def page(results: Sequence[Mapping[str, Any]]) -> str:
    """The results as Markdown: a table for each size, and what makes each row bite."""
    last = {(one["size"], one["id"]): one for one in sorted(results, key=lambda one: one["ended_at"])}
    parts = [HEAD]
    for size, title in TABLES:
        lines = [_line(last[size, row.id]) for row in all_rows() if (size, row.id) in last]
        table = ["| | property | aim | result | verdict | seed | day |", f"|{'---|' * 7}", *lines, ""] if lines else []
        absent = [row.id for row in all_rows() if (size, row.id) not in last]
        parts.append(
            "\n".join([title, "", *table, *([f"No run is on record: {', '.join(absent)}.", ""] if absent else [])])
        )
    bites = [f"- **{row.id}**: {row.bites}" for row in all_rows() if row.bites]
    parts.append("\n".join(["## How the rows bite", "", *bites, ""]))
    commands = [f"- **{row.id}**: `pytest {' '.join(row.tests)}`" for row in all_rows()]
    parts.append("\n".join(["## What each row runs", "", COMMANDS, "", *commands, ""]))
    return "\n".join(parts)


def _line(ran: Mapping[str, Any]) -> str:
    seed = str(ran.get("seed", "none"))
    cells = [ran["id"], ran["property"], ran["aim"], ran["result"], ran["verdict"], seed, ran["ended_at"][:10]]
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


if __name__ == "__main__":
    print(page([row for path in sys.argv[1:] for row in json.loads(Path(path).read_text(encoding="utf-8"))]), end="")
