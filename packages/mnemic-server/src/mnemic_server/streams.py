"""Server-sent events: wire format, limits on their number, and their end.

A stream has no buffer: new lines are read from the audit, which every process appends to and which numbers its lines,
so that a client that was away continues after the last line it saw (`Last-Event-ID`).
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from starlette.responses import StreamingResponse

from mnemic.ports import RecordStore
from mnemic.types import AuditEvent
from mnemic.types.writes import AUDIT_END
from mnemic_server.concurrency_shares import ConcurrencyLimit
from mnemic_server.problems import Refusal
from mnemic_server.service_reason_codes import TOO_MANY_STREAMS

MEDIA_TYPE = "text/event-stream"
PAGE = 200


DESCRIBED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events, until there are no more.",
        "content": {
            MEDIA_TYPE: {
                "schema": {
                    "type": "object",
                    "required": ["event", "data"],
                    "properties": {
                        "id": {"type": "string"},
                        "event": {"type": "string", "enum": ["change", "step", "report", "problem"]},
                        "data": {"type": "string", "contentMediaType": "application/json"},
                    },
                }
            }
        },
    }
}
"""The OpenAPI description of a stream."""


class EventStream(StreamingResponse):
    """A response of server-sent events."""

    media_type = MEDIA_TYPE


@dataclass(slots=True, kw_only=True)
class Streams:
    """Streams of one process: at most `most`, `per_caller` of one credential, and of one tenant never so many that none
    are left for others (`mnemic_server.concurrency_shares`). `stopping` ends them all.

    Every `alive_seconds` the listener's permissions are checked again and a comment is sent: proxies close connections
    that are silent for half a minute.
    """

    most: int = 128
    per_caller: int = 4
    poll_seconds: float = 0.5
    alive_seconds: float = 15.0
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _open: Counter[str] = field(default_factory=Counter)
    _shares: ConcurrencyLimit | None = None

    @contextmanager
    def place(self, caller: str, tenant: str) -> Iterator[None]:
        """One stream of `caller`, while it runs. Refuses with 429 when there are too many."""
        shares = self._shares = self._shares or ConcurrencyLimit(
            most=self.most, reason=TOO_MANY_STREAMS, wait_seconds=5
        )
        if self._open[caller] >= self.per_caller:
            raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, TOO_MANY_STREAMS, headers={"Retry-After": "5"})
        with shares.place(tenant, caller):
            self._open[caller] += 1
            try:
                yield
            finally:
                self._open[caller] -= 1
                self._open += Counter()  # drops callers without a stream

    async def pause(self) -> None:
        """Wait until the next check is due, or the service stops."""
        try:
            async with asyncio.timeout(self.poll_seconds):
                await self.stopping.wait()
        except TimeoutError:
            pass


def encode_event(event: str, data: Any, *, event_id: int | None = None) -> bytes:
    """Return one event in wire format. Encoded JSON contains no line break, so that nothing in `data` can end the
    event.
    """
    number = "" if event_id is None else f"id: {event_id}\n"
    return f"{number}event: {event}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


async def changes(
    store: RecordStore,
    tenant: str,
    shown: Callable[[AuditEvent], dict[str, Any] | None],
    streams: Streams,
    *,
    after: int | None,
    still_allowed: Callable[[], Awaitable[bool]],
) -> AsyncIterator[bytes]:
    """Yield the lines of the tenant's audit that `shown` accepts, starting after `after` (None: from now on), until the
    service stops or the caller loses permission.
    """
    if after is None:
        newest = await store.audit(tenant, before=AUDIT_END, limit=1)
        after = newest[-1].sequence if newest else 0
    # Sent at once, so that the client and proxies see the response begin.
    yield f": from {after}\n\n".encode()
    silent = 0.0
    while True:
        lines = await store.audit(tenant, after=after, limit=PAGE)
        for event in lines:
            after = event.sequence
            fields = shown(event)
            if fields is not None:
                yield encode_event("change", fields, event_id=event.sequence)
        if streams.stopping.is_set():
            return
        # A full page: the client is behind, and the next one follows without a pause.
        if len(lines) == PAGE:
            continue
        await streams.pause()
        silent += streams.poll_seconds
        if silent >= streams.alive_seconds:
            silent = 0.0
            if not await still_allowed():
                return
            # With the id: a client that reconnects need not read lines again that were not shown to it.
            yield f"id: {after}\n: alive\n\n".encode()
