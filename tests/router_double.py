"""A test double of a router before several PostgreSQL servers. It is no product and knows no SQL: a tenant that is
announced picks the server of the next transaction, and bytes pass through.

It is as strict as the strictest of the real ones: it takes no start-up settings, no savepoints and no statement whose
tenant it does not know. After each transaction it forgets the tenant, and gives the connection to the next client.
"""

from __future__ import annotations

import asyncio
import itertools
import re
import struct
import tempfile
import threading
import zlib
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from urllib.parse import quote

ANNOUNCEMENT = "SET double.tenant TO {tenant}"
SOCKET = ".s.PGSQL.5432"
_ANNOUNCED = re.compile(rb"SET double\.tenant TO '([^']*)'")
_STARTED = {b"user", b"database", b"client_encoding"}
_SSL, _CANCEL = 80877103, 80877102
_READY, _IDLE = b"Z", b"I"
_CLIENTS = itertools.count()


async def _message(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """The next message: its kind and what it says."""
    head = await reader.readexactly(5)
    return head[:1], await reader.readexactly(struct.unpack("!I", head[1:])[0] - 4)


def _framed(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!I", len(body) + 4) + body


def _refusal(state: str, said: str) -> bytes:
    body = b"".join(key + text.encode() + b"\0" for key, text in ((b"S", "ERROR"), (b"C", state), (b"M", said)))
    return _framed(b"E", body + b"\0")


class _Upstream:
    """A connection to a server, which one client after the other is given."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.statements: set[bytes] = set()
        self.parses: deque[bool] = deque()
        self.greeting = b""
        self.key = b""

    async def start(self, body: bytes) -> None:
        self.writer.write(struct.pack("!I", len(body) + 4) + body)
        while True:
            kind, said = await _message(self.reader)
            if kind == b"E":
                raise ConnectionError(said)
            if kind == _READY:
                return
            if kind == b"K":
                self.key = said
            else:
                self.greeting += _framed(kind, said)


class RouterDouble:
    """Listens on a socket in a folder of its own, in a thread of its own, from `start` to `stop`. A tenant lives on the
    server that `homes` names, else on one by its hash.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="mnemic-router-"))
        self.homes: dict[str, int] = {}
        self.refused: list[str] = []
        self.away = "08006"
        """Code of the error that tells of a server that is away; every router has its own."""
        self.short_answers = False
        """If set, calls after the loss of a server get answers without their end, as PgDog 0.1.17 gives them."""
        self._folders = folders
        self._idle: dict[tuple[int, bytes], list[_Upstream]] = {}
        self.clients: dict[bytes, _Client] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncio.Server | None = None

    def dsn(self, database: str = "postgres", user: str = "postgres") -> str:
        """The address of a database behind it."""
        return f"postgresql://{user}@/{database}?host={quote(str(self.folder))}"

    def home(self, tenant: str) -> int:
        """The server on which the tenant lives."""
        return self.homes.get(tenant, zlib.crc32(tenant.encode()) % len(self._folders))

    def start(self) -> None:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(30)

    def stop(self) -> None:
        if self._thread.is_alive():
            asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(30)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(30)
        self._loop.close()
        rmtree(self.folder, ignore_errors=True)

    def forget(self) -> None:
        """Let go of the connections to the servers that nobody uses, as their databases are about to go."""
        asyncio.run_coroutine_threadsafe(self._let_go(), self._loop).result(30)

    async def _listen(self) -> None:
        self._server = await asyncio.start_unix_server(self._serve, self.folder / SOCKET)

    async def _end(self) -> None:
        assert self._server is not None
        self._server.close()
        await self._let_go()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _let_go(self) -> None:
        for idle in self._idle.values():
            for upstream in idle:
                upstream.writer.close()
        self._idle.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError, OSError):
            await _Client(self, reader, writer).run()
        writer.close()

    async def upstream(self, number: int, startup: bytes) -> _Upstream:
        """A connection to a server that nobody else uses. Raises OSError."""
        idle = self._idle.get((number, startup), [])
        while idle:
            upstream = idle.pop()
            if not upstream.reader.at_eof() and not upstream.writer.is_closing():
                return upstream
            upstream.writer.close()
        upstream = _Upstream(*await asyncio.open_unix_connection(self._folders[number] / SOCKET))
        try:
            await upstream.start(startup)
        except (OSError, EOFError):
            upstream.writer.close()
            raise
        return upstream

    def give_back(self, number: int, startup: bytes, upstream: _Upstream) -> None:
        """Let the next client have a connection."""
        self._idle.setdefault((number, startup), []).append(upstream)

    async def cancel(self, key: bytes) -> None:
        """Hand a request to cancel on to the server that works for the client."""
        client = self.clients.get(key)
        if client is not None and client.up is not None:
            _, writer = await asyncio.open_unix_connection(self._folders[client.number] / SOCKET)
            writer.write(struct.pack("!II", 16, _CANCEL) + client.up.key)
            await writer.drain()
            writer.close()


