"""A service in the process, on an engine without a file, and callers of every role."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx
import pytest

from mnemic.engine import MemoryEngine
from mnemic.graph.projection import GraphProjection
from mnemic.kinds.persona import Profile
from mnemic.maintenance.tenant_registry import Tenants
from mnemic.policy.grant import Grant
from mnemic.policy.limits import Limits, Quota
from mnemic.stores.graph import InProcessGraph
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic_server.app import create_app
from mnemic_server.credentials import ApiKeys
from mnemic_server.request_limits import RequestLimits
from mnemic_server.streams import Streams


@dataclass(frozen=True)
class Running:
    """An open service: its engine, its clock, its keys, and a client without a credential."""

    engine: MemoryEngine
    clock: ManualClock
    keys: ApiKeys
    client: httpx.AsyncClient
    streams: Streams

    @property
    def tenants(self) -> Tenants:
        """What is set for tenants."""
        return Tenants(self.engine.store, self.clock)

    def tick(self) -> None:
        """A second goes by."""
        self.clock.advance(timedelta(seconds=1))

    async def caller(self, *roles: str, user: str | None = "ana", tenant: str = "acme") -> dict[str, str]:
        """Headers of a new key."""
        _, text = await self.keys.create(tenant=tenant, roles=roles, user=user)
        return {"Authorization": f"Bearer {text}"}

    async def erased(self, headers: dict[str, str], **wanted: object) -> dict[str, Any]:
        """The receipt of an erasure, once it has ended."""
        begun = await self.client.post("/v1/erasures", json=wanted, headers=headers)
        assert begun.status_code == 202, begun.text
        job = await self.client.get(begun.headers["location"], params={"wait": 10}, headers=headers)
        receipt: dict[str, Any] = job.json()["erased"]
        return receipt


@pytest.fixture
async def running() -> AsyncIterator[Running]:
    clock = ManualClock()
    graph = InProcessGraph()
    engine = MemoryEngine(
        store=InProcessStore(),
        embedder=WordEmbedder(),
        clock=clock,
        graph=graph,
        projections=[GraphProjection(graph)],
        grant=Grant(levels=frozenset({"user", "agent"})),
        limits=Limits(quotas=(Quota(rows=10),)),
    )
    streams = Streams(poll_seconds=0.001)
    app = create_app(
        engine,
        home="root",
        bounds=RequestLimits(max_bytes=100_000),
        per_second=1000.0,
        burst=1000,
        streams=streams,
        profiles=lambda agent: Profile(role="a travel agent"),
    )
    transport = httpx.ASGITransport(app=app)
    async with engine, httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        yield Running(engine, clock, ApiKeys(engine.store, clock), client, streams)
