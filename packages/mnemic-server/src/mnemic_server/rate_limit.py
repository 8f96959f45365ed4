"""Rate limits of the service: a token bucket for each caller, and one for all callers of a tenant. The users of one
application's tokens are a caller each.

The settings are `requests_per_second` and `tenant_requests_per_second` of `service_settings`; `access` charges each
request and refuses with 429. Limits of size, depth and concurrency are in `request_limits`.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from mnemic.ports import Clock
from mnemic_server.credentials import Principal

PER_SECOND, BURST = 50.0, 100
"""Calls a second of one caller, and calls at once, unless the settings say otherwise."""
TENANT_PER_SECOND = 500.0
"""Calls a second of all callers of a tenant together, unless the settings say otherwise."""


@dataclass(slots=True)
class RateLimit:
    """Token bucket for each caller: `per_second` calls, up to `burst` at once. Tracks at most `callers` of them.

    A call may cost several tokens. It is admitted as soon as one is left; the debt delays the calls after it.
    """

    clock: Clock
    per_second: float = PER_SECOND
    burst: int = BURST
    callers: int = 10_000
    _levels: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def wait_for(self, caller: str, *, calls: float = 1.0) -> float:
        """Take that many calls and return 0, or return the seconds to wait."""
        now = self.clock.monotonic()
        level, at = self._levels.pop(caller, (float(self.burst), now))
        level = min(float(self.burst), level + (now - at) * self.per_second)
        taken = calls if level >= 1.0 else 0.0
        self._levels[caller] = (level - taken, now)
        while len(self._levels) > self.callers:
            self._levels.popitem(last=False)
        return 0.0 if taken else (1.0 - level) / self.per_second

    def calls_left(self, caller: str) -> float:
        """Return the number of calls that `caller` has left now."""
        level, at = self._levels.get(caller, (float(self.burst), 0.0))
        return min(float(self.burst), level + (self.clock.monotonic() - at) * self.per_second)


def wait_within_tenant(rate: RateLimit, principal: Principal, calls: float) -> float:
    """Charge calls to the tenant's rate, of which one caller never gets more than remains (`concurrency_shares`): one
    that is faster than its tenant's rate leaves half of the burst to the others. Returns the seconds to
    wait, or 0.
    """
    own = f"{principal.tenant}\x1f{principal.caller}"
    if rate.burst - rate.calls_left(own) > rate.calls_left(principal.tenant):
        return 1.0 / rate.per_second
    wait = rate.wait_for(principal.tenant, calls=calls)
    if not wait:
        rate.wait_for(own, calls=calls)
    return wait
