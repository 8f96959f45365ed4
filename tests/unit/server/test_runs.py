"""Runs of every way in: what an adapter showed its model is as visible as a turn of the service."""

from __future__ import annotations

from typing import Any

from mnemic.inject import injector_for
from mnemic.types import Actor

from .conftest import Running

ANA = Actor(tenant="acme", user="ana")
ASK = [{"role": "user", "content": "Which seat do I prefer?"}]


async def listed(running: Running, user: str = "ana") -> list[dict[str, Any]]:
    answer = await running.client.get("/v1/runs", headers=await running.caller("reader", user=user))
    assert answer.status_code == 200, answer.text
    runs: list[dict[str, Any]] = answer.json()["runs"]
    return runs


async def test_what_an_adapter_injects_is_a_run_with_its_memories_size_and_time(running: Running) -> None:
    receipt = await running.engine.add("I prefer aisle seats.", actor=ANA)
    injection = await injector_for(running.engine, ANA, by="langchain").inject(ASK)
    (run,) = await listed(running)
    assert (run["adapter"], run["injected"], run["status"]) == ("langchain", [receipt.memory_id], "ok")
    assert run["tokens"] == running.engine.token_count(injection.text) > 0
    assert run["ms"] >= 0
    assert run["block_sha256"] == injection.digest
    reader = await running.caller("reader")
    one = (await running.client.get(f"/v1/runs/{run['run_id']}", headers=reader)).json()
    assert [memory["content"] for memory in one["memories"]] == ["I prefer aisle seats."]


async def test_a_run_of_a_program_is_listed_once_and_a_block_for_a_prompt_under_its_name(running: Running) -> None:
    await running.engine.add("aisle", key="seat", actor=ANA)
    report = await running.engine.run(actor=ANA, goal="Which seat do I prefer?")
    await running.engine.context("Which seat do I prefer?", actor=ANA)
    context, run = await listed(running)
    assert (run["adapter"], run["run_id"]) == ("run", report.run_id)
    assert context["adapter"] == "context"


async def test_a_message_that_asks_nothing_leaves_no_run(running: Running) -> None:
    await running.engine.run(actor=ANA, message="I prefer aisle seats.")
    assert await listed(running) == []


async def test_nobody_sees_anothers(running: Running) -> None:
    await running.engine.add("I prefer aisle seats.", actor=ANA)
    injection = await injector_for(running.engine, ANA, by="langchain").inject(ASK)
    assert await listed(running, "ben") == []
    ben = await running.caller("reader", user="ben")
    assert (await running.client.get(f"/v1/runs/{injection.run.run_id}", headers=ben)).status_code == 404


async def test_the_audit_keeps_no_word_of_question_or_memory(running: Running) -> None:
    await running.engine.add("I prefer aisle seats.", actor=ANA)
    await injector_for(running.engine, ANA, by="langchain").inject(ASK)
    await running.engine.run(actor=ANA, goal="Which seat do I prefer?")
    lines = await running.engine.store.audit("acme", limit=500)
    assert [one.action for one in lines].count("run") == 1
    assert "seat" not in str([one.detail for one in lines])


async def test_the_service_keeps_question_and_answer_only_if_the_policy_asks_for_it(running: Running) -> None:
    await running.engine.add("aisle", key="seat", actor=ANA)
    writer = await running.caller("reader", "writer")
    await running.client.post("/v1/runs", json={"goal": "Which seat do I prefer?"}, headers=writer)
    (before,) = await listed(running)
    assert (before["question"], before["answer"], before["block_text"], before["named"]) == (None, None, None, [])
    operator = await running.caller("operator", user="olga")
    wanted = {"policy": {"open_keys": True, "keep_turns": True}}
    put = await running.client.put("/v1/policy", json=wanted, headers={**operator, "If-Match": '"0"'})
    assert put.status_code == 200, put.text
    await running.client.post("/v1/runs", json={"goal": "Which seat do I prefer?"}, headers=writer)
    run, _ = await listed(running)
    assert (run["question"], bool(run["answer"])) == ("Which seat do I prefer?", True)
    ben = await running.caller("reader", user="ben")
    assert (await running.client.get(f"/v1/runs/{run['run_id']}", headers=ben)).status_code == 404


async def test_what_a_program_keeps_is_shown_with_its_block(running: Running) -> None:
    await running.engine.add("aisle", key="seat", actor=ANA)
    running.engine.keeps_turns = True
    await running.engine.context("Which seat do I prefer?", actor=ANA)
    (run,) = await listed(running)
    assert (run["adapter"], run["question"], run["answer"]) == ("context", "Which seat do I prefer?", None)
    assert "seat: aisle" in run["block_text"]
