"""Operators find a user and read what they are remembered by, for a reason that the audit keeps; nobody else does."""

from __future__ import annotations

import pytest

from mnemic.inject import injector_for
from mnemic.types import Actor

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
        await running.client.post("/v1/users/run-openings", json=OPENING, headers=headers),
    ):
        assert (answer.status_code, answer.json()["reason"]) == (403, "role_required:operator")


@pytest.mark.parametrize("reason", ["", "x", "a" * 65, "\n\n\n", "<script>"])
async def test_without_a_reason_nothing_is_read(running: Running, reason: str) -> None:
    await told(running, "ana", "I prefer aisle seats.")
    operator = await running.caller("operator", user="olga")
    refused = await running.client.post("/v1/users/openings", json=OPENING | {"reason": reason}, headers=operator)
    assert refused.status_code == 422
    runs = await running.client.post("/v1/users/run-openings", json=OPENING | {"reason": reason}, headers=operator)
    assert runs.status_code == 422
    lines = (await running.client.get("/v1/audit?limit=200", headers=operator)).json()["events"]
    assert [line for line in lines if line["action"] in ("user_opened", "runs_opened")] == []


async def asked(running: Running, question: str = "Which seat do I prefer?", **policy: object) -> None:
    """Let ana ask something under a policy that keeps turns, and an adapter inject for it."""
    operator = await running.caller("operator", user="olga")
    wanted = {"policy": {"open_keys": True, "keep_turns": True, **policy}}
    put = await running.client.put("/v1/policy", json=wanted, headers={**operator, "If-Match": '"0"'})
    assert put.status_code == 200, put.text
    writer = await running.caller("reader", "writer", user="ana")
    told = await running.client.post("/v1/memories", json={"content": "aisle", "key": "seat"}, headers=writer)
    assert told.status_code == 201, told.text
    running.tick()
    assert (await running.client.post("/v1/runs", json={"goal": question}, headers=writer)).status_code == 200
    ask = [{"role": "user", "content": question}]
    await injector_for(running.engine, Actor(tenant="acme", user="ana"), by="langchain").inject(ask)


async def test_an_operator_reads_somebodys_runs_for_a_reason_that_the_audit_keeps(running: Running) -> None:
    await asked(running)
    operator = await running.caller("operator", user="olga")
    page = await running.client.post("/v1/users/run-openings", json=OPENING, headers=operator)
    injected, run = page.json()["runs"]
    assert (run["adapter"], run["question"]) == ("run", "Which seat do I prefer?")
    assert "aisle" in run["answer"]
    assert run["injected"] == injected["injected"] == [one["memory_id"] for one in page.json()["memories"]]
    assert (injected["adapter"], injected["tokens"] > 0, injected["ms"] >= 0) == ("langchain", True, True)
    lines = (await running.client.get("/v1/audit?limit=200", headers=operator)).json()["events"]
    opened = [(line["actor"], line["detail"]["reason"]) for line in lines if line["action"] == "runs_opened"]
    assert opened == [("olga", "case 4711")]

    first = await running.client.post("/v1/users/run-openings", json=OPENING | {"limit": 1}, headers=operator)
    rest = OPENING | {"limit": 1, "before": first.json()["next"]}
    second = await running.client.post("/v1/users/run-openings", json=rest, headers=operator)
    assert [one["run_id"] for one in (*first.json()["runs"], *second.json()["runs"])] == [
        injected["run_id"],
        run["run_id"],
    ]


async def test_policy_may_forbid_operators_to_read_turns_and_the_attempt_is_in_the_audit(running: Running) -> None:
    await asked(running, operators_read_turns=False)
    operator = await running.caller("operator", user="olga")
    refused = await running.client.post("/v1/users/run-openings", json=OPENING, headers=operator)
    assert (refused.status_code, refused.json()["reason"]) == (403, "reveal_denied:turns")
    lines = (await running.client.get("/v1/audit?limit=200", headers=operator)).json()["events"]
    assert [line["actor"] for line in lines if line["action"] == "runs_denied"] == ["olga"]
    assert [line for line in lines if line["action"] == "runs_opened"] == []


async def test_the_texts_of_a_turn_that_showed_what_a_consent_hides_are_not_opened(running: Running) -> None:
    await asked(running)
    subject = await running.caller("reader", "subject", user="ana")
    withdrawn = await running.client.delete("/v1/consents/seat", headers=subject)
    assert withdrawn.status_code < 300, withdrawn.text
    operator = await running.caller("operator", user="olga")
    page = (await running.client.post("/v1/users/run-openings", json=OPENING, headers=operator)).json()
    assert page["memories"] == []
    assert [(run["question"], run["block_text"], run["answer"]) for run in page["runs"]] == [(None, None, None)] * 2


async def test_a_run_of_another_tenant_is_not_opened(running: Running) -> None:
    await asked(running)
    operator = await running.caller("operator", user="olga", tenant="other")
    page = (await running.client.post("/v1/users/run-openings", json=OPENING, headers=operator)).json()
    assert (page["runs"], page["memories"]) == ([], [])
