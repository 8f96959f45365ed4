"""Signing in to the console at a provider: who comes back with what, and everything that must not sign anybody in."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx
import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidConfig
from mnemic.maintenance.tenant_registry import SERVICE_TENANT, Tenants
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic_server.app import create_app
from mnemic_server.bearer_tokens import Provider
from mnemic_server.browser_sessions import LASTS as SESSION_LASTS
from mnemic_server.oidc_sign_in import (
    COOKIE,
    DESCRIPTION_LASTS,
    LASTS,
    LONGEST_HINT,
    PATH,
    RESTS,
    SECURE_COOKIE,
    Client,
)
from tests.identity_provider import CLIENT_ID, SECRET, IdentityProvider, running


@dataclass
class Desk:
    """A service where one signs in at `provider`, and a browser's part of it."""

    provider: IdentityProvider
    engine: MemoryEngine
    clock: ManualClock
    browser: httpx.AsyncClient

    async def sent(self) -> dict[str, str]:
        """What the browser is sent to the provider with."""
        away = await self.browser.get(PATH)
        assert away.status_code == 303
        return {name: values[0] for name, values in parse_qs(urlsplit(away.headers["location"]).query).items()}

    async def back(self, asked: dict[str, str], **changed: str | None) -> str:
        """Agree, come back (with something changed); where that leads."""
        address = urlsplit(self.provider.agreed(asked))
        query = {name: values[0] for name, values in parse_qs(address.query).items()} | changed
        home = await self.browser.get(address.path, params={name: value for name, value in query.items() if value})
        assert home.status_code == 303
        return str(home.headers["location"])


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    with running() as provider:
        clock = ManualClock()
        engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=clock)
        known = Provider.from_jwks(
            f"{provider.address}/keys", issuer=provider.address, audience="mnemic", default_tenant="acme"
        )
        client = Client(issuer=provider.address, client_id=CLIENT_ID, secret=SECRET)
        transport = httpx.ASGITransport(app=create_app(engine, provider=known, client=client))
        async with engine, httpx.AsyncClient(transport=transport, base_url="http://service") as browser:
            yield Desk(provider, engine, clock, browser)


async def test_whoever_the_provider_vouches_for_is_signed_in_with_the_roles_it_names(desk: Desk) -> None:
    assert (await desk.browser.get(PATH + "/provider")).json() == {"name": "127.0.0.1"}
    asked = await desk.sent()
    assert (asked["response_type"], asked["code_challenge_method"], asked["scope"]) == ("code", "S256", "openid")
    assert await desk.back(asked) == "/console"
    who = (await desk.browser.get("/console/session")).json()
    assert (who["tenant"], who["user"], who["roles"]) == ("acme", "ana", ["reader", "subject"])
    assert (await desk.browser.delete("/v1/memories/x")).json()["reason"] == "csrf_token"
    headers = {"X-CSRF-Token": who["csrf_token"]}
    assert (await desk.browser.get("/v1/memories")).status_code == 200
    assert (await desk.browser.delete("/console/session", headers=headers)).status_code == 204
    assert (await desk.browser.get("/v1/memories")).status_code == 401


async def test_the_cookies_are_out_of_the_reach_of_scripts_and_the_session_of_other_sites(desk: Desk) -> None:
    away = await desk.browser.get(PATH)
    begun = away.headers["set-cookie"]
    assert all(part in begun for part in ("HttpOnly", "SameSite=lax", f"Path={PATH}"))
    asked = {name: values[0] for name, values in parse_qs(urlsplit(away.headers["location"]).query).items()}
    home = await desk.browser.get(urlsplit(desk.provider.agreed(asked)).path, params={"code": "code-0", **asked})
    session = next(one for one in home.headers.get_list("set-cookie") if one.startswith("mnemic_session"))
    assert "HttpOnly" in session
    assert "SameSite=strict" in session
    over_tls = await desk.browser.get("https://service" + PATH)
    assert "Secure" in over_tls.headers["set-cookie"]


