"""MCP beside REST: one address, the same keys, the tools that the caller's roles allow."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.server.conftest import Running

BASE = {"Accept": "application/json, text/event-stream"}


async def rpc(running: Running, headers: dict[str, str], method: str, **params: Any) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer = await running.client.post("/mcp", json=body, headers={**BASE, **headers})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def call(running: Running, headers: dict[str, str], tool: str, **arguments: Any) -> dict[str, Any]:
    told = await rpc(running, headers, "tools/call", name=tool, arguments=arguments)
    assert not told["result"].get("isError"), told
    found: dict[str, Any] = told["result"]["structuredContent"]
    return found


async def refusal(running: Running, headers: dict[str, str], tool: str, **arguments: Any) -> str:
    """Reason for which the tool refuses; fails where it does not say that it failed."""
    told = await rpc(running, headers, "tools/call", name=tool, arguments=arguments)
    assert told["result"]["isError"] is True, told
    return str(told["result"]["structuredContent"]["error"])


async def test_each_caller_reaches_its_own_memories_and_both_doors_lead_to_them(running: Running) -> None:
    ana, ben = await running.caller("reader", "writer"), await running.caller("reader", "writer", user="ben")
    kept = await call(running, ana, "add_memory", content="I prefer aisle seats.")
    over_rest = await running.client.get(f"/v1/memories/{kept['memory_id']}", headers=ana)
    assert over_rest.json()["content"] == "I prefer aisle seats."
    found = await call(running, ana, "search_memory", query="aisle seats")
    assert [one["memory_id"] for one in found["memories"]] == [kept["memory_id"]]
    assert (await call(running, ben, "list_memories"))["memories"] == []
    arguments = {"memory_id": kept["memory_id"], "dry_run": False}
    assert await refusal(running, ben, "forget_memory", **arguments) == "memory_not_found"


async def test_writes_and_searches_are_counted_by_whichever_door_they_came(running: Running) -> None:
    ana = await running.caller("reader", "writer")
    said = {"content": "I prefer aisle seats."}
    for path, body in (
        ("/v1/memories", {"content": "My dog is called Rex."}),
        ("/v1/memories/batch", {"memories": [{"content": "I read at night."}, {"content": "I cook on Sundays."}]}),
        ("/v1/messages", {"messages": [said]}),
        ("/v1/capture", {"message": said}),
        ("/v1/search", {"query": "zebra crossing"}),
        ("/v1/context", {"query": "Which seat do I like?"}),
    ):
        answer = await running.client.post(path, json=body, headers=ana)
        assert answer.status_code in (200, 201), answer.text
    await running.client.patch(f"/v1/memories/{await newest(running, ana)}", json=said, headers=ana)
    await call(running, ana, "add_memory", content="I like tea.")
    await call(running, ana, "search_memory", query="aisle seats")
    process = (await running.client.get("/v1/overview", headers=await running.caller("operator"))).json()["process"]
    metrics = (await running.client.get("/metrics", headers=await running.caller("operator"))).text
    assert sum(float(line.split()[-1]) for line in metrics.splitlines() if line.startswith("mnemic_writes_total")) == 7
    assert process["searches"]["found"] + process["searches"]["empty"] == 3


async def newest(running: Running, headers: dict[str, str]) -> str:
    listed = await running.client.get("/v1/memories?limit=1", headers=headers)
    return str(listed.json()["memories"][0]["memory_id"])


@pytest.mark.parametrize(
    ("roles", "tools"),
    [
        (("reader",), ["list_memories", "search_memory"]),
        (
            ("subject",),
            ["carry_out", "forget_memory", "list_memories", "rate_memory", "search_memory", "update_memory"],
        ),
        (
            ("writer",),
            [
                "add_memory",
                "capture",
                "carry_out",
                "forget_memory",
                "list_memories",
                "rate_memory",
                "search_memory",
                "update_memory",
            ],
        ),
    ],
)
async def test_a_role_is_offered_its_tools_and_can_call_no_other(
    running: Running, roles: tuple[str, ...], tools: list[str]
) -> None:
    headers = await running.caller(*roles)
    listed = await rpc(running, headers, "tools/list")
    assert sorted(tool["name"] for tool in listed["result"]["tools"]) == tools
    if "add_memory" not in tools:
        refused = await rpc(running, headers, "tools/call", name="add_memory", arguments={"content": "x"})
        assert refused.get("error") or refused["result"]["isError"]
        assert (await running.client.get("/v1/memories", headers=headers)).json()["memories"] == []


async def test_who_may_not_call_is_refused_before_any_tool(running: Running) -> None:
    cases: list[tuple[dict[str, str], int, str]] = [
        ({}, 401, "unauthenticated"),
        (await running.caller("reader", user=None), 403, "user_required"),
        (await running.caller("operator"), 403, "role_required:reader|subject|writer"),
    ]
    for headers, status, reason in cases:
        answer = await running.client.post("/mcp", json={}, headers={**BASE, **headers})
        assert (answer.status_code, answer.json()["reason"]) == (status, reason)
    listening = await running.client.get("/mcp", headers={**BASE, **await running.caller("reader")})
    assert (listening.status_code, listening.json()["reason"]) == (405, "method_not_allowed")


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (None, 200),
        ("http://service", 200),
        ("http://service:81", 403),
        ("https://evil.example", 403),
        ("http://service.evil.example", 403),
        ("null", 403),
    ],
)
async def test_a_page_of_another_site_is_refused_with_a_key_too(
    running: Running, origin: str | None, status: int
) -> None:
    """MCP asks of a server that it looks at the origin of every request."""
    headers = BASE | await running.caller("reader") | ({} if origin is None else {"Origin": origin})
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    answer = await running.client.post("/mcp", json=body, headers=headers)
    assert (answer.status_code, answer.json().get("reason")) == (status, None if status == 200 else "cross_site")


@pytest.mark.parametrize(("origin", "status"), [("https://service", 200), ("http://service", 403)])
async def test_where_browsers_come_by_tls_a_page_without_it_is_another_site(
    running: Running, origin: str, status: int
) -> None:
    """Whoever can write into what is sent without TLS could make such a page."""
    headers = BASE | await running.caller("reader") | {"Origin": origin}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    answer = await running.client.post("https://service/mcp", json=body, headers=headers)
    assert (answer.status_code, answer.json().get("reason")) == (status, None if status == 200 else "cross_site")
