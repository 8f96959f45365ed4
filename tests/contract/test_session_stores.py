"""Every session store of mnemic keeps the contract it ships."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mnemic.ports import SessionStore
from mnemic.stores.in_process_sessions import InProcessSessions
from mnemic.stores.redis import RedisLink, RedisSessions
from mnemic.testing.clock import ManualClock
from mnemic.testing.session_store import SessionStoreContract
from tests.valkey import ValkeyCluster, ValkeyServer

PATIENT = 30.0
"""Seconds for a call here: the contract is not about slow machines."""


class TestInProcessSessions(SessionStoreContract):
    def new_store(self, clock: ManualClock) -> SessionStore:
        return InProcessSessions(clock)


class TestRedisSessions(SessionStoreContract):
    @pytest.fixture(autouse=True)
    def _server(self, valkey: ValkeyServer) -> None:
        self.server = valkey

    def new_store(self, clock: ManualClock) -> SessionStore:
        return RedisSessions(RedisLink(self.server.url, seconds=PATIENT))

    def let_pass(self, clock: ManualClock, duration: timedelta) -> None:
        self.server.age(duration)


class TestRedisClusterSessions(SessionStoreContract):
    @pytest.fixture(autouse=True)
    def _cluster(self, valkey_cluster: ValkeyCluster) -> None:
        self.cluster = valkey_cluster
        for master in valkey_cluster.masters:
            master.ask("FLUSHALL")

    def new_store(self, clock: ManualClock) -> SessionStore:
        return RedisSessions(RedisLink(self.cluster.url, seconds=PATIENT))

    def let_pass(self, clock: ManualClock, duration: timedelta) -> None:
        for master in self.cluster.masters:
            master.age(duration)
