"""What the service reads before it knows a request is bounded, and what it knows is read as HTTP says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from mnemic_server.connections import Connections, Timeouts
from mnemic_server.http_protocol import HEAD_BYTES, SPREAD, Protocol

LINE = b"a" * 4096
PATIENCE = 30.0
BEGUN = b"POST / HTTP/1.1\r\nHost: here\r\n"
CHUNKED = BEGUN + b"Transfer-Encoding: chunked\r\n\r\n"


async def told_back(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with how many bytes the body had."""
    size, more = 0, True
    while more:
        message = await receive()
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    body = str(size).encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
async def port() -> AsyncIterator[int]:
    config, state = uvicorn.Config(told_back, log_config=None, lifespan="off"), ServerState()
    loop = asyncio.get_running_loop()
    async with await loop.create_server(lambda: Protocol(config, state, {}), "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


async def said(port: int, pieces: Iterator[bytes] | list[bytes]) -> bytes:
    """All that is answered to `pieces` until the connection is closed; no more is sent than is taken."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    reading = asyncio.create_task(reader.read())
    sent = 0
    try:
        async with asyncio.timeout(PATIENCE):
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                sent += len(piece)
                assert sent < 100 * HEAD_BYTES, "the service takes whatever comes"
            return await reading
    except ConnectionError:
        return await reading if reading.exception() is None else b"closed"
    finally:
        writer.close()


def endless(begin: bytes, piece: bytes) -> Iterator[bytes]:
    yield begin
    while True:
        yield piece


@pytest.mark.parametrize(
    ("begin", "piece"),
    [
        (BEGUN + b"X-Long: ", LINE),
        (BEGUN, b"X-One: 1\r\n" * 400),
        (b"GET /", LINE),
        (CHUNKED + b"1;", LINE),
        (CHUNKED + b"0\r\nX-Long: ", LINE),
        (CHUNKED + b"0\r\n", b"X-One: 1\r\n" * 400),
    ],
    ids=["a header", "headers", "an address", "an extension", "a trailer", "trailers"],
)
async def test_what_does_not_end_is_refused(port: int, begin: bytes, piece: bytes) -> None:
    answer = await said(port, endless(begin, piece))
    assert answer == b"closed" or answer.startswith(b"HTTP/1.1 400 ")


async def test_a_head_is_bounded_also_where_it_comes_at_once(port: int) -> None:
    lines = b"".join(b"X-%d: %b\r\n" % (number, LINE) for number in range(HEAD_BYTES // len(LINE)))
    assert (await said(port, [BEGUN + lines + b"\r\n"])).startswith(b"HTTP/1.1 400 ")


async def test_a_large_body_is_no_head(port: int) -> None:
    size = 4 * HEAD_BYTES
    head = BEGUN + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % size
    assert (await said(port, [head, *[b"b" * 1024] * (size // 1024)])).endswith(b"\r\n\r\n%d" % size)


async def test_each_request_of_a_connection_has_a_head_of_its_own(port: int) -> None:
    long = BEGUN + b"X-Long: %b\r\nContent-Length: 2\r\n" % (b"a" * (HEAD_BYTES // 2))
    answers = await said(port, [*[long + b"\r\nab"] * 3, long + b"Connection: close\r\n\r\nab"])
    assert answers.count(b"HTTP/1.1 200 ") == 4


async def test_chunks_are_one_body(port: int) -> None:
    head = BEGUN + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = await said(port, [head, b"3\r\nabc\r\n2\r\n", b"de\r\n0\r\n\r\n"])
    assert answer.endswith(b"\r\n\r\n5")


async def names_told_back(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the names of the request's headers, once its body is read."""
    while (await receive()).get("more_body", False):
        pass
    body = b" ".join(name for name, _ in scope["headers"])
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def test_a_trailer_is_no_header() -> None:
    """A proxy in front has judged the head; what comes after the body must not count as a part of it."""
    head = BEGUN + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    trailers = b"Authorization: Bearer x\r\nX-Forwarded-For: 1.2.3.4\r\n"
    async with hasty(names_told_back) as (there, _):
        answer = await said(there, [head + b"1\r\na\r\n0\r\n" + trailers + b"\r\n"])
    assert answer.endswith(b"\r\n\r\nhost connection transfer-encoding")


@pytest.mark.parametrize("name", [b"Host", b"authorization", b"Content-Type", b"Origin"])
async def test_what_may_be_said_once_is_refused_twice(port: int, name: bytes) -> None:
    """A proxy may have believed the other one."""
    head = b"GET / HTTP/1.1\r\nConnection: close\r\n" + b"%b: a\r\n%b: a\r\n\r\n" % (name, name.swapcase())
    assert (await said(port, [head])).startswith(b"HTTP/1.1 400 ")


async def test_what_may_be_said_once_is_counted_for_each_request(port: int) -> None:
    first = BEGUN + b"Authorization: Bearer x\r\n"
    answers = await said(port, [first + b"\r\n", first + b"Connection: close\r\n\r\n"])
    assert answers.count(b"HTTP/1.1 200 ") == 2


HASTE = Timeouts(head=0.05, body=0.05, bytes_a_second=10**9, reading=0.05)


@asynccontextmanager
async def hasty(app: Any = told_back, **limits: Any) -> AsyncIterator[tuple[int, Connections]]:
    """A server with short timeouts: its port and its connections."""
    config, state = uvicorn.Config(app, log_config=None, lifespan="off"), ServerState()
    kept = Connections(**{"timeouts": HASTE, **limits})
    loop = asyncio.get_running_loop()
    async with await loop.create_server(lambda: Protocol(config, state, {}, kept=kept), "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1], kept


@pytest.mark.parametrize(
    ("piece", "answer"),
    [
        (b"", b""),
        (b"\r\n", b""),
        (b"POST / HTTP/1.1\r\nHost: here\r\nX-a: ", b"HTTP/1.1 408 "),
        (BEGUN + b"Content-Length: 9\r\n\r\n{", b"HTTP/1.1 408 "),
        (CHUNKED + b"1\r\n{\r\n", b"HTTP/1.1 408 "),
        (b"GET / HTTP/1.1\r\nHost: here\r\n\r\nGET / HT", b"HTTP/1.1 200 "),
    ],
    ids=["nothing", "a line end", "half a head", "half a body", "half of chunks", "half a second head"],
)
async def test_what_is_not_finished_in_time_is_closed(piece: bytes, answer: bytes) -> None:
    async with hasty() as (port, kept):
        said_back = await said(port, [piece])
        assert said_back.startswith(answer)
        assert len(kept) == 0


async def test_a_byte_now_and_then_gives_no_more_time() -> None:
    async with hasty() as (port, kept):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        answered = asyncio.create_task(reader.read())
        writer.write(BEGUN + b"X-a: ")
        with suppress(ConnectionError):
            while not answered.done():
                writer.write(b"a")
                await writer.drain()
                await asyncio.sleep(0)
            assert (await answered).startswith(b"HTTP/1.1 408 ")
        assert len(kept) == 0
        writer.close()


async def test_a_crowd_that_came_at_one_moment_does_not_end_at_one() -> None:
    async with hasty(timeouts=Timeouts(head=60.0)) as (port, kept):
        crowd = [await asyncio.open_connection("127.0.0.1", port) for _ in range(20)]
        for reader, writer in crowd:
            writer.write(b"GET / HTTP/1.1\r\nHost: here\r\n\r\nGET / HT")
            await reader.readuntil(b"\r\n\r\n")
        deadlines = [one._deadline.when() - one._begun for one in kept._open]  # type: ignore[attr-defined]
        for _, writer in crowd:
            writer.close()
    assert len(deadlines) == len(crowd)
    assert max(deadlines) - min(deadlines) > 1.0
    assert all(60.0 <= seconds <= 60.0 * (1 + SPREAD) + 0.001 for seconds in deadlines)


async def test_whoever_takes_nothing_of_the_answer_is_cut_off() -> None:
    gone = asyncio.Event()

    async def endless_answer(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        watching = asyncio.create_task(_disconnected(receive))
        while not watching.done():
            await send({"type": "http.response.body", "body": b"a" * 65536, "more_body": True})
            await asyncio.sleep(0)
        gone.set()

    async with hasty(endless_answer) as (port, kept):
        _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1)
        writer.write(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        async with asyncio.timeout(PATIENCE):
            await gone.wait()
        assert len(kept) == 0
        writer.close()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def test_too_many_connections_push_out_the_oldest_that_waits() -> None:
    async with hasty(most=2) as (port, kept):
        kept.timeouts = Timeouts()
        first, second, third = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        async with asyncio.timeout(PATIENCE):
            with suppress(ConnectionError):
                assert await first[0].read() == b""
            third[1].write(b"GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n")
            assert (await third[0].read()).startswith(b"HTTP/1.1 200 ")
        for _, writer in (first, second, third):
            writer.close()


@pytest.mark.parametrize("protocol", [b"websocket", b"h2c"])
async def test_a_connection_that_asks_for_another_protocol_is_counted_out_at_its_end(protocol: bytes) -> None:
    upgrade = b"Connection: Upgrade\r\nUpgrade: %b\r\nSec-WebSocket-Version: 13\r\n" % protocol
    head = BEGUN + upgrade + b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    async with hasty(most=3) as (port, kept):
        for _ in range(5):
            assert (await said(port, [head])).startswith(b"HTTP/1.1 200 ")
        assert len(kept) == 0


async def test_where_there_is_no_room_a_connection_is_closed_at_once() -> None:
    let, answering = asyncio.Event(), asyncio.Event()

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        answering.set()
        await let.wait()
        await told_back(scope, receive, send)

    async with hasty(slow, most=1) as (port, _):
        first = asyncio.create_task(said(port, [b"GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n"]))
        async with asyncio.timeout(PATIENCE):
            await answering.wait()
            assert await said(port, [b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"]) in (b"", b"closed")
            let.set()
            assert (await first).startswith(b"HTTP/1.1 200 ")
