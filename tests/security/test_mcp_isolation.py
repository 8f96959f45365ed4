"""The same over MCP: two tenants whose users, texts and memory identifiers are the same, and no call crosses over.

Every tool, resource and prompt is called as JSON-RPC over HTTP, with everything named that a call can name: the other
tenant in arguments, metadata, headers and addresses, identifiers that both tenants have, cursors, odd paths. No answer
may hold the other's canary, the own one must be found, and afterwards the other tenant holds what it held before.
MNEMIC_FAULT_SCALE=full makes 100,000 calls.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from mnemic.engine import MemoryEngine
from mnemic.policy.grant import Grant
from mnemic.testing.record_store.fixtures import EMBEDDER, memory, remember, scope
from mnemic.types import Memory
from mnemic_server.app import create_app
from mnemic_server.credentials import ApiKeys, Role
from tests.faults.scale import size

CALLS = size(600, 100_000)
SEED = 20_261_122
OWN, FOREIGN = "umbra", "acme"
CANARIES = {OWN: "CANARYumbraZ3", FOREIGN: "CANARYacmeQ7"}
USERS = ("ana", "ben")
EACH = 12
IDS = [f"m-{user}-{number}" for user in USERS for number in range(EACH)]
"""Both tenants have a memory of each of these names."""
ROLES = ([Role.READER], [Role.SUBJECT], [Role.READER, Role.WRITER], [Role.READER, Role.WRITER, Role.SUBJECT])
HEADERS: tuple[dict[str, str], ...] = (
    {},
    {"X-Tenant": FOREIGN},
    {"X-Mnemic-Tenant": FOREIGN, "X-User": "ben"},
    {"Mcp-Session-Id": FOREIGN},
    {"Host": f"{FOREIGN}.service"},
)
Call = tuple[str, dict[str, Any]]


def held(tenant: str) -> list[Memory]:
    """What a tenant holds at first: the same for both but for the canary."""
    return [
        memory(
            f"{CANARIES[tenant]} aisle {number}",
            memory_id=f"m-{user}-{number}",
            scope=scope(user, tenant=tenant),
            key=f"seat_{number}" if number % 3 == 0 else None,
        )
        for user in USERS
        for number in range(EACH)
    ]


def call(draw: random.Random) -> Call:
    """One call of a caller of `OWN` that tries to reach `FOREIGN`."""
    memory_id = draw.choice(IDS)
    odd = draw.choice(
        [memory_id, memory_id, f"{FOREIGN}:{memory_id}", f"../{FOREIGN}/{memory_id}", f"{memory_id}%2e", ""]
    )
    query = draw.choice([CANARIES[FOREIGN][:-2], "aisle", "*", '"aisle"', f"tenant:{FOREIGN}", "seat_3", ""])
    # A tool refuses an argument that it does not have: without one, half of the calls get further.
    named = draw.choice([{"tenant": FOREIGN}, {"actor": {"tenant": FOREIGN}}, {"owner": "ben"}, {"scope": FOREIGN}])
    named = named if draw.random() < 0.5 else {}
    meta = draw.choice([{}, {}, {"_meta": {"tenant": FOREIGN, "progressToken": memory_id}}])
    method, params = draw.choice(
        [
            *_of_reading(query, odd, named),
            *_of_writing(draw, memory_id, odd, named),
            *_of_the_protocol(query, odd),
        ]
    )
    return method, {**params, **meta}


def _tool(name: str, **arguments: Any) -> Call:
    return "tools/call", {"name": name, "arguments": arguments}


def _of_reading(query: str, odd: str, named: dict[str, Any]) -> list[Call]:
    return [
        _tool("search_memory", query=query or "aisle", max_results=20, **named),
        _tool("search_memory", query=query, max_results=10**9, **named),
        _tool("list_memories", limit=50, **named),
        _tool("list_memories", limit=50, cursor=odd, **named),
        ("resources/read", {"uri": "memory://newest"}),
        ("resources/read", {"uri": f"memory://newest?tenant={FOREIGN}"}),
        ("resources/read", {"uri": f"memory://memories/{odd}"}),
        ("prompts/get", {"name": "ask_with_memory", "arguments": {"question": query or "aisle", **named}}),
    ]


def _of_writing(draw: random.Random, memory_id: str, odd: str, named: dict[str, Any]) -> list[Call]:
    said = f"{CANARIES[OWN]} aisle {draw.randrange(40)}"
    return [
        _tool("add_memory", content=said, **named),
        _tool("capture", message=f"I prefer window seats. {said}", **named),
        _tool("update_memory", memory_id=odd, content=said, dry_run=draw.random() < 0.5, **named),
        _tool("forget_memory", memory_id=odd, dry_run=True, **named),
        _tool("forget_memory", memory_id=memory_id, dry_run=draw.random() < 0.9, **named),
    ]


def _of_the_protocol(query: str, odd: str) -> list[Call]:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": FOREIGN, "version": "1"}}
    template = {"ref": {"type": "ref/resource", "uri": "memory://memories/{memory_id}"}}
    return [
        ("initialize", hello),
        ("tools/list", {}),
        ("tools/list", {"cursor": odd}),
        ("resources/list", {"cursor": FOREIGN}),
        ("resources/templates/list", {}),
        ("prompts/list", {}),
        ("completion/complete", {**template, "argument": {"name": "memory_id", "value": odd[:3]}}),
        ("resources/subscribe", {"uri": f"memory://memories/{odd}"}),
        (f"{FOREIGN}/search", {"query": query}),
    ]


@pytest.fixture
def quiet() -> Iterator[None]:
    """What a library logs of each call costs more than the call, and would be kept to the end."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.faults
