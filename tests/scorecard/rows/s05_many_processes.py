"""One store, many processes: a SQLite file, a PostgreSQL database with Valkey beside it."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S5",
    property="one store, many processes",
    aim="0 BUSY surfaced",
    tests=(
        "tests/faults/test_crowd.py::test_eight_processes_read_then_write",
        "tests/faults/test_crowd.py::test_everybody_opens_a_new_file_first",
        "tests/faults/test_postgres_crowd.py::test_eight_processes_read_then_write",
        "tests/faults/test_postgres_crowd.py::test_everybody_opens_a_new_database_first",
        "tests/faults/test_redis.py::test_eight_clients_of_one_session_lose_nothing",
    ),
)
