"""Two tenants with the same users, agents, sessions and texts: no call of one brings a byte of the other.

Each tenant's memories hold a canary. Generated calls name everything that can be named in a call (memory ids of the
other tenant, its name in bodies, queries and headers), under every role; no answer may hold the other's canary, and
afterwards the other tenant's memories are what they were. MNEMIC_FAULT_SCALE=full makes 100,000 calls.
"""

from __future__ import annotations

import random
from typing import Any

import httpx
import pytest

from mnemic.engine import MemoryEngine
from mnemic.entrypoints.rest.app import create_app
from mnemic.entrypoints.rest.credentials import ApiKeys, Role
from mnemic.stores.inprocess import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from tests.faults.scale import size

CALLS = size(small=600, full=100_000)
SEED = 20_261_122
CANARIES = {"acme": "CANARYacmeQ7", "umbra": "CANARYumbraZ3"}
ROLES = [role.value for role in Role if role is not Role.ADMIN]


async def planted(client: httpx.AsyncClient, keys: ApiKeys, tenant: str) -> tuple[dict[str, str], list[str]]:
    _, text = await keys.create(tenant=tenant, roles=ROLES, user="ana")
    headers = {"Authorization": f"Bearer {text}"}
    ids = []
    for key in ("seat", "diet", None):
        said = {"content": f"{CANARIES[tenant]} aisle {key}", "key": key}
        ids.append((await client.post("/v1/memories", json=said, headers=headers)).json()["memory_id"])
    return headers, ids


def call(draw: random.Random, foreign_ids: list[str], foreign: str) -> tuple[str, str, Any, dict[str, str]]:
    """One call that tries to reach `foreign`."""
    memory_id = draw.choice([*foreign_ids, "nothing", "../" + foreign_ids[0]])
    named = draw.choice([{}, {"tenant": foreign}, {"owner": foreign}, {"subject": "ana"}, {"level": "workspace"}])
    query = draw.choice([CANARIES[foreign][:-2], "aisle", "*", '"aisle"', f"tenant:{foreign}", ""])
    method, path, body = draw.choice(
        [
            ("GET", f"/v1/memories/{memory_id}", None),
            ("GET", f"/v1/memories/{memory_id}/history", None),
            ("PATCH", f"/v1/memories/{memory_id}", {"content": "mine now", **named}),
            ("DELETE", f"/v1/memories/{memory_id}", None),
            ("GET", f"/v1/memories?cursor={memory_id}", None),
            ("GET", f"/v1/memories?tenant={foreign}", None),
            ("POST", "/v1/search", {"query": query, "top_k": 100, **named}),
            ("POST", "/v1/context", {"query": query or "x", **named}),
            ("POST", "/v1/runs", {"goal": query or "x", **named}),
            ("POST", "/v1/memories", {"content": f"aisle {draw.randrange(9)}", **named}),
            ("GET", "/v1/export", None),
            ("GET", "/v1/reviews", None),
            ("POST", f"/v1/reviews/{memory_id}/approval", {"merge_with": foreign_ids}),
            ("POST", f"/v1/reviews/{memory_id}/rejection", None),
            ("GET", "/v1/audit?limit=1000", None),
            ("GET", "/v1/keys", None),
            ("POST", "/v1/keys", {"roles": ["reader"], **named}),
            ("GET", "/v1/consents", None),
        ]
    )
    headers = draw.choice([{}, {"X-Tenant": foreign}, {"X-Mnemic-Tenant": foreign}, {"Idempotency-Key": "shared"}])
    return method, path, body, headers


@pytest.mark.faults
async def test_no_call_reaches_another_tenant() -> None:
    engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder())
    app = create_app(engine, per_second=1e9, burst=10**9)
    async with engine, httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://s") as client:
        keys = ApiKeys(engine.store, engine.clock)
        acme, acme_ids = await planted(client, keys, "acme")
        umbra, _ = await planted(client, keys, "umbra")
        before = (await client.get("/v1/export", headers=acme)).text
        draw = random.Random(SEED)
        reached = 0
        for _ in range(CALLS):
            method, path, body, headers = call(draw, acme_ids, "acme")
            answer = await client.request(method, path, json=body, headers={**umbra, **headers})
            assert CANARIES["acme"] not in answer.text, (method, path, body)
            assert answer.status_code < 500, (method, path, body, answer.text)
            reached += CANARIES["umbra"] in answer.text
        assert reached > CALLS // 50, "the calls find nothing at all, so they prove nothing"
        assert (await client.get("/v1/export", headers=acme)).text == before


async def test_absent_and_foreign_are_told_apart_by_nothing() -> None:
    engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder())
    app = create_app(engine)
    async with engine, httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://s") as client:
        keys = ApiKeys(engine.store, engine.clock)
        _, acme_ids = await planted(client, keys, "acme")
        umbra, _ = await planted(client, keys, "umbra")
        absent = acme_ids[0][:-1] + ("0" if acme_ids[0][-1] != "0" else "1")
        for method, suffix in (("GET", ""), ("GET", "/history"), ("DELETE", "")):
            answers = [
                await client.request(method, f"/v1/memories/{one}{suffix}", headers=umbra)
                for one in (acme_ids[0], absent)
            ]
            assert len({(one.status_code, one.text) for one in answers}) == 1
