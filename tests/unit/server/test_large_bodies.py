"""A large body is held to the same rules as a small one, beside the event loop."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.routing import APIRoute

from mnemic.policy import strict_json
from mnemic_server.app import _PARTS
from mnemic_server.parsed_body_route import ParsedBodyRoute
from mnemic_server.request_limits import QUICK_BYTES
from tests.unit.server.conftest import Running

_LONG = b'"' + b"a" * QUICK_BYTES + b'"'


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b'{"content": ' + _LONG + b', "content": "b"}', "invalid_input:json"),
        (b"[" * 64 + _LONG + b"]" * 64, "invalid_input:json"),
        (b"[" + b"1," * 50_001 + b"1]", "invalid_input:body:too_large"),
        (b"[" + b"1," * 49_990 + b"1", "invalid_input:json"),
        (b'"\xff' + _LONG, "invalid_input:body:encoding"),
    ],
)
async def test_its_flaws_are_found(running: Running, body: bytes, reason: str) -> None:
    headers = {**await running.caller("writer"), "Content-Type": "application/json"}
    answer = await running.client.post("/v1/memories", content=body, headers=headers)
    assert answer.json()["reason"] == reason


async def test_it_is_checked_beside_the_loop_one_at_a_time(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[bool, int]] = []
    busy = threading.Semaphore(1)
    plain = strict_json.loads

    def watched(text: object, **bounds: Any) -> object:
        alone = busy.acquire(blocking=False)
        try:
            assert alone
            seen.append((threading.current_thread() is threading.main_thread(), len(str(text))))
            return plain(text, **bounds)
        finally:
            busy.release()

    monkeypatch.setattr(strict_json, "loads", watched)
    headers = {**await running.caller("writer"), "Content-Type": "application/json"}
    bodies = [b'{"content": "short"}', *[b'{"content": ' + _LONG + b"}"] * 3]
    await asyncio.gather(*(running.client.post("/v1/memories", content=body, headers=headers) for body in bodies))
    assert sorted(seen) == [(False, QUICK_BYTES + 15)] * 3 + [(True, 20)]


@pytest.mark.parametrize("length", [10, 2 * QUICK_BYTES])
async def test_it_is_parsed_once(running: Running, monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    parsed = []

    def counting(parse: Callable[..., object]) -> Callable[..., object]:
        def counted(text: Any, **rules: Any) -> object:
            parsed.append(len(text))
            return parse(text, **rules)

        return counted

    headers = {**await running.caller("writer"), "Content-Type": "application/json"}
    body = b'{"content": "I like tea.", "context": "' + b"a" * length + b'"}'
    monkeypatch.setattr(json, "loads", counting(json.loads))
    monkeypatch.setattr(strict_json, "from_json", counting(strict_json.from_json))
    answer = await running.client.post("/v1/memories", content=body, headers=headers)
    monkeypatch.undo()
    assert answer.status_code in (201, 422)
    assert parsed.count(len(body)) == 1


@pytest.mark.parametrize("body", [b"null", b"[]", b'"text"', b"3"])
async def test_what_is_no_object_is_told(running: Running, body: bytes) -> None:
    headers = {**await running.caller("writer"), "Content-Type": "application/json"}
    answer = await running.client.post("/v1/memories", content=body, headers=headers)
    assert (answer.status_code, answer.json()["reason"]) == (422, "invalid_input:body")


def test_no_route_parses_a_body_again() -> None:
    routes = [route for part in _PARTS for route in part.router.routes if isinstance(route, APIRoute)]
    taking = [route for route in routes if route.body_field is not None]
    assert len(taking) > 20
    assert [route.path for route in taking if not isinstance(route, ParsedBodyRoute)] == []
