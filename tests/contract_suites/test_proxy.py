"""Effects of a fault proxy on the bytes that pass it, and their end on request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.faults.network_proxy import (
    BlackHole,
    Corrupt,
    CutAfter,
    CutBeforeAnswer,
    Fault,
    FaultProxy,
    Latency,
    Reset,
    Send,
    Slice,
)

HUNG = 30  # seconds after which a test that waits for bytes has failed


class Echo:
    """A server that answers every line with the same line, and records the received lines."""

    def __init__(self) -> None:
        self.heard = b""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            self.heard += line
            writer.write(line)
            await writer.drain()
        writer.close()


@pytest.fixture
def echo() -> Echo:
    return Echo()


@pytest_asyncio.fixture
async def proxy(echo: Echo) -> AsyncIterator[FaultProxy]:
    server = await asyncio.start_server(echo.serve, "127.0.0.1", 0)
    async with FaultProxy(server.sockets[0].getsockname()[:2]) as proxy:
        yield proxy
    server.close()


class Client:
    """Its connections break when it is thrown away."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def of(cls, proxy: FaultProxy) -> Client:
        return cls(*await asyncio.open_connection(*proxy.address))

    def __del__(self) -> None:
        self.writer.transport.abort()

    async def asks(self, line: bytes) -> bytes:
        """Return the answer; b"" if the connection broke."""
        try:
            self.writer.write(line)
            async with asyncio.timeout(HUNG):
                return await self.reader.read(65536)
        except ConnectionError:
            return b""


async def test_without_a_fault_everything_passes(proxy: FaultProxy) -> None:
    client = await Client.of(proxy)
    assert await client.asks(b"hello\n") == b"hello\n"
    assert proxy.accepted == 1


async def test_what_is_late_arrives_after_the_wait(proxy: FaultProxy) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    client = await Client.of(proxy)
    proxy.fault = Latency(0.2, sleep)
    assert await client.asks(b"hello\n") == b"hello\n"
    assert waited == [0.2, 0.2]


class Watched:
    """A black hole that can be waited for."""

    def __init__(self) -> None:
        self.swallowed: asyncio.Queue[bytes] = asyncio.Queue()

    async def carry(self, data: bytes, send: Send, *, answer: bool) -> None:
        await BlackHole().carry(data, send, answer=answer)
        self.swallowed.put_nowait(data)


async def test_a_black_hole_swallows_until_it_is_healed(proxy: FaultProxy, echo: Echo) -> None:
    client = await Client.of(proxy)
    assert await client.asks(b"before\n") == b"before\n"
    hole = proxy.fault = Watched()
    client.writer.write(b"lost\n")
    assert await hole.swallowed.get() == b"lost\n"
    other = await Client.of(proxy)
    assert await hole.swallowed.get() == b""
    assert echo.heard == b"before\n"
    proxy.fault = None
    assert await other.asks(b"after\n") == b"after\n"
    assert echo.heard == b"before\nafter\n"


@pytest.mark.parametrize("fault", [Reset(), CutAfter(0), CutBeforeAnswer(b"hello")])
async def test_a_broken_connection_ends_for_the_client(proxy: FaultProxy, echo: Echo, fault: Fault) -> None:
    client = await Client.of(proxy)
    assert await client.asks(b"before\n") == b"before\n"
    proxy.fault = fault
    assert await client.asks(b"hello\n") == b""
    assert (b"hello\n" in echo.heard) is not isinstance(fault, Reset)


async def test_a_reset_meets_new_connections_too(proxy: FaultProxy, echo: Echo) -> None:
    proxy.fault = Reset()
    assert await (await Client.of(proxy)).asks(b"hello\n") == b""
    assert echo.heard == b""


async def test_a_cut_comes_in_the_middle_of_an_answer(proxy: FaultProxy) -> None:
    proxy.fault = CutAfter(3)
    client = await Client.of(proxy)
    client.writer.write(b"hello\n")
    with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
        await client.reader.readexactly(6)


async def test_pieces_arrive_whole(proxy: FaultProxy, echo: Echo) -> None:
    proxy.fault = Slice()
    client = await Client.of(proxy)
    client.writer.write(b"hello\n")
    async with asyncio.timeout(HUNG):
        assert await client.reader.readexactly(6) == b"hello\n"


async def test_answers_are_damaged_and_requests_are_not(proxy: FaultProxy, echo: Echo) -> None:
    proxy.fault = Corrupt(0.1)
    answer = await (await Client.of(proxy)).asks(b"a line of some length\n")
    assert echo.heard == b"a line of some length\n"
    assert len(answer) == len(echo.heard)
    assert sum(one != two for one, two in zip(answer, echo.heard, strict=True)) == 2


async def test_all_connections_can_be_cut_at_once(proxy: FaultProxy) -> None:
    clients = [await Client.of(proxy) for _ in range(3)]
    for client in clients:
        assert await client.asks(b"hello\n") == b"hello\n"
    proxy.cut()
    assert [await client.asks(b"more\n") for client in clients] == [b"", b"", b""]
    assert await (await Client.of(proxy)).asks(b"again\n") == b"again\n"


async def test_a_server_that_is_not_there_breaks_the_connection(tmp_path: Path) -> None:
    async with FaultProxy(tmp_path / "nobody") as proxy:
        assert await (await Client.of(proxy)).asks(b"hello\n") == b""


async def test_unix_sockets_on_both_sides(echo: Echo, tmp_path: Path) -> None:
    server = await asyncio.start_unix_server(echo.serve, tmp_path / "server")
    async with FaultProxy(tmp_path / "server", listen=tmp_path / "proxy"):
        client = Client(*await asyncio.open_unix_connection(tmp_path / "proxy"))
        assert await client.asks(b"hello\n") == b"hello\n"
    server.close()
    with pytest.raises((ConnectionError, FileNotFoundError)):
        await asyncio.open_unix_connection(tmp_path / "proxy")
