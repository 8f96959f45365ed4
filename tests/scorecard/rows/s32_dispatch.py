"""One dispatcher."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S32",
    property="one dispatcher",
    aim="0 live memories that `add` would have refused, whatever sequence of verbs on whatever face led to them",
    tests=("tests/stateful/test_dispatch_machine.py",),
    bites="with an update that checks nothing, the machine finds a way past the dispatcher",
)
