"""The store on Cassandra answers every sequence of steps as the in-process one does."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, settings

from mnemic.ports import RecordStore
from mnemic.stores.cassandra import CassandraStore
from tests.faults.scale import size
from tests.stateful.store_comparison_machine import StoreMachine

RUNS = size(6, 500)


class CassandraMachine(StoreMachine):
    url: ClassVar[str]

    def new_store(self, folder: Path) -> RecordStore:
        return CassandraStore(f"{self.url}&prefix={hashlib.sha256(str(folder).encode()).hexdigest()[:12]}")


@pytest.fixture(autouse=True, scope="module")
def given_node(cassandra: str) -> None:
    CassandraMachine.url = cassandra


TestCassandraMachine = CassandraMachine.TestCase
TestCassandraMachine.settings = settings(
    max_examples=RUNS, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