@pytest.mark.usefixtures("quiet")
async def test_no_call_over_mcp_reaches_another_tenant(
    holding: dict[str, Any], record_property: Callable[[str, object], None]
) -> None:
    engine = MemoryEngine(embedder=EMBEDDER, grant=Grant(levels=frozenset({"user", "agent"})), **holding)
    app = create_app(engine, per_second=1e9, burst=10**9)
    async with engine, httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://s") as client:
        for tenant in CANARIES:
            await remember(engine.store, *held(tenant))
        keys = ApiKeys(engine.store, engine.clock)
        callers = [await bearer(keys, OWN, user, roles) for user in USERS for roles in ROLES]
        victims = [await bearer(keys, FOREIGN, user, [Role.SUBJECT]) for user in USERS]
        before = [(await client.get("/v1/export", headers=victim)).text for victim in victims]
        assert all(text.count(CANARIES[FOREIGN]) >= EACH for text in before)
        draw, found = random.Random(SEED), 0
        for number in range(CALLS):
            method, params = call(draw)
            body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            headers = {**draw.choice(callers), **draw.choice(HEADERS)}
            answer = await client.post("/mcp", json=body, headers=headers)
            assert CANARIES[FOREIGN] not in answer.text + str(answer.headers), (method, params)
            assert answer.status_code < 500, (method, params, answer.text)
            found += CANARIES[OWN] in answer.text
        assert found > CALLS // 10, "the calls find nothing at all, so they prove nothing"
        assert [(await client.get("/v1/export", headers=victim)).text for victim in victims] == before
        record_property("said", f"{CALLS} calls over MCP, {found} answers with the own canary")


async def bearer(keys: ApiKeys, tenant: str, user: str, roles: list[Role]) -> dict[str, str]:
    """The headers of a client."""
    _, text = await keys.create(tenant=tenant, roles=roles, user=user)
    return {"Authorization": f"Bearer {text}", "Accept": "application/json, text/event-stream"}


async def test_the_generator_would_see_a_leak(holding: dict[str, Any]) -> None:
    """The same calls by a credential of the other tenant: its canary is seen at once."""
    engine = MemoryEngine(embedder=EMBEDDER, **holding)
    app = create_app(engine, per_second=1e9, burst=10**9)
    async with engine, httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://s") as client:
        await remember(engine.store, *held(FOREIGN))
        headers = await bearer(ApiKeys(engine.store, engine.clock), FOREIGN, "ana", [Role.READER])
        draw = random.Random(SEED)
        seen = 0
        for number in range(120):
            method, params = call(draw)
            body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            seen += CANARIES[FOREIGN] in (await client.post("/mcp", json=body, headers=headers)).text
        assert seen > 10