class _Client:
    """One connection of a client."""

    def __init__(self, router: RouterDouble, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._router, self._reader, self._writer = router, reader, writer
        self._id = next(_CLIENTS)
        self._startup = b""
        self._tenant: str | None = None
        self._statements: dict[bytes, tuple[bytes, bytes]] = {}
        self._back: asyncio.Task[None] | None = None
        self._short = False
        self.up: _Upstream | None = None
        self.number = 0

    async def run(self) -> None:
        key = await self._greeted()
        if key is None:
            return
        self._router.clients[key] = self
        try:
            while True:
                kind, said = await _message(self._reader)
                if kind == b"X":
                    return
                await self._handle(kind, said)
        finally:
            del self._router.clients[key]
            if self._back is not None:
                self._back.cancel()
            if self.up is not None:
                self.up.writer.close()

    async def _greeted(self) -> bytes | None:
        while True:
            (size,) = struct.unpack("!I", await self._reader.readexactly(4))
            body = await self._reader.readexactly(size - 4)
            (code,) = struct.unpack("!I", body[:4])
            if code == _SSL:
                self._writer.write(b"N")
            elif code == _CANCEL:
                await self._router.cancel(body[4:])
                return None
            else:
                break
        given = body[4:].split(b"\0")
        if more := set(given[:-2:2]) - _STARTED - {b""}:
            self._refuse("0A000", f"start-up settings: {sorted(more)}")
            return None
        self._startup = body
        for number in range(len(self._router._folders)):
            with suppress(OSError, EOFError):
                upstream = await self._router.upstream(number, body)
                self._router.give_back(number, body, upstream)
                key = struct.pack("!II", self._id, 7)
                self._writer.write(upstream.greeting + _framed(b"K", key) + _framed(_READY, _IDLE))
                return key
        self._refuse("08006", "no server answers")
        return None

    async def _handle(self, kind: bytes, said: bytes) -> None:
        if self._short:
            self._short = kind != b"Q"
            if kind in (b"Q", b"S"):
                self._writer.write(_framed(_READY, _IDLE))
            return
        if self.up is None and kind == b"Q":
            if found := _ANNOUNCED.match(said):
                self._tenant = found[1].decode()
                self._writer.write(_framed(b"C", b"SET\0") + _framed(_READY, _IDLE))
                return
            if not await self._attached():
                self._writer.write(_framed(_READY, _IDLE))
                return
        if self.up is None and not await self._attached():
            await self._skipped(kind)
            return
        if kind == b"Q" and b"SAVEPOINT" in said.upper():
            self._refuse("0A000", "savepoints")
            self._writer.write(_framed(_READY, b"T"))
            return
        assert self.up is not None
        self.up.writer.write(self._renamed(self.up, kind, said))
        await self.up.writer.drain()

    async def _attached(self) -> bool:
        """Get a connection to the server of the tenant that was announced; say so where there is none."""
        if self._tenant is None:
            self._refuse("0A000", "a statement without a tenant")
            return False
        self.number = self._router.home(self._tenant)
        try:
            self.up = await self._router.upstream(self.number, self._startup)
        except (OSError, EOFError):
            self._tenant = None
            self._refuse(self._router.away, "the server does not answer", noted=False)
            return False
        self._back = asyncio.create_task(self._answers(self.up))
        return True

    async def _skipped(self, kind: bytes) -> None:
        """Read on to the end of what the client sent at once, as a server does after an error."""
        while kind not in (b"S", b"X"):
            if kind == b"H":
                return
            kind, _ = await _message(self._reader)
        self._writer.write(_framed(_READY, _IDLE))

    def _renamed(self, up: _Upstream, kind: bytes, said: bytes) -> bytes:
        """The message with the statement's name as it is on the servers, after the statement itself if it is new to
        this one.
        """
        if kind == b"P":
            name, rest = said.split(b"\0", 1)
            # Nobody else has the name, and this client gives each name once.
            shared = b"%d_%s" % (self._id, name) if name else b""
            message = _framed(b"P", shared + b"\0" + rest)
            self._statements[name] = shared, message
            up.statements.add(shared)
            up.parses.append(False)
            return message
        if kind == b"B":
            portal, name, rest = said.split(b"\0", 2)
            return self._again(up, name) + _framed(b"B", portal + b"\0" + self._shared(name) + b"\0" + rest)
        if kind == b"D" and said[:1] == b"S":
            name = said[1:-1]
            return self._again(up, name) + _framed(b"D", b"S" + self._shared(name) + b"\0")
        if kind == b"C" and said[:1] == b"S":
            return _framed(b"C", b"Snone\0")
        return _framed(kind, said)

    def _shared(self, name: bytes) -> bytes:
        return self._statements[name][0] if name in self._statements else name

    def _again(self, up: _Upstream, name: bytes) -> bytes:
        shared, message = self._statements.get(name, (name, b""))
        if not shared or shared in up.statements:
            return b""
        up.statements.add(shared)
        up.parses.append(True)
        return message

    async def _answers(self, up: _Upstream) -> None:
        """Pass on what the server answers, until the transaction is over."""
        try:
            while True:
                kind, said = await _message(up.reader)
                if kind == b"1" and up.parses and up.parses.popleft():
                    continue
                if kind == _READY:
                    up.parses.clear()
                    if said == _IDLE:
                        self.up, self._tenant = None, None
                        self._router.give_back(self.number, self._startup, up)
                        self._writer.write(_framed(kind, said))
                        return
                self._writer.write(_framed(kind, said))
                await self._writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, OSError):
            up.writer.close()
            self._refuse("08006", "the server is gone", noted=False)
            if not self._router.short_answers:
                self._writer.close()
                return
            self.up, self._tenant, self._short = None, None, True
            self._writer.write(_framed(_READY, b"E"))

    def _refuse(self, state: str, said: str, *, noted: bool = True) -> None:
        if noted:
            self._router.refused.append(said)
        self._writer.write(_refusal(state, said))
