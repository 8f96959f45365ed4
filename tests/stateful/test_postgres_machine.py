"""The PostgreSQL store answers every sequence of steps as the in-process one does."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, settings

from mnemic.ports import RecordStore
from mnemic.stores.postgres import PostgresStore
from tests.faults.scale import size
from tests.servers import PostgresServer
from tests.stateful.store_comparison_machine import StoreMachine

RUNS = size(20, 5000)


class PostgresMachine(StoreMachine):
    server: ClassVar[PostgresServer]

    def new_store(self, folder: Path) -> RecordStore:
        return PostgresStore(self.server.emptied(folder), pool_size=2)


@pytest.fixture(autouse=True, scope="module")
def given_server(postgres: PostgresServer) -> None:
    PostgresMachine.server = postgres


TestPostgresMachine = PostgresMachine.TestCase
TestPostgresMachine.settings = settings(
    max_examples=RUNS, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
