"""HTTP/1.1 of the service: parsed in C, with bounds on size and time before a request is complete.

The parser (llhttp) buffers a line of a header or trailer of any length until it ends. The server (uvicorn) has no
timeout for a header, a body or a slow reader, and its only limit on connections refuses everybody
(`limit_concurrency`). Both are added here; decision 0011 explains why here and not in another server or a proxy.
"""

from __future__ import annotations

import asyncio
import logging
import random
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from mnemic_server.connections import Connections
from mnemic_server.problems import MEDIA_TYPE, Problem
from mnemic_server.service_reason_codes import REQUEST_TIMEOUT

HEAD_BYTES = 64 * 1024
"""Maximum number of bytes of a request's target, headers and trailers together, and of an unterminated line."""
SPREAD = 0.25
"""Share of a timeout by which it is randomly extended. Clients that connected at one moment would otherwise be closed,
and reconnect, at one moment, and their refusals would delay the requests between them.
"""
SAID_ONCE = frozenset({b"authorization", b"content-type", b"host", b"origin"})
"""Headers that security checks depend on. A request that repeats one of them is refused."""


def is_no_upgrade(record: logging.LogRecord) -> bool:
    """Return False for the server's lines about a request to upgrade the protocol: it is answered over HTTP/1.1, and
    anybody could fill the log with them.
    """
    return not record.getMessage().startswith(("Unsupported upgrade request", "No supported WebSocket library"))


class Protocol(HttpToolsProtocol):
    """One connection. A head of more than `HEAD_BYTES` is answered with 400, a head or body that takes too long with
    408, and the connection closed.
    """

    def __init__(self, *arguments: Any, kept: Connections | None = None, **named: Any) -> None:
        super().__init__(*arguments, **named)
        # No route uses WebSocket, and an upgraded connection would be counted for ever.
        self.ws_protocol_class = None
        self.logger.addFilter(is_no_upgrade)
        self._kept = Connections() if kept is None else kept
        self._head = 0
        self._untold = 0
        self._in_body = False
        self._said: set[bytes] = set()
        self._body_bytes = 0
        self._begun = 0.0
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection if there is room for it."""
        super().connection_made(transport)
        if self._kept.note_opened(self, self.client[0] if self.client else ""):
            self._wait()
        else:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timeouts of a closed connection."""
        self._rest()
        self._read_on()
        self._kept.note_closed(self)
        super().connection_lost(exc)

    def cut(self) -> None:
        """Close it at once, without an answer."""
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take received data; refuse it if the request has been incomplete for too long."""
        # Counted here as well as in `_count`: the parser reports a header only once it is complete, so an endless one
        # would never be counted there.
        self._untold += len(data)
        if self._deadline is None and (self.cycle is None or self.cycle.response_complete):
            self._wait()  # line ends before a request are not a request, and must not hold the connection open
        super().data_received(data)
        if self._untold > HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("Request head too large.")

    def on_message_begin(self) -> None:
        """Start the timeout and the counts of a request."""
        self._head = self._untold = self._body_bytes = 0
        self._in_body = False
        self._said.clear()
        self._wait()
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Take a part of the request's address."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header. A trailer, which comes after the body, is counted and dropped: the checks of the header have
        not seen it.
        """
        self._count(len(name) + len(value))
        # A trailer with the name of a header would be read after the checks of the header; none of our routes needs
        # one.
        if self._in_body:
            return
        known = name.lower()
        if known in self._said:
            raise ValueError("said twice")  # answered with 400: a proxy may have believed the other one
        if known in SAID_ONCE:
            self._said.add(known)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start to wait for the body."""
        self._untold = 0
        self._in_body = True
        self._wait()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        self._untold = 0
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Record the end of the body."""
        self._untold = 0
        self._rest()
        self._kept.answering(self)
        super().on_message_complete()
        if self.cycle is None or self.cycle.response_complete:
            self._kept.waiting(self)  # it was refused before it was read

    def on_response_complete(self) -> None:
        """Start to wait for the next request."""
        super().on_response_complete()
        if self._deadline is None:
            self._kept.waiting(self)

    def pause_writing(self) -> None:
        """Start the timeout of a response that the client does not read."""
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(self._kept.timeouts.reading, self.cut)

    def resume_writing(self) -> None:
        """Stop the timeout: the client reads again."""
        super().resume_writing()
        self._read_on()

    def _count(self, size: int) -> None:
        self._untold = 0
        self._head += size
        if self._head > HEAD_BYTES:
            raise ValueError("head too large")  # the parser stops, and the request is answered with 400

    def _wait(self) -> None:
        """Start the timeout for the next data from the client."""
        self._rest()
        self._begun = self.loop.time()
        later = 1.0 + SPREAD * random.random()  # noqa: S311 - it spreads work and guards nothing
        self._deadline = self.loop.call_later(later * self._allowed_seconds(), self._late)

    def _rest(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _read_on(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _allowed_seconds(self) -> float:
        timeouts = self._kept.timeouts
        return timeouts.body + self._body_bytes / timeouts.bytes_a_second if self._in_body else timeouts.head

    def _late(self) -> None:
        """Close the connection at its deadline. Data sent meanwhile extends it, and so does backpressure from the
        service.
        """
        self._deadline = None
        if self.transport.is_closing():
            return
        more = self._begun + self._allowed_seconds() - self.loop.time()
        # The service has stopped reading, so the silence is not the client's fault.
        if self.flow.read_paused:
            more = self._kept.timeouts.head
        if more > 0:
            self._deadline = self.loop.call_later(more, self._late)
        # A part of a request has arrived, so the client gets an answer; an idle connection is just closed.
        elif self._in_body or self._head:
            self._refuse()
        else:
            self.transport.close()

    def _refuse(self) -> None:
        """Answer with 408, unless a response has started already, and close."""
        answered = self.cycle is None or self.cycle.response_complete
        if not self.cycle.response_started if self._in_body else answered:
            status = HTTPStatus.REQUEST_TIMEOUT
            said = Problem(title=status.phrase, status=status.value, reason=REQUEST_TIMEOUT).model_dump_json().encode()
            head = (
                f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-type: {MEDIA_TYPE}\r\n"
                f"content-length: {len(said)}\r\nconnection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + said)
        self.transport.close()
