"""Event loop."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S11",
    property="event loop",
    aim="0 blocking calls; lag p99 < 50 ms",
    tests=("tests/faults/test_event_loop.py", "tests/faults/test_verbs_on_the_loop.py"),
    bites="calls that block, of the library, of SQLite and of the model, must raise",
    alone=True,
)
