"""Throttle of failed authentication by address, and audit of sign-ins and refusals.

A credential is always checked before its address counts: callers share addresses (a proxy, a company's network), and a
stranger's wrong credentials must not lock out those who have a right one. Nobody guesses 256 random bits, so what the
throttle keeps down is work and audit lines, not the chance of a hit.

A refusal writes at most one audit line a minute for each caller and reason, so that refused requests cannot fill the
audit; the line counts the refusals since the previous one.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TypeVar

from starlette.requests import HTTPConnection

from mnemic.errors import NotSupported, StoreFailed
from mnemic.maintenance.tenant_registry import SERVICE_TENANT
from mnemic.ports import Clock, RecordStore
from mnemic.unit_of_work import Mutation, apply
from mnemic_server.connections import place_of
from mnemic_server.credentials import Principal
from mnemic_server.problems import Refusal
from mnemic_server.service_reason_codes import TOO_MANY_FAILURES

K = TypeVar("K")
V = TypeVar("V")
CALLER = "caller"
"""The name in a request's `state` of its credential's id, which is neither secret nor a person's name."""
BURST, PER_SECOND = 30, 0.5
"""Wrong credentials of one address: so many at once, and then one every two seconds."""
# Bounds the memory that an attack from many addresses can take; the oldest entries go first.
MOST = 10_000
LINE_SECONDS = 60.0
STRANGER = "unknown"


@dataclass(slots=True, kw_only=True)
class RefusedLogins:
    """Record of the refused callers that one process has seen; the lines it writes are in the store's audit."""

    store: RecordStore
    clock: Clock
    _levels: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)
    _logged_at: OrderedDict[tuple[str, ...], float] = field(default_factory=OrderedDict)
    _unlogged: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def right(self, request: HTTPConnection, principal: Principal) -> None:
        """Note who calls."""
        request.scope.setdefault("state", {})[CALLER] = principal.key_id

    async def wrong(self, request: HTTPConnection) -> None:
        """Count an invalid credential; refuse with 429 an address that has presented too many."""
        now, address = self.clock.monotonic(), address_of(request)
        level = self._level(address, now)
        if level < 1.0:
            wait = {"Retry-After": str(int((1.0 - level) / PER_SECOND) + 1)}
            raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, TOO_MANY_FAILURES, headers=wait)
        _put(self._levels, address, (level - 1.0, now))
        await self._line(SERVICE_TENANT, "authentication_failed", STRANGER, {"address": address})

    async def note_refused(self, request: HTTPConnection, principal: Principal, reason: str) -> None:
        """Record that a known caller made a request that is not permitted."""
        detail = {"reason": reason, "address": address_of(request), "key_id": principal.key_id}
        await self._line(principal.tenant, "refused", principal.actor.user, detail)

    async def note_signed(self, request: HTTPConnection, principal: Principal, action: str) -> None:
        """Record that a user has signed in, or out."""
        detail = {"address": address_of(request), "key_id": principal.key_id}
        await self._write(principal.tenant, action, principal.actor.user, {**detail})

    def _level(self, address: str, now: float) -> float:
        # A token bucket, refilled when it is read: no timer, and addresses that are not seen cost nothing.
        level, at = self._levels.get(address, (float(BURST), now))
        return min(float(BURST), level + (now - at) * PER_SECOND)

    async def _line(self, tenant: str, action: str, actor: str, detail: dict[str, str]) -> None:
        """Log the first of a minute; the next line counts the others."""
        place, now = (tenant, action, actor, *sorted(detail.values())), self.clock.monotonic()
        self._unlogged[place] += 1
        # At most a line a minute for each reason and caller: the audit must not be filled by refused requests.
        if now - self._logged_at.get(place, -LINE_SECONDS) < LINE_SECONDS:
            return
        times = self._unlogged.pop(place)
        _put(self._logged_at, place, now)
        # Bounded memory is worth more than exact counts of a distributed attack.
        if len(self._unlogged) > MOST:
            self._unlogged.clear()
        await self._write(tenant, action, actor, {**detail, "times": times})

    async def _write(self, tenant: str, action: str, actor: str, detail: dict[str, str | int]) -> None:
        line = Mutation(tenant=tenant, action=action, actor=actor, at=self.clock.now(), detail=detail)
        with suppress(StoreFailed, NotSupported):  # the refusal stands even if it cannot be recorded
            await apply(self.store, line)


def address_of(request: HTTPConnection) -> str:
    """Return the address that a request comes from, according to the trusted proxies."""
    return place_of(request.client.host) if request.client else ""


def _put(kept: OrderedDict[K, V], name: K, value: V) -> None:
    kept[name] = value
    kept.move_to_end(name)
    while len(kept) > MOST:
        kept.popitem(last=False)
