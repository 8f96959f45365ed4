"""Who may create a key may read, rotate and revoke it, and nobody else: every role on every role, verb and tenant."""

from __future__ import annotations

import pytest

from mnemic_server.credentials import ApiKey, Role
from tests.unit.server.conftest import Running

HOME, OWN, FOREIGN = "root", "acme", "other"
VERBS = ("create", "read", "rotate", "revoke")


def may(caller: Role, caller_tenant: str, role: Role, tenant: str) -> bool:
    """The documented rule: docs/service.md, "Who may call"."""
    if caller is Role.ADMIN:
        return caller_tenant in (HOME, tenant)
    return caller is Role.OPERATOR and caller_tenant == tenant and role is not Role.ADMIN


async def done(running: Running, verb: str, key: ApiKey, headers: dict[str, str]) -> bool:
    """Whether the caller of `headers` could; and what could not be done has changed nothing."""
    client, address = running.client, f"/v1/keys/{key.key_id}"
    if verb == "create":
        wanted = {"roles": sorted(key.principal.roles), "tenant": key.principal.tenant, "user": "eve"}
        answer = await client.post("/v1/keys", json=wanted, headers=headers)
        assert answer.status_code in (201, 403)
        return answer.status_code == 201
    if verb == "read":
        answer = await client.get("/v1/keys", headers=headers)
        assert answer.status_code in (200, 403)
        return answer.status_code == 200 and key.key_id in {one["key_id"] for one in answer.json()["keys"]}
    if verb == "rotate":
        answer = await client.post(address + "/rotation", headers=headers)
        assert answer.status_code in (200, 403, 404)
        assert ("api_key" in answer.json()) == (answer.status_code == 200)
        return answer.status_code == 200
    answer = await client.delete(address, headers=headers)
    assert answer.status_code in (204, 403, 404)
    return answer.status_code == 204


@pytest.mark.parametrize("caller_tenant", [HOME, OWN])
@pytest.mark.parametrize("caller", list(Role))
async def test_who_may_create_a_key_may_do_the_rest_and_nobody_else(
    running: Running, caller: Role, caller_tenant: str
) -> None:
    headers = await running.caller(caller, user="olga", tenant=caller_tenant)
    for role in Role:
        for tenant in (HOME, OWN, FOREIGN):
            key, text = await running.keys.create(tenant=tenant, roles=[role], user="ana")
            could = {verb: await done(running, verb, key, headers) for verb in VERBS}
            assert could == dict.fromkeys(VERBS, may(caller, caller_tenant, role, tenant)), (role, tenant)
            assert (await running.keys.authenticate(text) is None) == could["revoke"]


async def test_a_key_of_several_roles_counts_as_its_highest(running: Running) -> None:
    operator = await running.caller("operator", user="olga")
    key, _ = await running.keys.create(tenant="acme", roles=["reader", "admin"], user="ana")
    assert not any([await done(running, verb, key, operator) for verb in VERBS])


async def test_absent_and_out_of_reach_look_alike(running: Running) -> None:
    operator = await running.caller("operator", user="olga")
    key, _ = await running.keys.create(tenant="acme", roles=["admin"], user="ana")
    answers = [
        await running.client.request(method, address, headers=operator)
        for key_id in (key.key_id, "01890a5d-ac96-774b-bcce-b302099a8057")
        for method, address in (("POST", f"/v1/keys/{key_id}/rotation"), ("DELETE", f"/v1/keys/{key_id}"))
    ]
    assert {(answer.status_code, answer.json()["reason"]) for answer in answers} == {(404, "memory_not_found:api_key")}


async def test_a_reviewer_decides_as_a_person(running: Running) -> None:
    ana = await running.caller("writer")
    waiting = await running.client.post(
        "/v1/memories", json={"content": "Address guests by their first name.", "level": "agent"}, headers=ana
    )
    nobody = await running.caller("reviewer", user=None)
    for verdict in ("approval", "rejection"):
        address = f"/v1/reviews/{waiting.json().get('memory_id', 'x')}/{verdict}"
        answer = await running.client.post(address, json={}, headers=nobody)
        assert (answer.status_code, answer.json()["reason"]) == (403, "user_required")


async def test_a_consent_is_the_persons_alone(running: Running) -> None:
    agent, person = await running.caller("writer", "reader"), await running.caller("subject")
    for method in ("PUT", "DELETE"):
        refused = await running.client.request(method, "/v1/consents/health", headers=agent)
        assert (refused.status_code, refused.json()["reason"]) == (403, "role_required:subject")
    assert (await running.client.put("/v1/consents/health", headers=person)).status_code == 204
    assert (await running.client.delete("/v1/consents/health", headers=person)).status_code == 200
