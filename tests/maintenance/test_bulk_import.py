"""A bulk import counts nothing as done that an outage prevented from being stored."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import httpx
import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import EmbedderFailed
from mnemic.maintenance.bulk_import import import_progress, take_part
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Deadline, Vector
from mnemic_client import connect_async
from mnemic_server.app import create_app
from mnemic_server.credentials import ApiKeys

BOATS = [f"The boat number {number} has {number} oars." for number in range(50)]
"""More than the pipeline embeds at a time."""


class Outage(WordEmbedder):
    """Fails for texts that contain `out`."""

    out: str | None = None

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        if self.out is not None and any(self.out in text for text in texts):
            raise EmbedderFailed("unavailable")
        return await super().embed(texts, deadline=deadline)


@pytest.fixture
def embedder() -> Outage:
    return Outage()


@pytest.fixture
async def boats(embedder: Outage, clock: ManualClock) -> AsyncIterator[MemoryEngine]:
    async with MemoryEngine(store=InProcessStore(), embedder=embedder, clock=clock) as engine:
        yield engine


async def test_what_an_outage_befell_is_not_taken(boats: MemoryEngine, embedder: Outage, ana: Actor) -> None:
    part = [Candidate(content=said) for said in BOATS]
    part[3] = Candidate(content="")
    embedder.out = "number 40 "
    cut_off, receipts = await take_part(boats, ana, "boats", 0, part)
    stored = sum(receipt.stored for receipt in receipts)
    assert (cut_off.taken, len(receipts), cut_off.outcomes) == (33, 50, {"created": 32, "blocked": 1})
    assert stored == await boats.count(actor=ana) == 32
    assert (await import_progress(boats, ana, "boats")).taken == 33

    embedder.out = "number 33 "
    nothing, _ = await take_part(boats, ana, "boats", 33, part[33:])
    assert (nothing.taken, nothing.outcomes) == (33, cut_off.outcomes)

    embedder.out = None
    done, receipts = await take_part(boats, ana, "boats", 0, part)
    assert (done.taken, len(receipts), done.outcomes) == (50, 17, {"created": 49, "blocked": 1})
    assert await boats.count(actor=ana) == 49


async def test_the_client_tells_of_an_outage_and_goes_on_after_it(
    boats: MemoryEngine, embedder: Outage, clock: ManualClock
) -> None:
    _, key = await ApiKeys(boats.store, clock).create(tenant="acme", roles=("reader", "writer"), user="ana")
    transport = httpx.ASGITransport(app=create_app(boats, per_second=1000.0, burst=1000))
    told = [{"content": said} for said in BOATS]
    async with connect_async("http://service", api_key=key, transport=transport) as client:
        embedder.out = "number 40 "
        with pytest.raises(EmbedderFailed, match="embedder_failed:unavailable"):
            await client.import_all("boats", told, part=45)
        embedder.out = None
        done = await client.import_all("boats", told, part=45)
        assert (done.taken, done.outcomes) == (50, {"created": 50})
