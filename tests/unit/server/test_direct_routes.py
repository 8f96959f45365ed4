"""The short way of plain requests answers as FastAPI does, and every other request goes to FastAPI."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from mnemic_server import direct_routes
from mnemic_server.direct_routes import DirectRoutes
from tests.unit.server.conftest import Running

JSON = {"content-type": "application/json"}


async def answered(running: Running, request: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
    answer: httpx.Response = await running.client.request(**request)
    return answer.status_code, dict(answer.headers), answer.content


async def both(running: Running, monkeypatch: pytest.MonkeyPatch, request: dict[str, Any]) -> tuple[Any, Any, bool]:
    """Return the answers of the short way and of FastAPI, and whether the first took the short way."""
    taken: list[bool] = []
    original = direct_routes._Plan.answer

    async def answer(plan: Any, values: Any) -> Any:
        taken.append(True)
        return await original(plan, values)

    with monkeypatch.context() as patch:
        patch.setattr(direct_routes._Plan, "answer", answer)
        short = await answered(running, request)
    with monkeypatch.context() as patch:
        patch.setattr(DirectRoutes, "_meant", lambda self, scope: None)
        long = await answered(running, request)
    return short, long, bool(taken)


async def requests(running: Running) -> list[tuple[str, dict[str, Any], bool]]:
    """Return requests with a name each, and whether they are plain."""
    ana = await running.caller("reader", "writer")
    writer = await running.caller("writer")
    alone = await running.caller("reader", user=None)
    ben = await running.caller("reader", user="ben")
    made = await running.client.post("/v1/memories", json={"content": "aisle", "key": "seat"}, headers=ana)
    known = f"/v1/memories/{made.json()['memory_id']}"

    def get(url: str, headers: dict[str, str] = ana, **more: Any) -> dict[str, Any]:
        return {"method": "GET", "url": url, "headers": headers, **more}

    def post(url: str, body: Any, headers: dict[str, str] = ana) -> dict[str, Any]:
        return {"method": "POST", "url": url, "json": body, "headers": headers}

    return [
        ("a memory", get(known), True),
        ("no memory", get("/v1/memories/unknown"), True),
        ("another user's", get(known, ben), True),
        ("no role", get(known, writer), True),
        ("no user", get(known, alone), True),
        ("no credential", get(known, {}), False),
        ("a wrong credential", get(known, {"Authorization": "Bearer mnk_no"}), False),
        ("a query", get(known, params={"as_of": "2026-01-01T00:00:00Z"}), False),
        ("an unknown query", get(known, params={"asof": "2026"}), False),
        ("a long identifier", get("/v1/memories/" + "x" * 129), False),
        ("a conversation", get(known, ana | {"Mnemic-Session": "one"}), True),
        ("an empty conversation", get(known, ana | {"Mnemic-Session": ""}), False),
        ("a long conversation", get(known, ana | {"Mnemic-Session": "x" * 513}), False),
        ("a page", get("/v1/memories"), True),
        ("a count", get("/v1/memories/count"), True),
        ("a history", get(f"{known}/history"), True),
        ("no such route", get("/v1/memory"), False),
        ("a search", post("/v1/search", {"query": "which seat?"}), True),
        ("a search without a query", post("/v1/search", {}), True),
        ("a search for too many", post("/v1/search", {"query": "seat", "top_k": 10**6}), False),
        ("a list for a body", post("/v1/search", [1]), False),
        ("no body", {"method": "POST", "url": "/v1/search", "headers": ana | JSON}, False),
        ("no type", {"method": "POST", "url": "/v1/search", "headers": ana, "content": b'{"query": "seat"}'}, False),
        ("no JSON", {"method": "POST", "url": "/v1/search", "headers": ana | JSON, "content": b"{"}, False),
        ("a write of what is there", post("/v1/memories", {"content": "aisle", "key": "seat"}), True),
        ("a write without content", post("/v1/memories", {"key": "seat"}), False),
        ("a write by a reader", post("/v1/memories", {"content": "window"}, ben), True),
        (
            "a stale correction",
            {"method": "PATCH", "url": known, "json": {"content": "b"}, "headers": ana | {"If-Match": "9"}},
            True,
        ),
        ("another method", {"method": "PUT", "url": known, "json": {}, "headers": ana}, False),
        ("health", get("/healthz", {}), True),
        ("health with a query", get("/healthz", {}, params={"a": "1"}), False),
        ("a tenant's users", get("/v1/users", ana), True),
    ]


async def test_the_short_way_answers_as_fastapi_does(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = await requests(running)
    short_way = []
    for name, request, _ in cases:
        short, long, taken = await both(running, monkeypatch, request)
        assert short == long, name
        short_way.append((name, taken))
    assert short_way == [(name, plain) for name, _, plain in cases]


async def test_a_fault_is_no_answer(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    ana = await running.caller("reader", "writer")

    async def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("no matter")

    monkeypatch.setattr(type(running.engine), "get", broken)
    with pytest.raises(RuntimeError):  # as the transport of the tests hands on what a server would log
        await running.client.get("/v1/memories/unknown", headers=ana)
