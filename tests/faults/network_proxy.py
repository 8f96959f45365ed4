"""Fault-injecting proxy to a server: latency, black holes, resets, fragmentation, corruption, switched while in use.

    async with FaultProxy(("127.0.0.1", 6379)) as proxy:
        client = connect(*proxy.address)
        proxy.fault = BlackHole()       # from here on, for open and for new connections
        ...
        proxy.fault = None              # healed: what was swallowed stays lost

Loopback or Unix sockets only; the proxy stores none of the bytes.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

Address = tuple[str, int] | Path
"""A host and a port, or the path of a Unix socket."""

Send = Callable[[bytes], Awaitable[None]]

_CHUNK = 65536
_AT_ONCE = struct.pack("ii", 1, 0)
"""SO_LINGER with no time: closing sends a reset."""


class Fault(Protocol):
    """Fault applied to the bytes of a connection."""

    async def carry(self, data: bytes, send: Send, *, answer: bool) -> None:
        """Forward `data` with `send`, or drop it. `answer`: it comes from the server. Raising ConnectionError breaks
        the connection on both sides. A new connection is announced by an empty request.
        """


@dataclass(frozen=True, slots=True)
class Latency:
    """Latency of `seconds` in each direction, and for the connection itself."""

    seconds: float
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def carry(self, data: bytes, send: Send, *, answer: bool) -> None:
        """Forward the bytes after the delay."""
        await self.sleep(self.seconds)
        await send(data)


@dataclass(frozen=True, slots=True)
class BlackHole:
    """Connections are accepted, and nothing ever arrives."""

    async def carry(self, data: bytes, send: Send, *, answer: bool) -> None:
        """Drop the bytes."""


@dataclass(frozen=True, slots=True)
class Reset:
    """Every connection is reset at its next byte, a new one at once."""

    async def carry(self, data: bytes, send: Send, *, answer: bool) -> None:
        """Break the connection."""
        raise ConnectionResetError


@dataclass(frozen=True, slots=True)
class Slice:
    """Fragmentation into pieces of `octets` bytes."""

    octets: int = 1

    async def carry(self, data: bytes, send: Send, *, answer: bool) -> None:
        """Forward the bytes in pieces."""
        for start in range(0, len(data), self.octets):
            await send(data[start : start + self.octets])
            await asyncio.sleep(0)


class Corrupt:
    """Corruption of a `share` of the bytes of every response, at least one. Requests arrive unchanged, because without
    a checksum a corrupted request may look valid.
    """

    def __init__(self, share: float = 0.05, *, seed: int = 0) -> None:
        self._share = share
        self._choice = random.Random(seed)

    async def carry(self, data: bytes, send: Send, *, answer: bool) -> None:
        """Forward the bytes, corrupted if they are a response."""
        if answer and data:
            damaged = bytearray(data)
            for place in self._choice.sample(range(len(data)), max(1, int(self._share * len(data)))):
                damaged[place] ^= self._choice.randrange(1, 256)
            data = bytes(damaged)
        await send(data)


class CutAfter:
    """Connections break once the server has sent `octets` more bytes, counted across all connections."""

    def __init__(self, octets: int) -> None:
        self._left = octets

    async def carry(self, data: bytes, send: Send, *, answer: bool) -> None:
        """Forward the rest of the allowance, then break the connection."""
        if not answer:
            await send(data)
            return
        allowed, self._left = data[: self._left], max(0, self._left - len(data))
        await send(allowed)
        if len(allowed) < len(data):
            raise ConnectionResetError


class CutBeforeAnswer:
    """The first request with `mark` in it arrives, and is answered; the answer is lost with the connection."""

    def __init__(self, mark: bytes) -> None:
        self._mark = mark
        self._waiting = False

    async def carry(self, data: bytes, send: Send, *, answer: bool) -> None:
        """Forward everything except the one response."""
        if answer and self._waiting:
            raise ConnectionResetError
        self._waiting = self._waiting or (not answer and self._mark in data)
        await send(data)


class FaultProxy:
    """Forwards bytes between clients and the server at `server` with the current `fault`; None forwards them unchanged.

    It listens on a free port of the loopback, or on the Unix socket `listen`, from `__aenter__` to `__aexit__`.
    `accepted` counts the connections.
    """

    def __init__(self, server: Address, *, listen: Path | None = None) -> None:
        self.fault: Fault | None = None
        self.accepted = 0
        self._server = server
        self._listen = listen
        self._listening: asyncio.Server | None = None
        self._lines: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def address(self) -> tuple[str, int]:
        """Address for clients of a proxy on a port."""
        assert self._listening is not None
        host, port = self._listening.sockets[0].getsockname()[:2]
        return host, port

    async def __aenter__(self) -> Self:
        if self._listen is None:
            self._listening = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        else:
            self._listening = await asyncio.start_unix_server(self._accept, self._listen)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._listening is not None
        self._listening.close()
        lines = list(self._lines)
        for line in lines:
            line.cancel()
        await asyncio.gather(*lines, return_exceptions=True)
        self.cut()

    def cut(self) -> None:
        """Reset every open connection."""
        for writer in list(self._writers):
            _reset(writer)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        line = asyncio.current_task()
        assert line is not None
        self._lines.add(line)
        self._writers.add(writer)
        try:
            await self._serve(reader, writer)
        except asyncio.CancelledError:
            _reset(writer)
        finally:
            self._writers.discard(writer)
            self._lines.discard(line)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far: asyncio.StreamWriter | None = None
        try:
            if self.fault is not None:
                await self.fault.carry(b"", _sends(writer), answer=False)
            far_reader, far = await _connect_server(self._server)
            self._writers.add(far)
            async with asyncio.TaskGroup() as ways:
                ways.create_task(self._carry(reader, far, answer=False))
                ways.create_task(self._carry(far_reader, writer, answer=True))
        except* OSError:
            _reset(writer)
        finally:
            if far is not None:
                self._writers.discard(far)
                far.close()
            writer.close()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, answer: bool) -> None:
        send = _sends(writer)
        while data := await reader.read(_CHUNK):
            if self.fault is None:
                await send(data)
            else:
                await self.fault.carry(data, send, answer=answer)
        raise ConnectionResetError  # one side has closed; so does the other


def _sends(writer: asyncio.StreamWriter) -> Send:
    async def send(data: bytes) -> None:
        if data:
            writer.write(data)
            await writer.drain()

    return send


async def _connect_server(server: Address) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if isinstance(server, Path):
        return await asyncio.open_unix_connection(server)
    return await asyncio.open_connection(*server)


def _reset(writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
    writer.transport.abort()
