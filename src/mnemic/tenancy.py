"""One engine for many tenants: each call goes by the rules of its tenant, as they stand in the store.

What an engine was built with is what holds where nothing else is set. Every process reads what is set again after
`LASTS` at the latest, so that a change needs no restart.
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta

from mnemic.engine import MemoryEngine
from mnemic.errors import StoreFailed
from mnemic.maintain.tenants import Tenant, Tenants

LASTS = timedelta(seconds=2)
"""How long a process goes by what it has read."""
TENANTS_KEPT = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a tenant stands: what is set for it, and the engine by its rules."""

    tenant: Tenant | None
    engine: MemoryEngine

    @property
    def suspended(self) -> bool:
        """Whether its credentials are refused."""
        return self.tenant is not None and self.tenant.suspended_at is not None


@dataclass(slots=True)
class Tenancy:
    """The tenants that one process answers for."""

    engine: MemoryEngine
    tenants: Tenants = field(init=False)
    _read: OrderedDict[str, tuple[float, Standing]] = field(default_factory=OrderedDict, init=False)

    def __post_init__(self) -> None:
        self.tenants = Tenants(self.engine.store, self.engine.clock)

    async def of(self, tenant: str) -> Standing:
        """How the tenant stands. While the store does not answer, as it stood before. Raises StoreFailed where that is
        not known.
        """
        now = self.engine.clock.monotonic()
        read_at, before = self._read.get(tenant, (0.0, None))
        if before is not None and now - read_at < LASTS.total_seconds():
            return before
        try:
            standing = await self._look(tenant, before)
        except StoreFailed:
            if before is None:
                raise
            return before
        self._read[tenant] = (now, standing)
        self._read.move_to_end(tenant)
        while len(self._read) > TENANTS_KEPT:
            self._read.popitem(last=False)
        return standing

    def changed(self, tenant: str) -> None:
        """Something was set for the tenant: look again at the next call."""
        self._read.pop(tenant, None)

    async def _look(self, tenant: str, before: Standing | None) -> Standing:
        known = await self.tenants.find(tenant) or await self._noted(tenant)
        if before is not None and before.tenant == known:
            return before
        return Standing(tenant=known, engine=_governed(self.engine, known))

    async def _noted(self, tenant: str) -> Tenant | None:
        """A tenant that a credential names for the first time; where it cannot be kept now, the next look tries."""
        with suppress(StoreFailed):
            await self.tenants.note(tenant)
        return await self.tenants.find(tenant)


def _governed(engine: MemoryEngine, tenant: Tenant | None) -> MemoryEngine:
    """The engine by the rules of the tenant."""
    if tenant is None or tenant.quotas is None:
        return engine
    gateway = engine.gateway
    limits = replace(gateway.limits, quotas=tenant.quotas)
    return engine.under(policy=gateway.policy, grant=gateway.grant, budget=gateway.budget, limits=limits)
