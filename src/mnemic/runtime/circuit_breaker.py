"""Circuit breaker: a server that does not answer is not asked again for a while, so that callers do not wait for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta

FAILURES = 3
REST = timedelta(seconds=15)


class CircuitBreaker:
    """State of the calls to one server.

    The circuit opens after `failures` calls in a row without an answer, and calls fail at once. After `rest` one call
    is let through (half open): its answer closes the circuit, its failure opens it again (Nygard, "Release It!", 2nd
    edition, 2018, chapter 5). A refusal is an answer.
    """

    def __init__(
        self, monotonic: Callable[[], float] = time.monotonic, *, failures: int = FAILURES, rest: timedelta = REST
    ) -> None:
        self._now = monotonic
        self._most = failures
        self._rest = rest.total_seconds()
        self._failed = 0
        self._tried_at = 0.0

    def allows(self) -> bool:
        """Return True if a call may be made now; the first one after a rest is the trial."""
        if not self.is_open:
            return True
        now = self._now()
        if now - self._tried_at < self._rest:
            return False
        # Claimed before the call: concurrent callers during the trial are refused.
        self._tried_at = now
        return True

    @property
    def is_open(self) -> bool:
        """Return True if the last calls were not answered; an allowed call is a trial then."""
        return self._failed >= self._most

    def count_timeout(self, *, opens: bool = False) -> None:
        """Count a timeout. With `opens` one is enough to open the circuit."""
        # With `opens` the call had its full time: two more callers need not wait as long to learn the same.
        self._failed = max(self._failed + 1, self._most if opens else 0)
        # The rest starts with the failure, not with the call that failed.
        self._tried_at = self._now()

    def close_circuit(self) -> None:
        """Close the circuit."""
        self._failed = 0
