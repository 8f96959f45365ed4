"""A policy put in force over REST: for whom it holds, since when, and how it is taken back."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from mnemic.maintenance.tenant_engine import LASTS
from mnemic_server.app import create_app
from tests.unit.server.conftest import Running

ROLES = ("reader", "writer", "operator")
SEAT = {"keys": {"seat": {}}, "keyless": False}


async def asked(client: httpx.AsyncClient, method: str, path: str, headers: dict[str, str], body: Any = None) -> Any:
    answer = await client.request(method, path, json=body, headers=headers)
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


async def outcome(client: httpx.AsyncClient, headers: dict[str, str], key: str | None, content: str) -> str:
    """What becomes of a memory under `key`: its outcome, or the reason of its refusal."""
    answer = await client.post("/v1/memories", json={"content": content, "key": key}, headers=headers)
    said = answer.json()
    return str(said["outcome"] if answer.is_success else said["reason"])


async def test_a_policy_holds_for_its_tenant_from_the_next_call_on_and_can_be_taken_back(running: Running) -> None:
    olga, other = await running.caller(*ROLES, user="olga"), await running.caller(*ROLES, tenant="umbra")
    client = running.client
    before = await client.get("/v1/policy", headers=olga)
    assert before.headers["etag"] == '"0"'
    put = await client.put("/v1/policy", json={"policy": SEAT}, headers={**olga, "If-Match": '"0"'})
    assert (put.status_code, put.headers["etag"], put.json()["by"]) == (200, '"1"', "olga")
    assert await outcome(client, olga, "diet", "no nuts") == "memory_key_not_allowed_policy:diet"
    assert await outcome(client, olga, "seat", "aisle") == "created"
    assert await outcome(client, other, "diet", "no nuts") == "created"
    now = await client.get("/v1/policy", headers=olga)
    assert (now.headers["etag"], list(now.json()["keys"])) == ('"1"', ["seat"])
    assert (await asked(client, "GET", "/v1/policy", other))["keys"] is None
    back = await asked(client, "POST", "/v1/policy/rollback", olga, {"version": 0})
    assert (back["version"], back["of_settings"], back["restored"]) == (2, True, 0)
    assert await outcome(client, olga, "diet", "no nuts") == "created"
    assert (await client.get("/v1/policy", headers=olga)).json() == before.json()
    listed = (await asked(client, "GET", "/v1/policy/versions", olga))["versions"]
    assert [(one["version"], one["by"]) for one in listed] == [(2, "olga"), (1, "olga")]
    assert list((await asked(client, "GET", "/v1/policy/versions/1", olga))["policy"]["keys"]) == ["seat"]
    assert (await asked(client, "GET", "/v1/policy/versions", other))["versions"] == []
    assert (await client.get("/v1/policy/versions/1", headers=other)).status_code == 404
    audited = (await asked(client, "GET", "/v1/audit", olga))["events"]
    assert [line["detail"]["version"] for line in audited if line["action"] == "policy_put_in_force"] == [1, 2]


async def test_another_process_goes_by_it_within_seconds_without_a_restart(running: Running) -> None:
    olga = await running.caller(*ROLES)
    transport = httpx.ASGITransport(app=create_app(running.engine))
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as there:
        assert await outcome(there, olga, "diet", "no nuts") == "created"
        await asked(running.client, "PUT", "/v1/policy", olga, {"policy": SEAT})
        running.clock.advance(LASTS)
        assert await outcome(there, olga, "diet", "no milk") == "memory_key_not_allowed_policy:diet"


async def test_of_two_editors_the_second_is_told(running: Running) -> None:
    olga = await running.caller(*ROLES)
    await asked(running.client, "PUT", "/v1/policy", olga, {"policy": SEAT})
    stale = {**olga, "If-Match": '"0"'}
    for method, path, body in (
        ("PUT", "/v1/policy", {"policy": {"keys": {"diet": {}}}}),
        ("POST", "/v1/policy/rollback", {"version": 0}),
    ):
        answer = await running.client.request(method, path, json=body, headers=stale)
        assert (answer.status_code, answer.json()["reason"]) == (412, "version_conflict")
    assert list((await asked(running.client, "GET", "/v1/policy", olga))["keys"]) == ["seat"]


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        ({"keys": {"seat": {"ttl_days": "long"}}}, "invalid_config:policy:keys.seat.ttl_days"),
        ({"colour": "red"}, "invalid_config:policy:colour"),
        ({"redaction": {"entities": {"EMAIL": "allow"}}}, "invalid_config:policy:redaction"),
        ({"entities": {"read": "rules"}}, "invalid_config:policy:entities"),
        ({"judged": True}, "invalid_config:policy:judged"),
    ],
)
async def test_what_is_no_policy_or_not_the_tenants_is_not_put_in_force(
    running: Running, policy: Any, reason: str
) -> None:
    olga = await running.caller(*ROLES)
    answer = await running.client.put("/v1/policy", json={"policy": policy}, headers=olga)
    assert (answer.status_code, answer.json()["reason"]) == (422, reason)
    assert (await asked(running.client, "GET", "/v1/policy/versions", olga))["versions"] == []


async def test_what_is_in_force_can_be_put_back_as_it_is_told(running: Running) -> None:
    olga = await running.caller(*ROLES)
    told = await asked(running.client, "GET", "/v1/policy", olga)
    assert [quota["rows"] for quota in told["limits"]["quotas"]] == [10]
    await asked(running.client, "PUT", "/v1/policy", olga, {"policy": told})
    assert await asked(running.client, "GET", "/v1/policy", olga) == told


async def test_a_tenants_policy_narrows_the_services_quotas_and_widens_none(running: Running) -> None:
    olga, root = await running.caller(*ROLES), await running.caller("admin", tenant="root")
    for quotas in ([], [{"rows": 1000}]):
        await asked(running.client, "PUT", "/v1/policy", olga, {"policy": {"limits": {"quotas": quotas}}})
        held = (await asked(running.client, "GET", "/v1/quotas", olga))["quotas"]
        assert [quota["rows"] for quota in held] == [10] + [1000] * len(quotas)
    await asked(running.client, "PUT", "/v1/policy", olga, {"policy": {"limits": {"quotas": [{"rows": 1}]}}})
    assert [await outcome(running.client, olga, None, text) for text in ("I like tea.", "I row boats.")] == [
        "created",
        "blocked",
    ]
    told = await asked(running.client, "GET", "/v1/policy", olga)
    await asked(running.client, "PUT", "/v1/policy", olga, {"policy": told})
    await asked(running.client, "PUT", "/v1/tenants/acme/quotas", root, {"quotas": [{"per": "tenant", "rows": 50}]})
    held = (await asked(running.client, "GET", "/v1/policy", olga))["limits"]["quotas"]
    assert [(quota["per"], quota["rows"]) for quota in held] == [("tenant", 50), ("user", 1)]


@pytest.mark.parametrize("roles", [("reader", "writer", "reviewer", "subject"), ("admin",)])
async def test_only_an_operator_of_the_tenant_may(running: Running, roles: tuple[str, ...]) -> None:
    for tenant in ("acme", "root"):
        caller = await running.caller(*roles, tenant=tenant)
        for method, path, body in (
            ("PUT", "/v1/policy", {"policy": SEAT}),
            ("POST", "/v1/policy/rollback", {"version": 0}),
            ("GET", "/v1/policy/versions", None),
            ("GET", "/v1/policy/versions/1", None),
        ):
            answer = await running.client.request(method, path, json=body, headers=caller)
            assert (answer.status_code, answer.json()["reason"]) == (403, "role_required:operator")
