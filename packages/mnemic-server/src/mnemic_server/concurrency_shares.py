"""Limit on concurrent requests that leaves room for every caller.

A caller gets one more slot while its slots are at most a multiple of the free ones (dynamic thresholds; Choudhury and
Hahne, IEEE/ACM Transactions on Networking 6, 1998): a single caller may use most slots, many callers share them evenly,
and some are always left for the next one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus

from mnemic_server.problems import Refusal
from mnemic_server.service_reason_codes import TOO_MANY_REQUESTS

TENANT = 3.0
"""Multiple for a tenant: alone it gets three quarters of the slots,"""
CALLER = 1.0
"""one credential half of them."""


@dataclass(slots=True, kw_only=True)
class ConcurrencyLimit:
    """Limits concurrent requests to `most`. `reason` is returned, with status 429, to a caller without a slot."""

    most: int
    reason: str = TOO_MANY_REQUESTS
    wait_seconds: int = 1
    _in_use: Counter[tuple[str, ...]] = field(default_factory=Counter)
    _taken: int = 0

    @contextmanager
    def place(self, tenant: str, caller: str) -> Iterator[None]:
        """Occupy one slot inside the block. Refuses with 429."""
        free = self.most - self._taken
        holders = ((tenant,), (tenant, caller))
        if free <= 0 or any(
            self._in_use[holder] > share * free for holder, share in zip(holders, (TENANT, CALLER), strict=True)
        ):
            wait = {"Retry-After": str(self.wait_seconds)}
            raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, self.reason, headers=wait)
        self._taken += 1
        self._in_use.update(holders)
        try:
            yield
        finally:
            self._taken -= 1
            self._in_use.subtract(holders)
            for holder in holders:
                if not self._in_use[holder]:
                    del self._in_use[holder]
