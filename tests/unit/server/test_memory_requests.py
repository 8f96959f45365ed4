"""Requests about memory over REST, by a client and as a tool: reported, and carried out once they are confirmed."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from mnemic.types import MemoryRequest
from mnemic_client.opening import AsyncClient
from mnemic_client.remote import Remote
from tests.unit.server.conftest import Running
from tests.unit.server.test_mcp_endpoint import call, refusal

TOLD = ("I rent a studio in Lund.", "My sister keeps bees in Ystad.")
FORGET = "Forget what I told you about my sister."


async def told(running: Running, headers: dict[str, str]) -> None:
    for text in TOLD:
        assert (await running.client.post("/v1/memories", json={"content": text}, headers=headers)).status_code == 201


async def asked(running: Running, headers: dict[str, str], message: str) -> dict[str, Any]:
    answer = await running.client.post("/v1/capture", json={"message": message}, headers=headers)
    (request,) = answer.json()["asked"]
    return dict(request)


async def held(running: Running, headers: dict[str, str]) -> list[str]:
    answer = await running.client.get("/v1/memories", headers=headers)
    return sorted(one["content"] for one in answer.json()["memories"])


async def test_what_a_report_asks_is_carried_out_as_it_is(running: Running) -> None:
    ana = await running.caller("reader", "writer")
    await told(running, ana)
    request = await asked(running, ana, FORGET)
    assert await held(running, ana) == sorted(TOLD)
    done = await running.client.post("/v1/memory-requests", json=request, headers=ana)
    assert (done.status_code, done.json()["forgotten"]) == (200, request["memory_ids"])
    assert await held(running, ana) == [TOLD[0]]
    again = await running.client.post("/v1/memory-requests", json=request, headers=ana)
    assert again.json() == {"forgotten": [], "erasure": None, "memories": []}


async def test_what_is_known_is_read_by_a_reader(running: Running) -> None:
    await told(running, await running.caller("writer"))
    reader, writer = await running.caller("reader"), await running.caller("reader", "writer")
    request = await asked(running, writer, "What do you know about me?")
    shown = await running.client.post("/v1/memory-requests", json=request, headers=reader)
    assert sorted(one["content"] for one in shown.json()["memories"]) == sorted(TOLD)
    refused = await running.client.post("/v1/memory-requests", json={**request, "kind": "forget"}, headers=reader)
    assert (refused.status_code, refused.json()["reason"]) == (403, "role_required:subject|writer")


async def test_everything_goes_by_an_erasure_of_who_may_erase(running: Running) -> None:
    writer, subject = await running.caller("reader", "writer"), await running.caller("subject")
    await told(running, writer)
    request = await asked(running, writer, "Delete everything you know about me!")
    refused = await running.client.post("/v1/memory-requests", json=request, headers=writer)
    assert (refused.status_code, refused.json()["reason"]) == (403, "role_required:operator|subject")
    begun = await running.client.post("/v1/memory-requests", json=request, headers=subject)
    assert begun.status_code == 202
    job = await running.client.get(begun.headers["location"], params={"wait": 10}, headers=subject)
    assert job.json()["state"] == "done"
    assert (await running.client.get("/v1/memories", headers=writer)).status_code == 401
    assert await held(running, await running.caller("reader")) == []


async def test_another_users_memories_are_out_of_reach(running: Running) -> None:
    ana, ben = await running.caller("reader", "writer"), await running.caller("reader", "writer", user="ben")
    await told(running, ana)
    request = await asked(running, ana, FORGET)
    done = await running.client.post("/v1/memory-requests", json=request, headers=ben)
    assert done.json() == {"forgotten": [], "erasure": None, "memories": []}
    shown = await running.client.post("/v1/memory-requests", json={**request, "kind": "show"}, headers=ben)
    assert shown.json()["memories"] == []
    assert await held(running, ana) == sorted(TOLD)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [({"kind": "burn"}, "invalid_input:kind"), ({"kind": "forget", "memory_ids": [""]}, "invalid_input:memory_ids.0")],
)
async def test_other_requests_are_refused(running: Running, wrong: dict[str, Any], reason: str) -> None:
    answer = await running.client.post("/v1/memory-requests", json=wrong, headers=await running.caller("writer"))
    assert (answer.status_code, answer.json()["reason"]) == (422, reason)


async def test_a_client_carries_out_what_its_report_asks(running: Running) -> None:
    key = (await running.caller("reader", "writer", "subject"))["Authorization"].removeprefix("Bearer ")
    transport: Any = running.client._transport
    assert isinstance(transport, httpx.AsyncBaseTransport)
    client: Any = AsyncClient(Remote("http://service", key, timeout=30.0, attempts=1, transport=transport))
    for text in TOLD:
        await client.add(text)
    (request,) = (await client.capture(FORGET)).asked
    assert (await client.carry_out(request)).forgotten == request.memory_ids
    (shown,) = (await client.capture("What do you know about me?")).asked
    assert [one.content for one in (await client.carry_out(shown)).memories] == [TOLD[0]]
    done = await client.carry_out(MemoryRequest(kind="forget_all"))
    assert done.erasure is not None
    assert done.erasure["complete"] is True
    assert await client.count() == 0
    await client.close()


async def test_a_tool_carries_it_out_once_it_is_no_rehearsal(running: Running) -> None:
    ana = await running.caller("reader", "writer")
    await told(running, ana)
    (request,) = (await call(running, ana, "capture", message=FORGET))["asked"]
    planned = await call(running, ana, "carry_out", request=request)
    assert [one["content"] for one in planned["would_forget"]] == [TOLD[1]]
    assert planned["carried_out"] is False
    assert await held(running, ana) == sorted(TOLD)
    refused = await refusal(running, ana, "carry_out", request=request, dry_run=False)
    assert refused == "write_blocked:lower_trust"
    assert await held(running, ana) == sorted(TOLD)
    herself = await running.caller("reader", "writer", "subject")
    done = await call(running, herself, "carry_out", request=request, dry_run=False)
    assert (done["carried_out"], done["forgotten"]) == (True, request["memory_ids"])
    assert await held(running, ana) == [TOLD[0]]


async def test_a_tool_shows_and_erases_as_far_as_its_role_goes(running: Running) -> None:
    writer, subject = await running.caller("reader", "writer"), await running.caller("subject")
    await told(running, writer)
    (show,) = (await call(running, writer, "capture", message="What do you know about me?"))["asked"]
    shown = await call(running, subject, "carry_out", request=show)
    assert sorted(one["content"] for one in shown["memories"]) == sorted(TOLD)
    request = {**show, "kind": "forget_all"}
    refused = await refusal(running, writer, "carry_out", request=request, dry_run=False)
    assert refused == "not_supported:forget_all"
    done = await call(running, subject, "carry_out", request=request, dry_run=False)
    assert (done["carried_out"], done["erased"]) == (True, True)
    assert await held(running, await running.caller("reader")) == []


async def test_a_tool_refuses_what_is_no_request(running: Running) -> None:
    ana = await running.caller("writer")
    assert await refusal(running, ana, "carry_out", request={"kind": "burn"}) == "invalid_input:kind"


async def test_a_request_says_where_it_concerns_several_things(running: Running) -> None:
    ana = await running.caller("reader", "writer")
    for text in ("My car is a red Volvo.", "My second car is a Fiat.", "I rent a studio in Lund."):
        await running.client.post("/v1/memories", json={"content": text}, headers=ana)
    request = await asked(running, ana, "Forget what I told you about my car.")
    assert sorted(request["things"]) == ["Fiat", "Volvo"]
    assert len(request["memory_ids"]) == 2
    done = await running.client.post("/v1/memory-requests", json=request, headers=ana)
    assert sorted(done.json()["forgotten"]) == sorted(request["memory_ids"])
    about_one = await asked(running, ana, "Forget what I told you about my studio.")
    assert about_one["things"] == []
