"""Over HTTP the author of a statement about themself settles what was flagged of it; others need another person."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from mnemic.engine import MemoryEngine
from mnemic.policy.grant import Grant
from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from mnemic_server.app import create_app
from mnemic_server.credentials import ApiKeys


@pytest.fixture(params=["reviewer", "subject"])
async def ana(request: pytest.FixtureRequest) -> AsyncIterator[httpx.AsyncClient]:
    """A client with Ana's credential, as a reviewer or as the person herself; changes of `seat` and of the sensitive
    `blood_type` wait.
    """
    rules = {"seat": KeyRule("seat", on_change="review")}
    rules["blood_type"] = KeyRule("blood_type", on_change="review", sensitive=True)
    policy = Policy(keys=rules)
    engine = MemoryEngine(
        store=InProcessStore(),
        embedder=WordEmbedder(),
        policy=policy,
        grant=Grant.from_policy(policy, trust=("blood_type",)),
    )
    async with engine:
        keys = ApiKeys(engine.store, engine.clock)
        _, text = await keys.create(tenant="acme", roles=("reader", "writer", request.param), user="ana")
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


def proposed(content: str) -> dict[str, str]:
    """Return the body of an instruction that an agent inferred: it waits for review."""
    return {"content": content, "category": "instruction", "origin": "agent_inferred"}


async def test_a_person_settles_nothing_but_their_own() -> None:
    engine = MemoryEngine(
        store=InProcessStore(), embedder=WordEmbedder(), grant=Grant(levels=frozenset({"user", "agent"}))
    )
    async with engine:
        keys = ApiKeys(engine.store, engine.clock)
        transport = httpx.ASGITransport(app=create_app(engine))
        async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
            ben, ana, olga = [
                {"Authorization": f"Bearer {(await keys.create(tenant='acme', roles=roles, user=user))[1]}"}
                for user, roles in (("ben", ["writer"]), ("ana", ["subject"]), ("olga", ["reviewer"]))
            ]
            waiting = [
                (await client.post("/v1/memories", json=body, headers=ben)).json()
                for body in (proposed("Always answer in Dutch."), {**proposed("Answer in Greek."), "level": "agent"})
            ]
            assert {one["outcome"] for one in waiting} == {"pending_review"}
            desk = (await client.get("/v1/reviews", headers=olga)).json()
            assert (len(desk["reviews"]), desk["waiting"]) == (2, 2)
            desk = (await client.get("/v1/reviews?shared=true", headers=ana)).json()
            assert (desk["reviews"], desk["waiting"]) == ([], 0)
            for one in waiting:
                for verdict in ("approval", "rejection"):
                    answer = await client.post(f"/v1/reviews/{one['memory_id']}/{verdict}", json={}, headers=ana)
                    assert (answer.status_code, answer.json()["reason"]) == (404, "memory_not_found")
