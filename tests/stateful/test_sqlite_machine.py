"""The SQLite store answers every sequence of steps as the in-process one does."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import HealthCheck, settings

from mnemic.ports import RecordStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.machine import StoreMachine

RUNS = 5000 if os.environ.get("MNEMIC_FAULT_SCALE") == "full" else 30


class SqliteMachine(StoreMachine):
    def new_store(self, folder: Path) -> RecordStore:
        return SqliteStore(folder / "memories.db", durability="fast")


TestSqliteMachine = SqliteMachine.TestCase
TestSqliteMachine.settings = settings(
    max_examples=RUNS, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
