"""Operators find a user and read what they are remembered by, for a reason that the audit keeps; nobody else does."""

from __future__ import annotations

import pytest

from .conftest import Running

OPENING = {"user": "ana", "reason": "case 4711"}


async def told(running: Running, user: str, *contents: str, tenant: str = "acme") -> None:
    headers = await running.caller("writer", user=user, tenant=tenant)
    for content in contents:
        answer = await running.client.post("/v1/memories", json={"content": content}, headers=headers)
        assert answer.status_code == 201, answer.text
        running.tick()


async def test_an_operator_finds_the_users_of_the_tenant_and_of_no_other(running: Running) -> None:
    await told(running, "ana", "I prefer aisle seats.", "The cat is called Miso.")
    await told(running, "auth0|5f7c/8", "I live in Oslo.")
    await told(running, "eve", "I live in Rome.", tenant="other")
    found = (await running.client.get("/v1/users", headers=await running.caller("operator", user="olga"))).json()
    assert [(one["user"], one["count"]) for one in found["users"]] == [("ana", 2), ("auth0|5f7c/8", 1)]
    assert found["next"] is None


async def test_reading_somebodys_memories_is_in_the_audit_before_anything_is_shown(running: Running) -> None:
    await told(running, "ana", "I prefer aisle seats.", "The cat is called Miso.")
    operator = await running.caller("operator", user="olga")
    page = await running.client.post("/v1/users/openings", json=OPENING | {"limit": 1}, headers=operator)
    assert [one["content"] for one in page.json()["memories"]] == ["The cat is called Miso."]
    further = OPENING | {"limit": 1, "before": page.json()["next"]}
    page = await running.client.post("/v1/users/openings", json=further, headers=operator)
    assert [one["content"] for one in page.json()["memories"]] == ["I prefer aisle seats."]

    lines = (await running.client.get("/v1/audit?limit=200", headers=operator)).json()["events"]
    opened = [line for line in lines if line["action"] == "user_opened"]
    assert [(line["actor"], line["detail"]["reason"]) for line in opened] == [("olga", "case 4711")] * 2
    assert all(len(line["detail"]["subject"]) >= 16 for line in opened)
    assert "ana" not in str([line["detail"] for line in opened])


async def test_another_tenants_user_of_the_same_name_is_not_shown(running: Running) -> None:
    await told(running, "ana", "I live in Rome.", tenant="other")
    operator = await running.caller("operator", user="olga")
    page = await running.client.post("/v1/users/openings", json=OPENING, headers=operator)
    assert page.json()["memories"] == []


@pytest.mark.parametrize("role", ["reader", "writer", "subject", "reviewer", "admin"])
async def test_nobody_else_finds_or_reads_anybody(running: Running, role: str) -> None:
    await told(running, "ana", "I prefer aisle seats.")
    headers = await running.caller(role, user="ben")
    for answer in (
        await running.client.get("/v1/users", headers=headers),
        await running.client.post("/v1/users/openings", json=OPENING, headers=headers),
    ):
        assert (answer.status_code, answer.json()["reason"]) == (403, "role_required:operator")


@pytest.mark.parametrize("reason", ["", "x", "a" * 65, "\n\n\n", "<script>"])
async def test_without_a_reason_nothing_is_read(running: Running, reason: str) -> None:
    await told(running, "ana", "I prefer aisle seats.")
    operator = await running.caller("operator", user="olga")
    refused = await running.client.post("/v1/users/openings", json=OPENING | {"reason": reason}, headers=operator)
    assert refused.status_code == 422
    lines = (await running.client.get("/v1/audit?limit=200", headers=operator)).json()["events"]
    assert [line for line in lines if line["action"] == "user_opened"] == []
