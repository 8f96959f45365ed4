"""Two tenants with the same users, agents, sessions and texts: no call of one brings a byte of the other.

Each tenant's memories hold a canary. Generated calls name everything that can be named in a call (memory ids of the
other tenant, its name in bodies, queries and headers), under every role; no answer may hold the other's canary, and
afterwards the other tenant's memories are what they were. MNEMIC_FAULT_SCALE=full makes 100,000 calls, in rounds on
new stores: in a store that holds what all of them left behind, lists and exports would take most of the time.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from starlette.types import ASGIApp

from mnemic.engine import MemoryEngine
from mnemic.policy.grant import Grant
from mnemic.testing.embedder import WordEmbedder
from mnemic_server.app import create_app
from mnemic_server.credentials import ApiKeys, Role
from mnemic_server.streams import Streams
from tests.faults.scale import size

ROUNDS, CALLS = size(small=1, full=100), size(small=600, full=1_000)
"""100,000 calls in all."""
SEED = 20_261_122
CANARIES = {"acme": "CANARYacmeQ7", "umbra": "CANARYumbraZ3"}
ROLES = list(Role)
"""Also admin: an admin of a tenant that is not the service's own."""


async def planted(client: httpx.AsyncClient, keys: ApiKeys, tenant: str) -> tuple[dict[str, str], list[str]]:
    _, text = await keys.create(tenant=tenant, roles=ROLES, user="ana")
    headers = {"Authorization": f"Bearer {text}"}
    ids = []
    for key in ("seat", "diet", None):
        said = {"content": f"{CANARIES[tenant]} aisle {key}", "key": key}
        ids.append((await client.post("/v1/memories", json=said, headers=headers)).json()["memory_id"])
    for path, body in _planted_kinds(CANARIES[tenant]):
        answer = await client.post(path, json=body, headers=headers)
        assert answer.status_code in (200, 201), answer.text
        ids += [one for one in [answer.json().get("memory_id"), answer.json().get("run_id")] if one]
    return headers, ids


def _planted_kinds(canary: str) -> list[tuple[str, Any]]:
    """One of everything that can be kept, with the canary in it; names and identifiers are the same for both."""
    step = {"action": f"call {canary}", "result": "nobody", "ok": False}
    return [
        ("/v1/episodes", {"task": f"Rent a boat {canary}", "steps": [step], "outcome": "failure"}),
        ("/v1/entities", {"name": "Robert", "label": "person", "aliases": [canary]}),
        ("/v1/entities/relations", {"source": "me", "relation": "friend", "target": "Robert"}),
        ("/v1/persona/traits", {"trait": f"Says {canary}."}),
        ("/v1/runs", {"goal": f"Which aisle, {canary}?"}),
        ("/v1/imports/boats", {"at": 0, "memories": [{"content": f"A boat called {canary}."}]}),
    ]


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
            ("GET", f"/v1/memories?before={memory_id}", None),
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
            *_of_the_kinds(draw, memory_id, foreign),
            *_of_the_trail(draw, memory_id, foreign_ids, named),
            *_of_the_tenants(foreign),
            *_of_the_tools(memory_id, query, named),
        ]
    )
    headers = draw.choice([{}, {"X-Tenant": foreign}, {"X-Mnemic-Tenant": foreign}, {"Idempotency-Key": "shared"}])
    return method, path, body, headers


def _of_the_kinds(draw: random.Random, memory_id: str, foreign: str) -> list[tuple[str, str, Any]]:
    name = draw.choice(["Robert", "me", foreign, CANARIES[foreign]])
    return [
        ("GET", "/v1/episodes", None),
        ("GET", f"/v1/episodes?cursor={memory_id}", None),
        ("GET", f"/v1/episodes/{memory_id}", None),
        ("GET", f"/v1/episodes/{memory_id}/walk", None),
        ("POST", f"/v1/episodes/{memory_id}/feedback", {"content": "well done"}),
        ("POST", "/v1/episodes/similar", {"task": "Rent a boat"}),
        ("POST", "/v1/episodes/lessons", {"task": "Rent a boat"}),
        ("GET", "/v1/entities", None),
        ("GET", f"/v1/entities/neighbours?name={name}&hops=6", None),
        ("GET", f"/v1/entities/graph?name={name}&hops=6", None),
        ("GET", f"/v1/entities/path?source={name}&target=Robert", None),
        ("POST", "/v1/entities/relations", {"source": "me", "relation": "friend", "target": "Robert"}),
        ("POST", "/v1/entities/same", {"name": name, "other": "Robert"}),
        ("POST", "/v1/entities/apart", {"name": name, "other": "Robert"}),
        ("GET", "/v1/structured?whole=true", None),
        ("GET", "/v1/session/messages?limit=200", None),
        ("POST", "/v1/retrieve", {"query": CANARIES[foreign]}),
        ("POST", "/v1/remember", {"messages": [{"content": "I live in Oslo."}]}),
        ("POST", "/v1/capture/batch", {"messages": [{"content": "I live in Oslo."}]}),
        ("GET", f"/v1/export/subject?subject={draw.choice(['ana', foreign])}", None),
        ("POST", "/v1/expiry", {"dry_run": True}),
        ("POST", "/v1/structured/FlightReservation/query", {"where": {}, "limit": 500}),
        ("GET", "/v1/persona", None),
        ("GET", "/v1/persona/prompt", None),
        ("GET", f"/v1/persona/traits/{memory_id}/history", None),
    ]


