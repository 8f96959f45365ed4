"""One SQLite file, many processes."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S5",
    property="one SQLite file, many processes",
    aim="0 BUSY surfaced",
    tests=(
        "tests/faults/test_crowd.py::test_eight_processes_read_then_write",
        "tests/faults/test_crowd.py::test_everybody_opens_a_new_file_first",
    ),
)
