"""The whole contract of a record store, with tenants on three servers behind the double of a router."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemic.ports import RecordStore
from mnemic.testing.record_store import DimensionsContract, RecordStoreContract, SearchingContract, Setting
from mnemic.testing.record_store.row_damage import Part
from tests.postgres_damage import SPOIL
from tests.routed import SERVERS, RoutedServers


class Routed(Setting):
    """The whole suite asks nothing of the router that it could not support."""

    @pytest.fixture(autouse=True)
    def given_servers(self, routed_servers: RoutedServers) -> Iterator[None]:
        self.servers = routed_servers
        yield
        assert routed_servers.router.refused == []

    def spoil(self, folder: Path, memory_id: str, part: Part) -> bool:
        for number in range(SERVERS):
            self.servers.sql(number, SPOIL[part].format(memory_id))
        return True


class TestRoutedStore(Routed, RecordStoreContract):
    def new_store(self, folder: Path) -> RecordStore:
        return self.servers.store(folder, pool_size=3)


class TestRoutedStoreThatSearchesInTheDatabase(Routed, SearchingContract, DimensionsContract):
    def new_store(self, folder: Path) -> RecordStore:
        return self.servers.store(folder, pool_size=3, index_bytes=0)
