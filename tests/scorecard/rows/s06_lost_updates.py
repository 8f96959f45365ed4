"""No lost updates, no duplicates."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S6",
    property="no lost updates, no duplicates",
    aim="50 / 50; 100 rows",
    tests=(
        "tests/faults/test_crowd.py::test_fifty_editors_of_one_memory",
        "tests/faults/test_crowd.py::test_the_same_said_by_all_makes_one_memory_each",
        "tests/faults/test_postgres_crowd.py::test_editors_of_one_memory",
        "tests/faults/test_postgres_crowd.py::test_the_same_said_by_all_makes_one_memory_each",
    ),
)
