"""Over HTTP the author of a statement about themself settles what was flagged of it; others need another person."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from mnemic.engine import MemoryEngine
from mnemic.entrypoints.rest.app import create_app
from mnemic.entrypoints.rest.credentials import ApiKeys
from mnemic.guard.execution import Grant
from mnemic.guard.policy import KeyRule, Policy
from mnemic.stores.inprocess import InProcessStore
from mnemic_testing.embedder import WordEmbedder


@pytest.fixture
async def ana() -> AsyncIterator[httpx.AsyncClient]:
    """A client with Ana's credential, who may review; changes of `seat` and of the sensitive `blood_type` wait."""
    rules = {"seat": KeyRule("seat", on_change="review")}
    rules["blood_type"] = KeyRule("blood_type", on_change="review", sensitive=True)
    policy = Policy(keys=rules)
    engine = MemoryEngine(
        store=InProcessStore(), embedder=WordEmbedder(), policy=policy, grant=Grant.of(policy, trust=("blood_type",))
    )
    async with engine:
        _, text = await ApiKeys(engine.store, engine.clock).create(
            tenant="acme", roles=("reader", "writer", "reviewer"), user="ana"
        )
        headers = {"Authorization": f"Bearer {text}"}
        transport = httpx.ASGITransport(app=create_app(engine))
        async with httpx.AsyncClient(transport=transport, base_url="http://service", headers=headers) as client:
            yield client


async def flagged(ana: httpx.AsyncClient, key: str, *values: str) -> str:
    """Return the memory that waits after the last of `values` was told."""
    for value in values:
        answer = (await ana.post("/v1/memories", json={"content": value, "key": key})).json()
    assert (answer["outcome"], answer["reason"]) == ("pending_review", "key_needs_review")
    memory_id: str = answer["memory_id"]
    return memory_id


async def test_a_change_of_a_reviewed_key_is_confirmed_and_taken_back(ana: httpx.AsyncClient) -> None:
    waiting = await flagged(ana, "seat", "aisle", "window")
    approved = await ana.post(f"/v1/reviews/{waiting}/approval", json={})
    assert (approved.status_code, approved.json()["outcome"]) == (200, "superseded")
    undone = await ana.post(f"/v1/memories/{waiting}/undo")
    assert undone.status_code == 200, undone.text
    listed = (await ana.get("/v1/memories")).json()["memories"]
    assert [one["content"] for one in listed] == ["aisle"]
    assert (await ana.post(f"/v1/reviews/{waiting}/rejection")).status_code == 200


async def test_a_sensitive_key_needs_another_person(ana: httpx.AsyncClient) -> None:
    waiting = await flagged(ana, "blood_type", "A", "B")
    refused = await ana.post(f"/v1/reviews/{waiting}/approval", json={})
    assert (refused.status_code, refused.json()["reason"]) == (403, "review_denied:proposer")