def _of_the_trail(
    draw: random.Random, memory_id: str, foreign_ids: list[str], named: dict[str, str]
) -> list[tuple[str, str, Any]]:
    cursor = draw.randrange(1, 2_000)
    return [
        ("GET", f"/v1/memories/{memory_id}/lineage", None),
        ("GET", f"/v1/memories/{memory_id}/uses", None),
        ("POST", f"/v1/memories/{memory_id}/undo", None),
        ("POST", f"/v1/memories/{memory_id}/rollback", {"version": 1}),
        ("POST", f"/v1/memories/{memory_id}/reveal", None),
        ("GET", f"/v1/runs?cursor={cursor}", None),
        ("GET", f"/v1/runs/{memory_id}", None),
        ("POST", "/v1/runs/stream", {"goal": "aisle"}),
        ("GET", f"/v1/changes?after={cursor}&whole_tenant={draw.choice(['true', 'false'])}", None),
        ("GET", "/v1/imports/boats", None),
        ("POST", "/v1/imports/boats", {"at": 0, "memories": [{"content": "Boats float.", **named}]}),
        ("GET", "/v1/policy", None),
        ("POST", f"/v1/policy/trial?cursor={draw.choice(foreign_ids)}", {"policy": {"keys": {}}}),
        ("PUT", "/v1/policy", {"policy": {"open_keys": True, "grant": {"levels": ["user", "agent"]}}, **named}),
        ("GET", f"/v1/policy/versions/{draw.randrange(1, 9)}", None),
        ("POST", "/v1/policy/rollback", {"version": 0, **named}),
        ("GET", "/v1/quotas", None),
        ("GET", "/v1/tenant/quotas", None),
        ("GET", "/v1/overview", None),
        ("GET", "/v1/kinds", None),
    ]


def _of_the_tenants(foreign: str) -> list[tuple[str, str, Any]]:
    return [
        ("GET", "/v1/tenants", None),
        ("GET", f"/v1/tenants/{foreign}", None),
        ("POST", "/v1/tenants", {"tenant": f"{foreign}-2"}),
        ("PUT", f"/v1/tenants/{foreign}/quotas", {"quotas": [{"rows": 1}]}),
        ("POST", f"/v1/tenants/{foreign}/suspension", None),
        ("DELETE", f"/v1/tenants/{foreign}/suspension", None),
    ]


def _of_the_tools(memory_id: str, query: str, named: dict[str, str]) -> list[tuple[str, str, Any]]:
    def tool(name: str, **arguments: Any) -> tuple[str, str, Any]:
        return rpc("tools/call", {"name": name, "arguments": {**arguments, **named}})

    return [
        tool("search_memory", query=query or "aisle", max_results=20),
        tool("list_memories", limit=50),
        tool("update_memory", memory_id=memory_id, content="mine now", dry_run=False),
        tool("forget_memory", memory_id=memory_id, dry_run=False),
        rpc("resources/read", {"uri": "memory://newest"}),
        rpc("resources/read", {"uri": f"memory://memories/{memory_id}"}),
        rpc("prompts/get", {"name": "ask_with_memory", "arguments": {"question": query or "aisle", **named}}),
    ]


def rpc(method: str, params: dict[str, Any]) -> tuple[str, str, Any]:
    """A call over MCP."""
    return "POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def service(holding: dict[str, Any]) -> tuple[MemoryEngine, ASGIApp]:
    """A service on it; its streams tell what there is, and end."""
    streams = Streams()
    streams.stopping.set()
    engine = MemoryEngine(embedder=WordEmbedder(), grant=Grant(levels=frozenset({"user", "agent"})), **holding)
    return engine, create_app(engine, per_second=1e9, burst=10**9, streams=streams)


@pytest.fixture
def quiet() -> Iterator[None]:
    """Nothing is logged: pytest would keep each line to the end."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.faults
@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("number", range(ROUNDS))
async def test_no_call_reaches_another_tenant(
    holding: dict[str, Any], number: int, record_property: Callable[[str, object], None]
) -> None:
    engine, app = service(holding)
    async with engine, httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://s") as client:
        keys = ApiKeys(engine.store, engine.clock)
        acme, acme_ids = await planted(client, keys, "acme")
        umbra, _ = await planted(client, keys, "umbra")
        before = (await client.get("/v1/export", headers=acme)).text
        draw = random.Random(SEED + number)
        reached = 0
        for _ in range(CALLS):
            method, path, body, headers = call(draw, acme_ids, "acme")
            kinds = {"Accept": "application/json, text/event-stream"}
            answer = await client.request(method, path, json=body, headers={**umbra, **kinds, **headers})
            assert CANARIES["acme"] not in answer.text, (method, path, body)
            assert answer.status_code < 500 or answer.status_code == 501, (method, path, body, answer.text)
            reached += CANARIES["umbra"] in answer.text
        assert reached > CALLS // 50, "the calls find nothing at all, so they prove nothing"
        assert (await client.get("/v1/export", headers=acme)).text == before
        record_property(
            "said", f"{CALLS} calls over REST (round {number + 1} of {ROUNDS}), {reached} answers with the own canary"
        )


async def test_absent_and_foreign_are_told_apart_by_nothing(holding: dict[str, Any]) -> None:
    engine, app = service(holding)
    async with engine, httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://s") as client:
        keys = ApiKeys(engine.store, engine.clock)
        _, acme_ids = await planted(client, keys, "acme")
        umbra, _ = await planted(client, keys, "umbra")
        absent = acme_ids[0][:-1] + ("0" if acme_ids[0][-1] != "0" else "1")
        endings = (("GET", "/history"), ("GET", "/lineage"), ("GET", "/uses"), ("POST", "/undo"), ("POST", "/reveal"))
        for method, suffix in (("GET", ""), *endings, ("DELETE", "")):
            answers = [
                await client.request(method, f"/v1/memories/{one}{suffix}", headers=umbra)
                for one in (acme_ids[0], absent)
            ]
            assert len({(one.status_code, one.text) for one in answers}) == 1