@pytest.mark.parametrize(
    "changed", [{"state": "x" * 43}, {"state": None}, {"code": None}, {"code": "code-9"}, {"iss": "https://other"}]
)
async def test_an_answer_to_another_question_signs_nobody_in(desk: Desk, changed: dict[str, str | None]) -> None:
    assert await desk.back(await desk.sent(), **changed) == "/console?refused=sign_in_failed"
    assert (await desk.browser.get("/console/session")).status_code == 401


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "mnemic"},
        {"aud": [CLIENT_ID, "other"], "azp": "other"},
        {"iss": "https://other"},
        {"exp": 1},
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
        {"roles": ["root"]},
        {"tenant": "mnemic.service"},
    ],
)
async def test_a_token_that_is_not_for_this_sign_in_signs_nobody_in(desk: Desk, claims: dict[str, Any]) -> None:
    desk.provider.claims |= claims
    assert await desk.back(await desk.sent()) == "/console?refused=sign_in_failed"
    assert (await desk.browser.get("/console/session")).status_code == 401


async def test_whatever_a_provider_calls_people_each_of_them_has_memories_of_their_own(desk: Desk) -> None:
    subs = [
        "auth0|123",
        "user@example.org",
        "https://id.example/users/7",
        "Ana Ng",
        "ana\u00f1",
        "x" * 255,
        "claim:auth0+7C123",
    ]
    seen = {}
    for sub in subs:
        desk.provider.claims = {"sub": sub, "tenant": "Acme, Inc.", "roles": ["reader", "writer"]}
        assert await desk.back(await desk.sent()) == "/console"
        who = (await desk.browser.get("/console/session")).json()
        seen[who["user"]] = sub
        assert (await desk.browser.get("/v1/memories")).json()["memories"] == [], sub
        kept = {"content": "My locker is number seven."}
        headers = {"X-CSRF-Token": who["csrf_token"]}
        assert (await desk.browser.post("/v1/memories", json=kept, headers=headers)).status_code == 201
        assert (who["tenant"], len(who["user"]) <= 128) == ("claim:Acme+2C+20Inc.", True)
    assert list(seen.values()) == subs
    assert {"auth0|123", "user@example.org", "https://id.example/users/7"} <= seen.keys()


async def test_a_token_signed_by_another_hand_signs_nobody_in(desk: Desk) -> None:
    assert await desk.back(await desk.sent()) == "/console"
    desk.browser.cookies.clear()
    desk.provider.key = IdentityProvider().key
    assert await desk.back(await desk.sent()) == "/console?refused=sign_in_failed"


async def test_a_sign_in_is_finished_by_the_browser_that_began_it_and_in_time(desk: Desk) -> None:
    asked = await desk.sent()
    kept = desk.browser.cookies[COOKIE]
    desk.browser.cookies.clear()
    assert await desk.back(asked) == "/console?refused=sign_in_failed"
    state, ends, tag = kept.split(".")
    for forged in (f"{state}.{int(ends) + 1}.{tag}", f"{state}.{ends}.{'0' * 64}", f"{'x' * 43}.{ends}.{tag}", "x"):
        desk.browser.cookies.set(COOKIE, forged, path=PATH)
        assert await desk.back(asked) == "/console?refused=sign_in_failed"
        desk.browser.cookies.clear()
    asked = await desk.sent()
    desk.clock.advance(LASTS)
    assert await desk.back(asked) == "/console?refused=sign_in_failed"
    assert desk.provider.refused == 0


async def test_over_tls_a_sign_in_that_another_host_has_planted_is_finished_by_nobody(desk: Desk) -> None:
    """A sister domain plants the cookie of a sign-in of its own, and leads the browser to where that ends: whoever uses
    the browser would be signed in as the attacker.
    """
    desk.browser.base_url = httpx.URL("https://service")
    away = await desk.browser.get(PATH)
    begun = away.headers["set-cookie"]
    assert begun.startswith(f"{SECURE_COOKIE}=")
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=lax"} <= set(begun.split("; "))
    asked = {name: values[0] for name, values in parse_qs(urlsplit(away.headers["location"]).query).items()}
    value = desk.browser.cookies[SECURE_COOKIE]
    desk.browser.cookies.clear()
    desk.browser.cookies.set(COOKIE, value, path=PATH)
    assert await desk.back(asked) == "/console?refused=sign_in_failed"
    assert (await desk.browser.get("/console/session")).status_code == 401
    desk.browser.cookies.clear()
    asked = await desk.sent()
    assert await desk.back(asked) == "/console"
    assert (await desk.browser.get("/console/session")).json()["user"] == "ana"
    assert SECURE_COOKIE not in desk.browser.cookies


