"""Content of the service's log of requests."""

from __future__ import annotations

import logging
from http import HTTPStatus

from mnemic_server.observability import Observation
from mnemic_server.request_limits import OPEN_ENDED

_DENIED = (401, 403)
_log = logging.getLogger("mnemic.service")


class RequestLog:
    """A line for each request that failed, was refused for lack of a credential or a right, or took at least `slow_ms`;
    for every one with `all_of_them`. A stream does not count as slow; nor does a request that never arrived completely:
    its sender took the time, and could fill the log.
    """

    def __init__(self, *, slow_ms: float, all_of_them: bool) -> None:
        self._slow_ms = slow_ms
        self._all = all_of_them

    def began(self, traceparent: str | None = None) -> None:
        """Log nothing before the request has ended."""

    def on_end(self, seen: Observation) -> None:
        """Log the request, if it is worth a line."""
        timely = seen.route in OPEN_ENDED or seen.status == HTTPStatus.REQUEST_TIMEOUT
        slow = seen.seconds * 1000 >= self._slow_ms and not timely
        if not (slow or self._all or seen.status >= 500 or seen.status in _DENIED):
            return
        fields = {
            "method": seen.method,
            "route": seen.route,
            "status": seen.status,
            "ms": round(seen.seconds * 1000, 1),
            "caller": seen.caller,
            "address": seen.address,
        }
        level = logging.WARNING if slow or seen.status >= 500 else logging.INFO
        _log.log(level, "slow request" if slow else "request", extra=fields)
