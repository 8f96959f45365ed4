"""A place is taken by a whole request of somebody who is known, and nobody takes them all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from starlette.requests import HTTPConnection
from starlette.types import Message, Receive, Scope, Send

from mnemic_server.concurrency_shares import ConcurrencyLimit
from mnemic_server.credentials import Principal, Role
from mnemic_server.problems import Refusal, unauthenticated_error
from mnemic_server.request_limits import LimitMiddleware, RequestLimits

BOUNDS = RequestLimits(at_once=4, models_at_once=2)


def scope_of(path: str, key: str | None, length: int = 2) -> Scope:
    headers = [(b"content-length", str(length).encode())]
    headers += [] if key is None else [(b"authorization", key.encode())]
    return {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers, "state": {}}


@dataclass
class Sender:
    """One request: what it sends, and what it was answered."""

    path: str = "/v1/search"
    key: str | None = "acme ana"
    body: tuple[bytes, ...] = (b"{}",)
    ends: bool = True
    said: list[Message] = field(default_factory=list)

    @property
    def status(self) -> int | None:
        """What it was answered; None so far."""
        return next((one["status"] for one in self.said if one["type"] == "http.response.start"), None)

    async def through(self, app: Any) -> None:
        """Send it."""
        pieces = list(self.body)

        async def receive() -> Message:
            if not pieces:
                await asyncio.Event().wait()
            return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces) or not self.ends}

        async def send(message: Message) -> None:
            self.said.append(message)

        await app(scope_of(self.path, self.key), receive, send)


async def admitted(request: HTTPConnection, _: int) -> Principal:
    """Believes a header that says `tenant user`."""
    words = request.headers.get("authorization", "").split()
    if len(words) != 2:
        raise unauthenticated_error()
    return Principal(tenant=words[0], user=words[1], roles=frozenset({Role.READER}), key_id=words[1])


@dataclass
class Answering:
    """An application that answers when it is let."""

    let: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.let.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


class PlaceFirst(LimitMiddleware):
    """The layer with its defence off: a place is taken before anything is read."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with self._requests.place("anybody", str(len(self._requests._in_use))):
                await self._answer(scope, bytes(await self._body(scope, receive)), receive, send)
        except Refusal as flaw:
            await send({"type": "http.response.start", "status": flaw.status, "headers": []})


@asynccontextmanager
async def sent(app: Any, senders: list[Sender]) -> AsyncIterator[None]:
    """All of them are under way."""
    tasks = [asyncio.create_task(sender.through(app)) for sender in senders]
    for _ in range(10):
        await asyncio.sleep(0)
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize("key", [None, "acme eve"])
@pytest.mark.parametrize(("layer", "answer"), [(LimitMiddleware, 200), (PlaceFirst, 429)])
async def test_what_does_not_end_takes_no_place(layer: type[LimitMiddleware], answer: int, key: str | None) -> None:
    """And with a place taken first it would: that is what a stranger stopped the service with."""
    app = Answering()
    app.let.set()
    boundary, rightful = layer(app, BOUNDS, admit=admitted), Sender()
    async with sent(boundary, [Sender(key=key, body=(b"{",), ends=False) for _ in range(40)]):
        await rightful.through(boundary)
    assert rightful.status == answer


async def test_whoever_is_unknown_takes_no_place() -> None:
    app = Answering()
    boundary, rightful = LimitMiddleware(app, BOUNDS, admit=admitted), Sender()
    async with sent(boundary, [*[Sender(key=None) for _ in range(40)], rightful]):
        app.let.set()
        for _ in range(10):
            await asyncio.sleep(0)
    assert rightful.status == 200


async def test_one_credential_leaves_places_for_others_and_one_tenant_for_the_next() -> None:
    app = Answering()
    boundary = LimitMiddleware(app, RequestLimits(at_once=8), admit=admitted)
    ana, ben, rival = [[Sender(key=key) for _ in range(9)] for key in ("acme ana", "acme ben", "rival eve")]
    async with sent(boundary, [*ana, *ben, *rival]):
        app.let.set()
        for _ in range(10):
            await asyncio.sleep(0)
    taken = [[one.status for one in senders].count(200) for senders in (ana, ben, rival)]
    assert taken == [5, 2, 1]
    assert {one.status for senders in (ana, ben, rival) for one in senders} == {200, 429}


async def test_what_waits_for_a_model_takes_places_of_its_own() -> None:
    app = Answering()
    boundary, rightful = LimitMiddleware(app, BOUNDS, admit=admitted), Sender()
    captures = [Sender(path="/v1/capture", key=f"acme user{number}") for number in range(40)]
    async with sent(boundary, [*captures, rightful]):
        app.let.set()
        for _ in range(10):
            await asyncio.sleep(0)
    assert [one.status for one in captures].count(200) == BOUNDS.models_at_once
    assert rightful.status == 200


async def test_a_large_body_that_is_being_read_is_one_of_few() -> None:
    app = Answering()
    app.let.set()
    boundary = LimitMiddleware(app, BOUNDS, admit=admitted)
    large = [Sender(key="acme eve", body=(b"[" * 5000,), ends=False) for _ in range(40)]
    rightful = Sender(body=(b"[" + b" " * 5000 + b"]",))
    async with sent(boundary, large):
        await rightful.through(boundary)
    assert [one.status for one in large].count(429) == 37
    assert rightful.status == 200


async def test_whoever_hangs_up_in_the_middle_is_not_believed() -> None:
    reached: list[Scope] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        reached.append(scope)

    messages = [{"type": "http.request", "body": b"{}", "more_body": True}, {"type": "http.disconnect"}]
    said: list[Message] = []

    async def receive() -> Message:
        return messages.pop(0)

    async def send(message: Message) -> None:
        said.append(message)

    await LimitMiddleware(app, BOUNDS, admit=admitted)(scope_of("/v1/search", "acme ana"), receive, send)
    assert reached == []
    assert said[0]["status"] == 408
    assert (b"connection", b"close") in said[0]["headers"]


def test_a_place_is_given_back() -> None:
    shares = ConcurrencyLimit(most=2)
    for _ in range(5):
        with shares.place("acme", "ana"), shares.place("acme", "ben"), pytest.raises(Refusal):
            shares.place("rival", "eve").__enter__()
    assert not shares._in_use
    with ExitStack() as places:
        places.enter_context(shares.place("acme", "ana"))
        places.enter_context(shares.place("acme", "ana"))
