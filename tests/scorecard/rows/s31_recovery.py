"""Recovery."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S31",
    property="recovery",
    aim="200 kills of each: 0 lost, 0 erased come back; power cuts: the copy, or nothing",
    tests=(
        "tests/faults/test_recovery_sequences.py",
        "tests/faults/test_recovery.py",
        "tests/faults/test_power_cut_recovery.py",
    ),
    bites="a copy made in place; a rename or a file that is not synced",
)
