"""How much one caller may ask, and how little a stranger."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import httpx
import pytest

from mnemic.engine import MemoryEngine
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic_server.app import create_app
from mnemic_server.credentials import ApiKeys
from mnemic_server.rate_limit import RateLimit
from tests.unit.server.conftest import Running

LARGE = b'{"content": "' + b"a" * 70_000 + b'"}'


async def in_pieces() -> AsyncIterator[bytes]:
    yield b'{"content": "'
    for _ in range(70):
        yield b"a" * 1024


@pytest.mark.parametrize("authorization", [None, "Bearer nothing", "Basic YTpi"])
@pytest.mark.parametrize("content", [LARGE, b"[" * 70_000, b"\xff" * 70_000, in_pieces])
async def test_of_a_stranger_little_is_read(running: Running, authorization: str | None, content: object) -> None:
    headers = {"Authorization": authorization} if authorization else {}
    body = content() if callable(content) else content
    answer = await running.client.post("/v1/memories", content=body, headers=headers)  # type: ignore[arg-type]
    assert (answer.status_code, answer.json()["reason"]) == (401, "unauthenticated")
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("known", [False, True])
async def test_an_address_has_an_end(running: Running, known: bool) -> None:
    headers = await running.caller("reader") if known else {}
    taken = await running.client.get("/v1/memories?" + "kinds=long_term&" * 1_000, headers=headers)
    answer = await running.client.get("/v1/memories?" + "kinds=long_term&" * 1_100, headers=headers)
    assert taken.status_code == (200 if known else 401)
    assert (answer.status_code, answer.json()["reason"]) == (414, "invalid_input:query:too_large")


@pytest.mark.parametrize("path", ["/v1%2fwhoami", "/v1/whoami%2F", "%2Fv1/whoami", "/v1/consents/health%2fmind"])
async def test_a_slash_that_is_written_as_a_code_is_not_read_as_one(running: Running, path: str) -> None:
    """A proxy that lets some addresses through and others not would read another address than the service."""
    headers = await running.caller("reader", "subject")
    plain = await running.client.get("/v1/whoami", headers=headers)
    answer = await running.client.get(path, headers=headers)
    assert plain.status_code == 200
    assert (answer.status_code, answer.json()["reason"]) == (404, "not_found")


async def test_of_who_is_known_more_is_read(running: Running) -> None:
    headers = {"Content-Type": "application/json", **await running.caller("writer")}
    answer = await running.client.post("/v1/memories", content=LARGE, headers=headers)
    assert answer.status_code == 422


async def test_a_credential_is_looked_up_once_however_large_the_body(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = {"Content-Type": "application/json", **await running.caller("writer")}
    marks, looked_up = running.engine.store.marks, []

    async def counted(tenant: str, prefix: str, **options: Any) -> dict[str, str]:
        looked_up.append(prefix.partition(":")[0])
        return await marks(tenant, prefix, **options)

    monkeypatch.setattr(running.engine.store, "marks", counted)
    for content in (b"{}", LARGE):
        looked_up.clear()
        answer = await running.client.post("/v1/memories", content=content, headers=headers)
        assert (answer.status_code, looked_up.count("api_key")) == (422, 1)


def test_a_call_may_count_as_several() -> None:
    clock = ManualClock()
    rate = RateLimit(clock, per_second=1.0, burst=3)
    assert rate.wait_for("ana", calls=9.0) == 0.0
    assert rate.wait_for("ana") == 7.0
    assert rate.wait_for("ben") == 0.0
    clock.advance(timedelta(seconds=7))
    assert rate.wait_for("ana") == 0.0


async def test_who_asks_too_often_or_too_much_waits() -> None:
    engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=ManualClock())
    app = create_app(engine, per_second=1.0, burst=3)
    async with engine, httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://service") as client:
        keys = ApiKeys(engine.store, engine.clock)
        ana, ben = [
            {"Authorization": f"Bearer {(await keys.create(tenant='acme', roles=['writer'], user=user))[1]}"}
            for user in ("ana", "ben")
        ]
        small = [(await client.post("/v1/capture", json={}, headers=ana)).status_code for _ in range(4)]
        large = await client.post("/v1/memories", content=LARGE, headers={**ben, "Content-Type": "application/json"})
        late = await client.post("/v1/capture", json={}, headers=ben)
    assert small == [422, 422, 422, 429]
    assert large.status_code == 422
    assert (late.status_code, late.json()["reason"], late.headers["retry-after"]) == (429, "rate_limited", "4")


async def test_one_user_of_an_application_does_not_use_up_the_rate_of_the_others() -> None:
    engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=ManualClock())
    app = create_app(engine, per_second=1.0, burst=3)
    async with engine, httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://service") as client:
        _, key = await ApiKeys(engine.store, engine.clock).create(tenant="acme", roles=["reader"])
        by = {"Authorization": f"Bearer {key}"}
        anna, bert = [
            {"Authorization": f"Bearer {answer.json()['token']}"}
            for user in ("anna", "bert")
            for answer in [await client.post("/v1/tokens", json={"user": user, "roles": ["reader"]}, headers=by)]
        ]
        seen = [(await client.get("/v1/memories/count", headers=anna)).status_code for _ in range(5)]
        other = await client.get("/v1/memories/count", headers=bert)
    assert (seen, other.status_code) == ([200, 200, 200, 429, 429], 200)


async def test_who_asks_too_often_is_not_read() -> None:
    read = []

    async def pieces() -> AsyncIterator[bytes]:
        read.append("a piece")
        yield LARGE

    engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=ManualClock())
    app = create_app(engine, per_second=1.0, burst=3)
    async with engine, httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://service") as client:
        _, key = await ApiKeys(engine.store, engine.clock).create(tenant="acme", roles=["writer"], user="ana")
        headers = {"Authorization": f"Bearer {key}", "Content-Length": str(len(LARGE))}
        broken = await client.post("/v1/memories", content=b"[" * 70_000, headers={"Authorization": f"Bearer {key}"})
        late = await client.post("/v1/memories", content=pieces(), headers=headers)
    assert (broken.status_code, broken.json()["reason"]) == (400, "invalid_input:json")
    assert (late.status_code, late.json()["reason"], late.headers["retry-after"]) == (429, "rate_limited", "4")
    assert read == []


async def test_what_comes_without_its_length_is_counted_as_a_whole() -> None:
    engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=ManualClock())
    app = create_app(engine, per_second=1.0, burst=9)
    async with engine, httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://service") as client:
        _, key = await ApiKeys(engine.store, engine.clock).create(tenant="acme", roles=["writer"], user="ana")
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

        async def pieces() -> AsyncIterator[bytes]:
            for first in range(0, len(LARGE), 5_000):
                yield LARGE[first : first + 5_000]

        answers = [await client.post("/v1/memories", content=pieces(), headers=headers) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [422, 422, 429]


async def test_a_credential_that_is_faster_than_its_tenant_leaves_the_others_a_share() -> None:
    """Alone it has what its tenant has in the long run; somebody else of the tenant is answered whenever."""
    clock = ManualClock()
    engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=clock)
    app = create_app(engine, per_second=10_000.0, burst=10_000, tenant_per_second=10.0)
    async with engine, httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://service") as client:
        keys = ApiKeys(engine.store, clock)
        eve, ana = [
            {"Authorization": f"Bearer {(await keys.create(tenant='acme', roles=['reader'], user=user))[1]}"}
            for user in ("eve", "ana")
        ]

        async def answered(headers: dict[str, str], calls: int) -> int:
            codes = [(await client.get("/v1/memories", headers=headers)).status_code for _ in range(calls)]
            assert set(codes) <= {200, 429}
            return codes.count(200)

        assert 10 <= await answered(eve, 40) <= 11
        alone = 0
        for _ in range(5):
            clock.advance(timedelta(seconds=1))
            alone += await answered(eve, 40)
        assert alone >= 45
        for _ in range(5):
            assert await answered(ana, 3) == 3
            clock.advance(timedelta(seconds=1))
            assert 0 < await answered(eve, 40) <= 10
