"""Tenants over REST: who may, what it does, and that nobody else can."""

from __future__ import annotations

from typing import Any

import pytest

from mnemic.maintenance.tenant_engine import LASTS
from tests.unit.server.conftest import Running

ROLES = ("reader", "writer", "reviewer", "subject", "operator")
ROWS = [{"per": "tenant", "rows": 1}]


async def asked(running: Running, method: str, path: str, headers: dict[str, str], body: Any = None) -> Any:
    answer = await running.client.request(method, path, json=body, headers=headers)
    assert answer.status_code in (200, 201, 204), answer.text
    return answer.json() if answer.content else None


async def test_a_tenant_is_made_limited_and_looked_at(running: Running) -> None:
    root = await running.caller("admin", user="root", tenant="root")
    made = await asked(running, "POST", "/v1/tenants", root, {"tenant": "acme", "label": "Acme", "quotas": ROWS})
    assert (made["tenant"], made["suspended_at"], made["quotas"][0]["rows"]) == ("acme", None, 1)
    again = await running.client.post("/v1/tenants", json={"tenant": "acme"}, headers=root)
    assert (again.status_code, again.json()["reason"]) == (422, "invalid_input:tenant:known")
    ana = await running.caller("writer", "operator")
    outcomes = [
        (await asked(running, "POST", "/v1/memories", ana, {"content": text}))["outcome"]
        for text in ("I like tea.", "I row boats.")
    ]
    assert outcomes == ["created", "blocked"]
    seen = await asked(running, "GET", "/v1/tenants/acme", root)
    assert seen["usage"]["quotas"][0]["used"] == {"tenant.rows": 1.0}
    assert (await asked(running, "GET", "/v1/tenant/quotas", ana))["quotas"] == seen["usage"]["quotas"]
    limited = await asked(running, "PUT", "/v1/tenants/acme/quotas", root, {"quotas": None})
    assert limited["quotas"] is None
    added = await asked(running, "POST", "/v1/memories", ana, {"content": "I row boats."})
    assert added["outcome"] == "created"
    lines = (await asked(running, "GET", "/v1/audit", ana))["events"]
    acts = [(line["action"], line["actor"]) for line in lines if line["action"].startswith("tenant_")]
    assert acts == [("tenant_created", "root"), ("tenant_limited", "root")]


async def test_a_suspended_tenant_is_refused_by_every_way_and_resumed(running: Running) -> None:
    root = await running.caller("admin", user="root", tenant="root")
    ana, application = await running.caller("reader"), await running.caller("reader", user=None)
    token = (await asked(running, "POST", "/v1/tokens", application, {"user": "ben", "roles": ["reader"]}))["token"]
    key = {"api_key": ana["Authorization"].removeprefix("Bearer ")}
    await running.client.post("/console/session", json=key)
    await asked(running, "POST", "/v1/tenants/acme/suspension", root)
    for headers in (ana, {"Authorization": f"Bearer {token}"}, {}):
        for method, path in (("GET", "/v1/memories"), ("GET", "/v1/changes"), ("POST", "/mcp")):
            answer = await running.client.request(method, path, headers={"X-CSRF-Token": "", **headers})
            csrf = method == "POST" and not headers
            assert (answer.status_code, answer.json()["reason"]) == (403, "csrf_token" if csrf else "tenant_suspended")
    signing_in = await running.client.post("/console/session", json=key)
    assert signing_in.json()["reason"] == "tenant_suspended"
    await asked(running, "DELETE", "/v1/tenants/acme/suspension", root)
    await asked(running, "GET", "/v1/memories", ana)


async def test_a_suspension_by_another_process_holds_within_seconds(running: Running) -> None:
    ana = await running.caller("reader")
    await asked(running, "GET", "/v1/memories", ana)
    await running.tenants.suspend("acme", by="elsewhere")
    running.clock.advance(LASTS)
    answer = await running.client.get("/v1/memories", headers=ana)
    assert (answer.status_code, answer.json()["reason"]) == (403, "tenant_suspended")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/tenants", None),
        ("GET", "/v1/tenants/acme", None),
        ("POST", "/v1/tenants", {"tenant": "new"}),
        ("PUT", "/v1/tenants/acme/quotas", {"quotas": None}),
        ("POST", "/v1/tenants/acme/suspension", None),
        ("DELETE", "/v1/tenants/acme/suspension", None),
    ],
)
async def test_only_an_admin_of_the_service_acts_across_tenants(
    running: Running, method: str, path: str, body: Any
) -> None:
    await running.caller("reader")
    told = set()
    for roles, tenant in ((ROLES, "acme"), (ROLES, "root"), (("admin", *ROLES), "acme"), (("admin",), "umbra")):
        caller = await running.caller(*roles, tenant=tenant)
        answer = await running.client.request(method, path, json=body, headers=caller)
        told.add((tenant, answer.status_code, answer.json()["reason"]))
    assert told == {
        ("acme", 403, "role_required:admin"),
        ("root", 403, "role_required:admin"),
        ("acme", 403, "home_tenant_required"),
        ("umbra", 403, "home_tenant_required"),
    }
    assert {one.tenant for one in await running.tenants.all()} == {"acme", "root", "umbra"}


async def test_an_admin_of_another_tenant_manages_the_keys_of_its_own_alone(running: Running) -> None:
    acme = await running.caller("admin")
    foreign, _ = await running.keys.create(tenant="umbra", roles=["reader"], user="ana")
    listed = await asked(running, "GET", "/v1/keys", acme)
    assert {key["tenant"] for key in listed["keys"]} == {"acme"}
    answer = await running.client.post("/v1/keys", json={"roles": ["reader"], "tenant": "umbra"}, headers=acme)
    assert (answer.status_code, answer.json()["reason"]) == (403, "home_tenant_required")
    revoked = await running.client.delete(f"/v1/keys/{foreign.key_id}", headers=acme)
    assert revoked.status_code == 404
    root = await running.caller("admin", tenant="root")
    listed = await asked(running, "GET", "/v1/keys", root)
    assert {key["tenant"] for key in listed["keys"]} == {"acme", "root", "umbra"}


async def test_an_admin_alone_reads_nobodys_memories(running: Running) -> None:
    root = await running.caller("admin", tenant="root", user="root")
    for path in ("/v1/memories", "/v1/audit", "/v1/reviews", "/v1/policy", "/v1/overview", "/v1/tenant/quotas"):
        assert (await running.client.get(path, headers=root)).status_code == 403, path


async def test_tenants_are_listed_in_pages_and_the_services_own_stays_open(running: Running) -> None:
    root = await running.caller("admin", tenant="root")
    for name in ("acme", "umbra"):
        await asked(running, "POST", "/v1/tenants", root, {"tenant": name})
    first = await asked(running, "GET", "/v1/tenants?limit=2", root)
    rest = await asked(running, "GET", f"/v1/tenants?limit=2&cursor={first['next']}", root)
    assert [one["tenant"] for one in first["tenants"] + rest["tenants"]] == ["acme", "root", "umbra"]
    assert rest["next"] is None
    answer = await running.client.post("/v1/tenants/root/suspension", headers=root)
    assert (answer.status_code, answer.json()["reason"]) == (422, "invalid_input:tenant:home")
    for quotas in ([{}], [{"rows": 0}], [{"rows": 1, "soft": 0}], [{"rows": 1, "per": "planet"}]):
        answer = await running.client.put("/v1/tenants/acme/quotas", json={"quotas": quotas}, headers=root)
        assert answer.status_code == 422
