"""Signing in to the console: a cookie stands for a key, holds as long as the key does, and proves no will by itself."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest

from mnemic.engine import MemoryEngine
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic_server.app import create_app
from mnemic_server.browser_sessions import AT_ONCE, COOKIE, LASTS
from mnemic_server.credentials import ApiKeys, Principal, Role

from .conftest import Running

NEW = {"content": "I prefer aisle seats.", "key": "seat"}


async def signed_in(running: Running, *roles: str, user: str | None = "ana") -> tuple[str, str]:
    """The key's id and the session's CSRF token; the client keeps the cookie."""
    key, text = await running.keys.create(tenant="acme", roles=roles or ("reader", "writer"), user=user)
    answer = await running.client.post("/console/session", json={"api_key": text})
    assert answer.status_code == 200
    return key.key_id, answer.json()["csrf_token"]


async def test_a_key_is_exchanged_for_a_cookie_that_scripts_and_other_sites_do_not_get(running: Running) -> None:
    _, text = await running.keys.create(tenant="acme", roles=["reader"], user="ana")
    answer = await running.client.post("/console/session", json={"api_key": f" {text}\n"})
    cookie = answer.headers["set-cookie"]
    assert (answer.json()["user"], answer.json()["roles"]) == ("ana", ["reader"])
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert text.split("_", 2)[2] not in cookie
    assert (await running.client.get("/v1/memories")).status_code == 200


async def test_over_tls_the_cookie_is_sent_over_tls_only(running: Running) -> None:
    _, text = await running.keys.create(tenant="acme", roles=["reader"], user="ana")
    answer = await running.client.post("https://service/console/session", json={"api_key": text})
    assert "Secure" in answer.headers["set-cookie"]


@pytest.mark.parametrize("text", ["mnk_nonsense", "x", "mnk_01a201b1-ecf7-7000-9089-77ac477d222f_" + "a" * 43])
async def test_what_is_no_key_signs_nobody_in(running: Running, text: str) -> None:
    answer = await running.client.post("/console/session", json={"api_key": text})
    assert (answer.status_code, answer.json()["reason"]) == (401, "unauthenticated")
    assert "set-cookie" not in answer.headers


async def test_what_changes_anything_must_carry_the_sessions_token(running: Running) -> None:
    _, token = await signed_in(running)
    for headers in ({}, {"X-CSRF-Token": "0" * 64}, {"X-CSRF-Token": token[:-1]}):
        refused = await running.client.post("/v1/memories", json=NEW, headers=headers)
        assert (refused.status_code, refused.json()["reason"]) == (403, "csrf_token")
    assert (await running.client.post("/v1/memories", json=NEW, headers={"X-CSRF-Token": token})).status_code == 201


async def test_a_token_of_another_session_is_refused(running: Running) -> None:
    _, first = await signed_in(running)
    await signed_in(running)
    answer = await running.client.post("/v1/memories", json=NEW, headers={"X-CSRF-Token": first})
    assert answer.json()["reason"] == "csrf_token"


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://elsewhere.example"},
        {"Origin": "http://service:81"},
        {"Origin": "null"},
    ],
)
async def test_what_another_sites_page_sends_is_refused(running: Running, headers: dict[str, str]) -> None:
    _, token = await signed_in(running)
    read = await running.client.get("/v1/memories", headers=headers)
    written = await running.client.post("/v1/memories", json=NEW, headers={**headers, "X-CSRF-Token": token})
    again = await running.client.post("/console/session", json={"api_key": "mnk_x"}, headers=headers)
    assert [one.json()["reason"] for one in (read, written, again)] == ["cross_site"] * 3


@pytest.mark.parametrize("method", ["OPTIONS", "GET", "POST"])
@pytest.mark.parametrize("origin", ["https://evil.example", "null"])
async def test_no_other_site_is_told_that_its_pages_may_read_an_answer(
    running: Running, method: str, origin: str
) -> None:
    """No CORS: whatever a page of another site asks, its browser keeps the answer from it."""
    asking = {"Origin": origin, "Access-Control-Request-Method": "POST", **await running.caller("reader", "writer")}
    for path in ("/v1/memories", "/console/session", "/mcp", "/healthz"):
        answer = await running.client.request(method, path, headers=asking)
        assert [name for name in answer.headers if name.startswith("access-control-")] == []
        assert method != "OPTIONS" or not answer.is_success


async def test_a_page_of_the_service_itself_is_served(running: Running) -> None:
    _, token = await signed_in(running)
    headers = {"Origin": "http://service", "Sec-Fetch-Site": "same-origin", "X-CSRF-Token": token}
    assert (await running.client.post("/v1/memories", json=NEW, headers=headers)).status_code == 201


async def test_a_session_ends_with_its_key(running: Running) -> None:
    key_id, _ = await signed_in(running)
    await running.keys.revoke(key_id)
    assert (await running.client.get("/v1/memories")).status_code == 401


async def test_a_session_ends_when_the_secret_it_was_opened_with_is_retired(running: Running) -> None:
    key_id, _ = await signed_in(running)
    await running.keys.rotate(key_id, grace=timedelta(minutes=10))
    assert (await running.client.get("/v1/memories")).status_code == 200
    running.clock.advance(timedelta(minutes=10))
    assert (await running.client.get("/v1/memories")).status_code == 401


async def test_a_retired_session_stays_so_when_the_key_is_rotated_again(running: Running) -> None:
    key_id, _ = await signed_in(running)
    await running.keys.rotate(key_id, grace=timedelta(minutes=10))
    running.clock.advance(timedelta(minutes=10))
    await running.keys.rotate(key_id, grace=timedelta(minutes=10))
    assert (await running.client.get("/v1/memories")).status_code == 401


async def test_a_session_opened_with_the_new_secret_outlives_the_grace_of_the_old_one(running: Running) -> None:
    key, _ = await running.keys.create(tenant="acme", roles=["reader"], user="ana")
    renewed = await running.keys.rotate(key.key_id, grace=timedelta(minutes=10))
    await running.client.post("/console/session", json={"api_key": renewed})
    running.clock.advance(timedelta(minutes=10))
    assert (await running.client.get("/v1/memories")).status_code == 200


async def test_a_key_that_signs_in_ever_more_browsers_signs_out_its_own_oldest_ones_only(running: Running) -> None:
    async def again(text: str) -> str:
        await running.client.post("/console/session", json={"api_key": text})
        running.tick()
        return f"{COOKIE}={running.client.cookies[COOKIE]}"

    async def status(cookie: str) -> int:
        running.client.cookies.clear()
        return (await running.client.get("/console/session", headers={"Cookie": cookie})).status_code

    _, anas = await running.keys.create(tenant="acme", roles=["reader"], user="ana")
    _, bens = await running.keys.create(tenant="acme", roles=["reader"], user="ben")
    ben = await again(bens)
    many = [await again(anas) for _ in range(AT_ONCE + 1)]
    assert [await status(cookie) for cookie in (ben, many[0], many[1], many[-1])] == [200, 401, 200, 200]
    assert len(await running.engine.store.marks("mnemic.service", "console_session:")) == AT_ONCE + 1


async def test_signing_in_takes_of_the_keys_rate() -> None:
    engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=ManualClock())
    transport = httpx.ASGITransport(app=create_app(engine, per_second=1.0, burst=2))
    async with engine, httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        _, text = await ApiKeys(engine.store, engine.clock).create(tenant="acme", roles=["reader"], user="ana")
        answers = [await client.post("/console/session", json={"api_key": text}) for _ in range(3)]
    assert [one.status_code for one in answers] == [200, 200, 429]
    assert "set-cookie" not in answers[-1].headers


async def test_a_session_ends_after_its_time(running: Running) -> None:
    await signed_in(running)
    running.clock.advance(LASTS - timedelta(seconds=1))
    assert (await running.client.get("/console/session")).status_code == 200
    running.clock.advance(timedelta(seconds=1))
    probed = await running.client.get("/console/session?probe=true")
    assert (probed.status_code, probed.content) == (204, b"")
    assert (await running.client.get("/console/session")).status_code == 401


async def test_signing_out_ends_the_session_also_for_a_copy_of_the_cookie(running: Running) -> None:
    _, token = await signed_in(running)
    copy = {COOKIE: running.client.cookies[COOKIE]}
    assert (await running.client.delete("/console/session")).json()["reason"] == "csrf_token"
    assert (await running.client.delete("/console/session", headers={"X-CSRF-Token": token})).status_code == 204
    assert (await running.client.get("/v1/memories", headers={"Cookie": f"{COOKIE}={copy[COOKIE]}"})).status_code == 401


async def test_sessions_that_are_over_are_cleared_away(running: Running) -> None:
    _, text = await running.keys.create(tenant="acme", roles=["reader"], user="ana")
    for _ in range(4):
        running.clock.advance(LASTS)
        await running.client.post("/console/session", json={"api_key": text})
    marks = await running.engine.store.marks("mnemic.service", "console_session:")
    assert len(marks) == 1


async def test_the_store_holds_no_secret_of_a_session(running: Running) -> None:
    _, token = await signed_in(running)
    secret = running.client.cookies[COOKIE].partition(".")[2]
    kept = str(await running.engine.store.marks("mnemic.service", ""))
    assert secret not in kept
    assert token not in kept


async def test_a_credential_in_the_header_goes_before_the_cookie(running: Running) -> None:
    await signed_in(running, user="ana")
    other = await running.caller("writer", user="ben")
    answer = await running.client.get("/console/session", headers=other)
    assert answer.json()["user"] == "ben"
    assert (await running.client.post("/v1/memories", json=NEW, headers=other)).status_code == 201


@pytest.mark.parametrize(("host", "status"), [("127.0.0.1:8377", 200), ("localhost", 200), ("rebound.example", 403)])
async def test_one_persons_own_machine_answers_under_its_own_name_only(host: str, status: int) -> None:
    engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder())
    ana = Principal(tenant="default", user="ana", roles=frozenset(Role), key_id="own-machine")
    transport = httpx.ASGITransport(app=create_app(engine, open_to=ana))
    async with engine, httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as client:
        assert (await client.get("/v1/memories")).status_code == status
        assert (await client.get("/v1/memories", headers={"Sec-Fetch-Site": "cross-site"})).status_code == 403


async def test_a_subject_may_verify_their_own_receipt_and_nobody_elses(running: Running) -> None:
    ana, ben = await running.caller("subject", user="ana"), await running.caller("subject", user="ben")
    receipt = await running.erased(ana)
    own = await running.client.post("/v1/erasures/verification", json=receipt, headers=ana)
    foreign = await running.client.post("/v1/erasures/verification", json=receipt, headers=ben)
    assert own.json()["complete"] is True
    assert foreign.json()["reason"] == "invalid_input:erasure_receipt"


async def test_over_tls_the_cookie_is_the_hosts_own(running: Running) -> None:
    """As the configured address says, whatever the proxy tells of the request."""
    app = create_app(running.engine, home="root", url="https://memory.example")
    _, text = await running.keys.create(tenant="acme", roles=["reader"], user="ana")
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        answer = await client.post("/console/session", json={"api_key": text})
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-mnemic_session=")
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=strict"} <= set(cookie.split("; "))
    assert "Domain" not in cookie
    value = cookie.partition("=")[2].partition(";")[0]
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        headers = {"Cookie": f"__Host-mnemic_session={value}"}
        seen = await client.get("/console/session", headers=headers)
        assert seen.json()["user"] == "ana"
        gone = await client.delete("/console/session", headers={**headers, "X-CSRF-Token": seen.json()["csrf_token"]})
    assert gone.headers["set-cookie"].startswith("__Host-mnemic_session=")
    assert "Secure" in gone.headers["set-cookie"]


async def test_over_tls_a_session_that_another_host_has_planted_is_none(running: Running) -> None:
    """A page of a sister domain may set a cookie for all of the domain, and under any path, but none named `__Host-`:
    whoever it signs in as somebody else would tell that person's memory everything.
    """
    app = create_app(running.engine, home="root", url="https://memory.example")
    _, text = await running.keys.create(tenant="acme", roles=["reader"], user="mallory")
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        answer = await client.post("/console/session", json={"api_key": text})
        value = answer.headers["set-cookie"].partition("=")[2].partition(";")[0]
        client.cookies.clear()
        planted = {"Cookie": f"mnemic_session={value}"}
        assert (await client.get("/console/session", headers=planted)).status_code == 401
        assert (await client.get("/v1/memories", headers=planted)).status_code == 401
        both = {"Cookie": f"mnemic_session=x; __Host-mnemic_session={value}"}
        assert (await client.get("/console/session", headers=both)).status_code == 200


async def test_no_address_is_led_elsewhere(running: Running) -> None:
    headers = await running.caller("reader")
    answer = await running.client.get("/v1/memories/", headers={**headers, "Host": "evil.example"})
    assert answer.status_code in (404, 422)
    assert "location" not in answer.headers
