"""Places for requests, of which nobody can take all.

Each holder gets one more while what it holds is at most a multiple of what is free (dynamic thresholds; Choudhury and
Hahne, IEEE/ACM Transactions on Networking 6, 1998): alone one may use most of the places, many share them evenly, and
some are always left for whoever comes next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus

from mnemic_server.problems import Refused
from mnemic_server.service_reason_codes import TOO_MANY_REQUESTS

TENANT = 3.0
"""A tenant alone may hold three quarters of the places,"""
CALLER = 1.0
"""one credential half of them."""


@dataclass(slots=True, kw_only=True)
class Shares:
    """`most` places. `reason` is the answer, with status 429, to a caller without a place."""

    most: int
    reason: str = TOO_MANY_REQUESTS
    wait_seconds: int = 1
    _held: Counter[tuple[str, ...]] = field(default_factory=Counter)
    _taken: int = 0

    @contextmanager
    def place(self, tenant: str, caller: str) -> Iterator[None]:
        """One place, for as long as it is used. Refuses with 429."""
        free = self.most - self._taken
        holders = ((tenant,), (tenant, caller))
        if free <= 0 or any(
            self._held[holder] > share * free for holder, share in zip(holders, (TENANT, CALLER), strict=True)
        ):
            wait = {"Retry-After": str(self.wait_seconds)}
            raise Refused(HTTPStatus.TOO_MANY_REQUESTS, self.reason, headers=wait)
        self._taken += 1
        self._held.update(holders)
        try:
            yield
        finally:
            self._taken -= 1
            self._held.subtract(holders)
            for holder in holders:
                if not self._held[holder]:
                    del self._held[holder]
