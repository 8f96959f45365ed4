"""Pages of other origins: only those that are named may call the service, and with a credential of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidConfig
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from mnemic_server.app import create_app
from mnemic_server.browser_sessions import COOKIE
from mnemic_server.credentials import ApiKeys
from mnemic_server.service_settings import ServiceSettings

APP = "https://app.example.com"
JSON = {"Accept": "application/json, text/event-stream"}


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    """A service that lets pages of one origin call it; the client has the key of ana in a header."""
    engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder())
    app = create_app(engine, origins=[APP])
    async with (
        engine,
        httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://service") as opened,
    ):
        roles = ("reader", "writer")
        _, text = await ApiKeys(engine.store, engine.clock).create(tenant="default", roles=roles, user="ana")
        opened.headers["X-Key"] = text
        yield opened


def shown(client: httpx.AsyncClient) -> dict[str, str]:
    return {"Authorization": f"Bearer {client.headers['X-Key']}"}


async def test_a_browser_is_told_what_a_page_of_the_named_origin_may_send(client: httpx.AsyncClient) -> None:
    asking = {"Origin": APP, "Access-Control-Request-Method": "PATCH", "Access-Control-Request-Headers": "if-match"}
    told = await client.options("/v1/memories/x", headers=asking)
    assert told.status_code == 200
    assert told.headers["access-control-allow-origin"] == APP
    assert "PATCH" in told.headers["access-control-allow-methods"]
    assert "access-control-allow-credentials" not in told.headers


async def test_its_page_writes_and_reads_with_a_credential(client: httpx.AsyncClient) -> None:
    headers = {"Origin": APP, "Sec-Fetch-Site": "cross-site", **shown(client)}
    written = await client.post("/v1/memories", json={"content": "I prefer aisle seats."}, headers=headers)
    assert (written.status_code, written.headers["access-control-allow-origin"]) == (201, APP)
    refused = await client.get("/v1/memories/absent", headers=headers)
    assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (404, APP)
    ping = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert (await client.post("/mcp", json=ping, headers={**JSON, **headers})).status_code == 200


async def test_it_cannot_act_as_whoever_is_signed_in_to_the_console(client: httpx.AsyncClient) -> None:
    signed = await client.post("/console/session", json={"api_key": client.headers["X-Key"]})
    assert COOKIE in signed.cookies
    for path in ("/v1/memories", "/console/session"):
        answer = await client.get(path, headers={"Origin": APP, "Sec-Fetch-Site": "cross-site"})
        assert (answer.status_code, answer.json()["reason"]) == (403, "cross_site")


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "https://app.example.com.evil.example"])
async def test_every_other_origin_is_told_nothing(client: httpx.AsyncClient, origin: str) -> None:
    asking = {"Origin": origin, "Access-Control-Request-Method": "GET", **shown(client)}
    for method in ("OPTIONS", "GET"):
        answer = await client.request(method, "/v1/memories", headers=asking)
        assert "access-control-allow-origin" not in answer.headers
    ping = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    assert (await client.post("/mcp", json=ping, headers={**JSON, **asking})).status_code == 403


@pytest.mark.parametrize("named", ["*", "app.example.com", "https://app.example.com/path", "https://*.example.com"])
def test_what_is_no_origin_is_refused(named: str) -> None:
    with pytest.raises(InvalidConfig, match="service_cors_origins"):
        ServiceSettings(cors_origins=named).origins()


def test_origins_are_separated_by_commas() -> None:
    settings = ServiceSettings(cors_origins="https://app.example.com/, http://localhost:3000")
    assert settings.origins() == {APP, "http://localhost:3000"}
    assert ServiceSettings().origins() == frozenset()
