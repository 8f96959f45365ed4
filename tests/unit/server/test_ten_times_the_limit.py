"""Ten times what a limit allows: a typed refusal, and nothing lost or added."""

from __future__ import annotations

from typing import Any

import pytest

from .conftest import Running

DEEP = '{"content":"x","data":' + '{"a":' * 1000 + "1" + "}" * 1000 + "}"
CASES: dict[str, tuple[str, str, Any]] = {
    "body": ("POST", "/v1/memories", {"content": "a " * 500_000}),
    "batch": ("POST", "/v1/memories/batch", {"memories": [{"content": "x"}] * 2_500}),
    "key": ("POST", "/v1/memories", {"content": "x", "key": "k" * 2_000}),
    "depth": ("POST", "/v1/memories", DEEP),
    "names": ("POST", "/v1/memories", {"content": "x", "data": {f"n{number}": 1 for number in range(7_000)}}),
    "list": ("GET", "/v1/memories?limit=2000", None),
    "runs": ("GET", "/v1/runs?limit=2000", None),
    "top_k": ("POST", "/v1/search", {"query": "seat", "top_k": 1_000}),
    "query": ("POST", "/v1/search", {"query": "seat " * 15_000}),
    "identifier": ("GET", "/v1/memories/" + "a" * 1_280, None),
    "subject": ("POST", "/v1/erasures", {"subject": "a" * 1_280}),
    "messages": ("POST", "/v1/messages", {"messages": [{"role": "user", "content": "x"}] * 2_000}),
    "max_tokens": ("POST", "/v1/context", {"query": "seat", "max_tokens": 10_000_000}),
}


@pytest.mark.parametrize("case", CASES)
async def test_ten_times_the_limit_is_refused_by_name(running: Running, case: str) -> None:
    method, url, body = CASES[case]
    ana = await running.caller("reader", "writer", "subject", "operator")
    await running.client.post("/v1/memories", json={"content": "I prefer aisle seats."}, headers=ana)
    given = {"content": body} if isinstance(body, str) else {"json": body} if body is not None else {}
    answer = await running.client.request(method, url, headers=ana, **given)
    assert answer.status_code in {400, 413, 422}, answer.text
    assert answer.json()["reason"].startswith("invalid_input:")
    left = (await running.client.get("/v1/memories", headers=ana)).json()["memories"]
    assert [memory["content"] for memory in left] == ["I prefer aisle seats."]
