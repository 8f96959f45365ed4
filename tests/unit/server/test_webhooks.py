"""Webhooks: in order, signed, again after a failure or a crash, never inside the own network, by operators only."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from standardwebhooks.webhooks import Webhook as Verifier
from standardwebhooks.webhooks import WebhookVerificationError

from mnemic.errors import InvalidInput
from mnemic.maintenance.tenant_engine import Tenancy
from mnemic_server.webhook_addresses import NotCallable, Resolver, is_public, require_callable
from mnemic_server.webhook_delivery import LEASE, MAX_FAILURES, Deliveries
from mnemic_server.webhooks import Webhooks

from .conftest import Running

URL = "https://app.example.com/hooks"


@dataclass
class Receiver:
    """A real HTTP server: what it was sent, and what it answers next."""

    url: str = ""
    statuses: list[int] = field(default_factory=list)
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    silent: bool = False
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def ids(self) -> list[str]:
        return [headers["webhook-id"] for headers, _ in self.got]

    @property
    def told(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, body in self.got]

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().splitlines()[1:]
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head if line)}
        self.got.append((headers, await reader.readexactly(int(headers["content-length"]))))
        self.arrived.set()
        if self.silent:
            await reader.read()
        else:
            status = self.statuses.pop(0) if self.statuses else 204
            writer.write(f"HTTP/1.1 {status} X\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n".encode())
            await writer.drain()
        writer.close()


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    server = await asyncio.start_server(receiver.answer, "127.0.0.1", 0)
    receiver.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook"
    async with server:
        yield receiver


def deliveries(running: Running, *, private: bool = True) -> Deliveries:
    engine = running.engine
    return Deliveries(
        tenancy=Tenancy(engine), clock=running.clock, webhooks=webhooks(running, private=private), poll_seconds=3600
    )


def webhooks(running: Running, *, private: bool = True) -> Webhooks:
    return Webhooks(running.engine.store, running.clock, private=private)


async def said(running: Running, *contents: str, tenant: str = "acme") -> list[str]:
    writer, ids = await running.caller("writer", tenant=tenant), []
    for content in contents:
        answer = await running.client.post("/v1/memories", json={"content": content}, headers=writer)
        ids.append(answer.json()["memory_id"])
        running.tick()
    return ids


def verified(secret: str, got: tuple[dict[str, str], bytes]) -> None:
    """Verify as a receiver does, at the time at which the message says it was sent."""
    headers, body = got
    expected = Verifier(secret).sign(headers["webhook-id"], _sent(headers), body.decode())
    if expected not in headers["webhook-signature"].split(" "):
        raise WebhookVerificationError


def _sent(headers: dict[str, str]) -> Any:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(int(headers["webhook-timestamp"]), tz=UTC)


async def test_changes_are_told_in_order_signed_and_without_content(running: Running) -> None:
    async with receiving() as receiver:
        made = await webhooks(running).create("acme", receiver.url)
        ids = await said(running, "I prefer aisle seats.", "The cat is called Miso.")
        await said(running, "I live in Rome.", tenant="other")
        assert await deliveries(running).round() == 2
        assert await deliveries(running).round() == 0
    assert [one["data"]["memory_id"] for one in receiver.told] == ids
    assert {one["type"] for one in receiver.told} == {"memory.created"}
    assert {one["data"]["tenant"] for one in receiver.told} == {"acme"}
    assert "aisle" not in str(receiver.got)
    assert receiver.ids == [f"{made.webhook_id}.{one['data']['sequence']}" for one in receiver.told]
    for got in receiver.got:
        verified(made.secret, got)
        with pytest.raises(WebhookVerificationError):
            verified("whsec_" + "A" * 43 + "=", got)


async def test_the_memory_itself_is_told_where_it_is_asked_for_and_while_it_is_there(running: Running) -> None:
    async with receiving() as receiver:
        await webhooks(running).create("acme", receiver.url, with_content=True)
        kept, gone = await said(running, "I prefer aisle seats.", "The cat is called Miso.")
        await running.client.delete(f"/v1/memories/{gone}", headers=await running.caller("writer"))
        await deliveries(running).round()
    shown = {one["data"]["memory_id"]: one["data"]["memory"] for one in receiver.told}
    assert shown[kept]["content"] == "I prefer aisle seats."
    assert shown[gone] is None


async def test_only_the_changes_that_were_asked_for_are_told(running: Running) -> None:
    async with receiving() as receiver:
        await webhooks(running).create("acme", receiver.url, actions=("forgotten", "deleted", "removed"))
        (memory_id,) = await said(running, "I prefer aisle seats.")
        await running.client.delete(f"/v1/memories/{memory_id}", headers=await running.caller("writer"))
        await deliveries(running).round()
    assert len(receiver.told) == 1
    assert receiver.told[0]["type"] != "memory.created"


async def test_a_failure_is_tried_again_later_under_the_same_id_and_nothing_overtakes_it(running: Running) -> None:
    async with receiving() as receiver:
        receiver.statuses = [500, 302]
        await webhooks(running).create("acme", receiver.url)
        await said(running, "I prefer aisle seats.", "The cat is called Miso.")
        work = deliveries(running)
        assert await work.round() == 0
        assert await work.round() == 0
        assert len(receiver.got) == 1
        running.clock.advance(timedelta(seconds=5))
        assert await work.round() == 0  # a redirection is followed nowhere
        running.clock.advance(timedelta(seconds=5))
        assert await work.round() == 0
        running.clock.advance(timedelta(seconds=5))
        assert await work.round() == 2
    assert receiver.ids == [receiver.ids[0]] * 3 + [receiver.ids[3]]
    assert receiver.ids[3] != receiver.ids[0]


async def test_a_crash_between_delivery_and_note_repeats_the_message_under_its_id(running: Running) -> None:
    async with receiving() as receiver:
        receiver.silent = True
        await webhooks(running).create("acme", receiver.url)
        await said(running, "I prefer aisle seats.")
        killed = asyncio.create_task(deliveries(running).round())
        await receiver.arrived.wait()
        killed.cancel()
        await asyncio.gather(killed, return_exceptions=True)
        receiver.silent = False
        assert await deliveries(running).round() == 0  # still the other's
        running.clock.advance(LEASE)
        assert await deliveries(running).round() == 1
    assert len(receiver.ids) == 2
    assert len(set(receiver.ids)) == 1


async def test_two_processes_at_once_tell_it_once(running: Running) -> None:
    async with receiving() as receiver:
        await webhooks(running).create("acme", receiver.url)
        await said(running, *(f"Fact number {one} is kept." for one in range(5)))
        arrived = await asyncio.gather(*(deliveries(running).round() for _ in range(3)))
    assert sum(arrived) == 5
    assert len(set(receiver.ids)) == len(receiver.ids) == 5


@pytest.mark.parametrize(("status", "tries"), [(500, MAX_FAILURES), (410, 1)])
async def test_after_repeated_failures_it_is_disabled_and_goes_on_where_it_was_left(
    running: Running, status: int, tries: int
) -> None:
    operator = await running.caller("operator", user="olga")
    async with receiving() as receiver:
        receiver.statuses = [status] * tries
        made = await webhooks(running).create("acme", receiver.url)
        await said(running, "I prefer aisle seats.")
        work = deliveries(running)
        for _ in range(tries + 3):
            await work.round()
            running.clock.advance(timedelta(hours=1))
        assert len(receiver.got) == tries
        (shown,) = (await running.client.get("/v1/webhooks", headers=operator)).json()["webhooks"]
        assert shown["disabled_at"] is not None
        assert shown["outcome"] == f"status_{status}"
        enabled = await running.client.post(f"/v1/webhooks/{made.webhook_id}/activation", headers=operator)
        assert enabled.json()["disabled_at"] is None
        assert await work.round() == 1
    actions = [one.action for one in await running.engine.store.audit("acme", limit=500)]
    assert actions.count("webhook_disabled") == actions.count("webhook_enabled") == 1


async def test_a_rotated_secret_signs_beside_the_old_one_until_that_ends(running: Running) -> None:
    async with receiving() as receiver:
        old = await webhooks(running).create("acme", receiver.url)
        new = await webhooks(running).rotate("acme", old.webhook_id, grace=timedelta(hours=1))
        await said(running, "I prefer aisle seats.")
        await deliveries(running).round()
        verified(old.secret, receiver.got[0])
        verified(new.secret, receiver.got[0])
        running.clock.advance(timedelta(hours=2))
        await said(running, "The cat is called Miso.")
        await deliveries(running).round()
    verified(new.secret, receiver.got[1])
    with pytest.raises(WebhookVerificationError):
        verified(old.secret, receiver.got[1])


async def test_a_name_that_leads_into_the_own_network_is_not_called(running: Running) -> None:
    async with receiving() as receiver:
        port = receiver.url.rpartition(":")[2]
        made = await webhooks(running).create("acme", f"https://localhost.example.com:{port}")
        await said(running, "I prefer aisle seats.")
        work = deliveries(running, private=False)

        def inside(*_: Any, **__: Any) -> list[Any]:
            return [(0, 0, 0, "", ("203.0.114.1", 443)), (0, 0, 0, "", ("127.0.0.1", 443))]

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(socket, "getaddrinfo", inside)
            assert await work.round() == 0
        assert receiver.got == []
    assert (await webhooks(running).states())[made.webhook_id].outcome == "private_address"


@pytest.mark.parametrize(
    "url",
    [
        "http://app.example.com/", "https://", "ftp://app.example.com/", "https://u:p@app.example.com/",
        "file:///etc/passwd",
        "https://127.0.0.1/", "https://localhost/", "https://a.localhost/", "https://10.0.0.1/",
        "https://169.254.169.254/latest",
        "https://[::1]/", "https://[fd00::1]/", "https://[::ffff:10.0.0.1]/", "https://0.0.0.0/",
        "https://2130706433/", "https://0x7f000001/", "https://127.1/", "https://0177.0.0.1/", "https://localhost./",
        "https://redis/", "https://db.internal/", "https://printer.local:8443/", "https://%31%32%37.0.0.1/",
        "https://app.example.com/#x",
        "https://app.example.com:99999/", "https://app.example.com/\n", "https://app.example.com/" + "a" * 2000,
    ],
)  # fmt: skip
async def test_other_addresses_are_refused(running: Running, url: str) -> None:
    with pytest.raises(InvalidInput):
        require_callable(url, private=False)
    operator = await running.caller("operator", user="olga")
    refused = await running.client.post("/v1/webhooks", json={"url": url}, headers=operator)
    assert refused.status_code == 422


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True), ("2606:2800:220:1::1", True), ("127.0.0.1", False), ("10.1.2.3", False),
        ("100.64.0.1", False),
        ("192.168.1.1", False), ("169.254.169.254", False), ("224.0.0.1", False),
        ("255.255.255.255", False), ("0.0.0.0", False),
        ("::1", False), ("fe80::1%eth0", False), ("fec0::1", False),
        ("::ffff:127.0.0.1", False), ("::ffff:93.184.216.34", True),
        ("64:ff9b::a00:1", False), ("2002:0a00:0001::1", False), ("no address", False),
    ],
)  # fmt: skip
def test_public_addresses(address: str, *, public: bool) -> None:
    assert is_public(address) is public


async def test_the_secret_is_shown_once_and_the_audit_has_every_act(running: Running) -> None:
    operator = await running.caller("operator", user="olga")
    made = (await running.client.post("/v1/webhooks", json={"url": URL}, headers=operator)).json()
    assert made["secret"].startswith("whsec_")
    listed = (await running.client.get("/v1/webhooks", headers=operator)).json()
    assert "secret" not in listed["webhooks"][0]
    place = f"/v1/webhooks/{made['webhook_id']}"
    rotated = (await running.client.post(place + "/rotation", headers=operator)).json()
    assert rotated["secret"] != made["secret"]
    assert (await running.client.delete(place, headers=operator)).status_code == 204
    lines = [one for one in await running.engine.store.audit("acme", limit=500) if one.action.startswith("webhook_")]
    assert [(one.action, one.actor) for one in lines] == [
        ("webhook_created", "olga"), ("webhook_rotated", "olga"), ("webhook_deleted", "olga")
    ]  # fmt: skip
    assert "example.com" not in str(lines)


async def test_an_operator_who_is_no_admin_is_not_told_the_memories(running: Running) -> None:
    wanted = {"url": URL, "with_content": True}
    refused = await running.client.post(
        "/v1/webhooks", json=wanted, headers=await running.caller("operator", user="olga")
    )
    assert (refused.status_code, refused.json()["reason"]) == (403, "role_required:admin")
    assert await webhooks(running).all("acme") == []
    both = await running.caller("operator", "admin", user="root")
    made = await running.client.post("/v1/webhooks", json=wanted, headers=both)
    assert (made.status_code, made.json()["with_content"]) == (201, True)


async def test_an_operator_gets_no_secret_of_a_webhook_that_only_an_admin_may_make(running: Running) -> None:
    wanted = {"url": URL, "with_content": True}
    both, operator = (
        await running.caller("operator", "admin", user="root"),
        await running.caller("operator", user="olga"),
    )
    made = (await running.client.post("/v1/webhooks", json=wanted, headers=both)).json()
    place = f"/v1/webhooks/{made['webhook_id']}"
    for method, path in (("POST", place + "/rotation"), ("POST", place + "/activation"), ("DELETE", place)):
        refused = await running.client.request(method, path, headers=operator)
        assert (refused.status_code, refused.json()["reason"]) == (403, "role_required:admin")
    assert (await running.client.post(place + "/rotation", headers=both)).json()["secret"] != made["secret"]
    assert (await running.client.delete(place, headers=both)).status_code == 204


async def test_a_name_server_that_does_not_answer_takes_two_threads_of_its_tenant_and_none_of_requests() -> None:
    answers, asked = threading.Event(), threading.Semaphore(0)

    def silent(host: str, *_: Any, **__: Any) -> list[Any]:
        asked.release()
        if host == "silent.example":
            answers.wait(20)
        return [(0, 0, 0, "", ("93.184.216.34", 443))]

    names, loop = Resolver(threads=3, share=2), asyncio.get_running_loop()
    silent_parts, other_parts = urlsplit("https://silent.example/x"), urlsplit("https://other.example/x")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(socket, "getaddrinfo", silent)
        given_up = [asyncio.create_task(names.address_of(silent_parts, tenant="a", private=False)) for _ in range(2)]
        for _ in range(2):
            await asyncio.to_thread(asked.acquire)
        for one in given_up:
            one.cancel()
        await asyncio.gather(*given_up, return_exceptions=True)
        with pytest.raises(NotCallable):
            await names.address_of(silent_parts, tenant="a", private=False)
        assert await names.address_of(other_parts, tenant="b", private=False) == "93.184.216.34"
        assert await loop.run_in_executor(None, lambda: "a body is parsed") == "a body is parsed"
        answers.set()


@pytest.mark.parametrize("role", ["reader", "writer", "subject", "reviewer", "admin"])
async def test_nobody_but_operators_manages_them(running: Running, role: str) -> None:
    made = await webhooks(running).create("acme", URL)
    place, headers = f"/v1/webhooks/{made.webhook_id}", await running.caller(role, user="ben")
    for method, path, body in (
        ("GET", "/v1/webhooks", None), ("POST", "/v1/webhooks", {"url": URL}), ("POST", place + "/rotation", None),
        ("POST", place + "/activation", None), ("DELETE", place, None),
    ):  # fmt: skip
        answer = await running.client.request(method, path, json=body, headers=headers)
        assert (answer.status_code, answer.json()["reason"]) == (403, "role_required:operator")
    assert len(await webhooks(running).all("acme")) == 1


async def test_another_tenants_webhook_is_not_there(running: Running) -> None:
    made = await webhooks(running).create("other", URL)
    place, operator = f"/v1/webhooks/{made.webhook_id}", await running.caller("operator", user="olga")
    assert (await running.client.get("/v1/webhooks", headers=operator)).json() == {"webhooks": []}
    for method, path in (("POST", place + "/rotation"), ("POST", place + "/activation"), ("DELETE", place)):
        answer = await running.client.request(method, path, headers=operator)
        assert (answer.status_code, answer.json()["reason"]) == (404, "memory_not_found:webhook")
    assert await webhooks(running).find("other", made.webhook_id) == made


async def test_a_tenant_has_so_many_and_no_more(running: Running) -> None:
    for _ in range(20):
        await webhooks(running).create("acme", URL)
    with pytest.raises(InvalidInput, match="webhooks"):
        await webhooks(running).create("acme", URL)
