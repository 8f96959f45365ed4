"""What holds something of somebody: everything in the process, or on servers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mnemic.graph.projection import GraphProjection
from mnemic.stores.graph import InProcessGraph
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.postgres.graph import PostgresGraph
from mnemic.stores.redis import RedisHotSet, RedisLink, RedisSessions
from tests.servers import PostgresServer
from tests.valkey import ValkeyServer


@pytest.fixture(params=["in the process", "on PostgreSQL and Valkey"])
def holding(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """Everything that holds something of somebody, as an engine takes it."""
    if request.param == "in the process":
        graph = InProcessGraph()
        return {"store": InProcessStore(), "graph": graph, "projections": [GraphProjection(graph)]}
    server: PostgresServer = request.getfixturevalue("postgres")
    valkey: ValkeyServer = request.getfixturevalue("valkey")
    dsn, link = server.database(tmp_path), RedisLink(valkey.url)
    return {
        "store": PostgresStore(dsn),
        "graph": PostgresGraph(dsn),
        "sessions": RedisSessions(link),
        "projections": [RedisHotSet(link)],
    }
