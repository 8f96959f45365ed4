"""HTTP/1.1 as the service speaks it: parsed in C, with a bound on what is read before a request is known.

The parser (llhttp) keeps a line of a head or a trailer until it ends, however long it is.
"""

from __future__ import annotations

from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES = 64 * 1024
"""Of a request's address and headers together, its trailers included; and of a line that does not end."""


class Protocol(HttpToolsProtocol):
    """One connection. A head of more than `HEAD_BYTES` is answered with 400, and the connection closed."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._head = 0
        self._untold = 0

    def data_received(self, data: bytes) -> None:
        """What came in; refused where nothing was told of for too long."""
        self._untold += len(data)
        super().data_received(data)
        if self._untold > HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("Request head too large.")

    def on_message_begin(self) -> None:
        """A request begins."""
        self._head = self._untold = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """A part of its address."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, or a trailer."""
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is read."""
        self._untold = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of the body."""
        self._untold = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """All is read."""
        self._untold = 0
        super().on_message_complete()

    def _count(self, size: int) -> None:
        self._untold = 0
        self._head += size
        if self._head > HEAD_BYTES:
            raise ValueError("head too large")  # the parser stops, and the request is answered with 400
