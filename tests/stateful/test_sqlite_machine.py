"""The SQLite store answers every sequence of steps as the in-process one does."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from mnemic.keys import KeyFolder, MasterKeys
from mnemic.ports import RecordStore
from mnemic.stores import scope_index
from mnemic.stores.sqlite import SqliteStore, indexes
from tests.faults.scale import size
from tests.stateful.store_comparison_machine import StoreMachine

RUNS = size(30, 5000)


class SqliteMachine(StoreMachine):
    def new_store(self, folder: Path) -> RecordStore:
        return SqliteStore(folder / "memories.db", durability="fast")


class SealedSqliteMachine(StoreMachine):
    """With what memories say sealed by their subjects' keys."""

    def new_store(self, folder: Path) -> RecordStore:
        if not (folder / "master.key").exists():
            MasterKeys.make(folder / "master.key")
        keyring = KeyFolder(folder / "keys", folder / "master.key")
        return SqliteStore(folder / "memories.db", durability="fast", keyring=keyring, seals=True)


class LargeSqliteMachine(SqliteMachine):
    """With scopes of more than two memories as large ones: their vectors are read again, not kept."""

    def __init__(self) -> None:
        self._patch = pytest.MonkeyPatch()
        self._patch.setattr(scope_index, "EXACT_UP_TO", 2)
        self._patch.setattr(indexes, "UNINDEXED", 0)
        super().__init__()

    def teardown(self) -> None:
        super().teardown()
        self._patch.undo()


TestSqliteMachine = SqliteMachine.TestCase
TestSealedSqliteMachine = SealedSqliteMachine.TestCase
TestLargeSqliteMachine = LargeSqliteMachine.TestCase
TestSqliteMachine.settings = TestSealedSqliteMachine.settings = TestLargeSqliteMachine.settings = settings(
    max_examples=RUNS, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