async def test_a_session_ends_in_time_and_with_its_tenant(desk: Desk) -> None:
    assert await desk.back(await desk.sent()) == "/console"
    tenants = Tenants(desk.engine.store, desk.clock)
    await tenants.suspend("acme", by="root")
    desk.clock.advance(timedelta(minutes=1))
    assert (await desk.browser.get("/v1/memories")).json()["reason"] == "tenant_suspended"
    assert await desk.back(await desk.sent()) == "/console?refused=tenant_suspended"
    await tenants.resume("acme", by="root")
    desk.clock.advance(SESSION_LASTS)
    assert (await desk.browser.get("/v1/memories")).status_code == 401


async def test_a_provider_that_does_not_answer_or_is_another_is_not_asked_again_and_again(desk: Desk) -> None:
    desk.provider.down = True
    for _ in range(3):
        assert (await desk.browser.get(PATH)).headers["location"] == "/console?refused=provider_unavailable"
    assert len(desk.provider.asked) == 1
    desk.provider.down = False
    for description in ({"issuer": "https://other"}, {"token_endpoint": "http://evil.example/token"}):
        desk.provider.description = description
        desk.clock.advance(RESTS)
        assert (await desk.browser.get(PATH)).headers["location"] == "/console?refused=provider_unavailable"
    desk.provider.description = {}
    desk.clock.advance(RESTS)
    assert await desk.back(await desk.sent()) == "/console"
    desk.provider.down = True
    desk.clock.advance(timedelta(hours=1))
    assert (await desk.sent())["client_id"] == CLIENT_ID


async def signed_out(desk: Desk) -> httpx.Response:
    """The answer to signing in and out again."""
    assert await desk.back(await desk.sent()) == "/console"
    token = (await desk.browser.get("/console/session")).json()["csrf_token"]
    answer = await desk.browser.delete("/console/session", headers={"X-CSRF-Token": token})
    assert (await desk.browser.get("/console/session")).status_code == 401
    return answer


async def test_signing_out_here_is_signing_out_there_where_that_is_offered(desk: Desk) -> None:
    assert (await signed_out(desk)).status_code == 204
    desk.provider.offer_sign_out()
    desk.clock.advance(DESCRIPTION_LASTS)
    answer = await signed_out(desk)
    assert answer.status_code == 200
    async with httpx.AsyncClient() as browser:
        home = await browser.get(answer.json()["there"])
    assert (home.status_code, home.headers["location"]) == (303, "http://service/console")
    assert desk.provider.ended == ["ana"]


async def test_a_session_is_over_here_whatever_the_provider_says(desk: Desk) -> None:
    desk.provider.description = {"end_session_endpoint": "http://evil.example/logout"}
    assert (await signed_out(desk)).status_code == 204
    desk.provider.offer_sign_out()
    desk.clock.advance(DESCRIPTION_LASTS)
    desk.provider.claims |= {"groups": ["x" * LONGEST_HINT]}
    asked = {name for name, _ in parse_qsl(urlsplit((await signed_out(desk)).json()["there"]).query)}
    assert asked == {"realm", "client_id", "post_logout_redirect_uri"}


async def test_the_store_holds_no_readable_token_of_a_session(desk: Desk) -> None:
    desk.provider.offer_sign_out()
    desk.provider.claims |= {"email": "ana@example.org"}
    assert await desk.back(await desk.sent()) == "/console"
    kept = next(iter((await desk.engine.store.marks(SERVICE_TENANT, "console_session:")).values()))
    parts = json.loads(kept)["id_token"].split(".")
    assert len(parts) == 5
    assert not any(b"example" in b64decode(part + "===", altchars=b"-_") for part in parts)


async def test_without_a_client_there_is_no_way_there() -> None:
    engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder())
    transport = httpx.ASGITransport(app=create_app(engine))
    async with engine, httpx.AsyncClient(transport=transport, base_url="http://service") as browser:
        assert (await browser.get(PATH + "/provider")).json() == {"name": None}
        assert [(await browser.get(path)).status_code for path in (PATH, PATH + "/callback")] == [404, 404]


def test_a_provider_that_others_could_answer_for_is_refused() -> None:
    with pytest.raises(InvalidConfig, match="service_issuer"):
        Client(issuer="http://id.example", client_id="x")
