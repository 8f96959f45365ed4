"""One engine for many tenants: each call applies the current rules of its tenant from the store.

The rules that the engine was built with are the defaults. Every process reads the rules again after `LASTS` at the
latest, so that a change needs no restart.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidConfig, StoreFailed
from mnemic.maintenance.tenant_registry import Policies, PolicyVersion, Tenant, Tenants, quota_of
from mnemic.policy.policy_file import PolicyBundle, policy_bundle_data, read_policy_bundle

LASTS = timedelta(seconds=2)
"""Time for which a process uses the settings that it has read."""
TENANTS_KEPT = 10_000
BUILT_WITH = frozenset({"redaction", "entities", "judged"})
"""Parts of a policy file that a process needs models and keys for: they are the settings' alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantState:
    """A tenant's resolved configuration: its settings, its active policy, and the engine bound to these rules."""

    tenant: Tenant | None
    policy: PolicyVersion | None
    engine: MemoryEngine

    @property
    def suspended(self) -> bool:
        """True if its credentials are refused."""
        return self.tenant is not None and self.tenant.suspended_at is not None


@dataclass(slots=True)
class Tenancy:
    """The tenants that one process answers for."""

    engine: MemoryEngine
    tenants: Tenants = field(init=False)
    policies: Policies = field(init=False)
    _read: OrderedDict[str, tuple[float, TenantState]] = field(default_factory=OrderedDict, init=False)

    def __post_init__(self) -> None:
        self.tenants = Tenants(self.engine.store, self.engine.clock)
        self.policies = Policies(self.engine.store, self.engine.clock)

    async def tenant_state(self, tenant: str) -> TenantState:
        """Return the state of the tenant. While the store does not answer, return the previous state. Raises
        StoreFailed if that is not known.
        """
        now = self.engine.clock.monotonic()
        read_at, before = self._read.get(tenant, (0.0, None))
        # Two seconds: short enough for a suspension, long enough to save two reads on every request.
        if before is not None and now - read_at < LASTS.total_seconds():
            return before
        try:
            state = await self._look(tenant, before)
        except StoreFailed:
            if before is None:
                raise
            return before
        self._read[tenant] = (now, state)
        self._read.move_to_end(tenant)
        while len(self._read) > TENANTS_KEPT:
            self._read.popitem(last=False)
        return state

    def forget_state(self, tenant: str) -> None:
        """Discard the tenant's cached state, since it was changed: the next call reads it again."""
        self._read.pop(tenant, None)

    async def put_policy(
        self, tenant: str, given: Mapping[str, Any], *, by: str, expected_version: int | None = None
    ) -> PolicyVersion:
        """Activate the policy `given`, in the form of a policy file, for the tenant. Rules that are fixed when the
        process starts stay those of the settings and may be omitted (`redaction`, `entities`, `judged`); quotas equal
        to the defaults are not stored as the tenant's. Raises InvalidConfig (`policy:<field>`), VersionConflict,
        InvalidInput (`policy`).
        """
        base = {
            name: value
            for name, value in policy_bundle_data(policy_bundle_of(self.engine)).items()
            if name in BUILT_WITH
        }
        said = policy_bundle_data(read_policy_bundle({**base, **given}))
        for name, value in base.items():
            if said.pop(name) != value:
                raise InvalidConfig(f"policy:{name}", hint="set in the settings of the service, for all tenants")
        known = await self.tenants.find(tenant)
        # Quotas of the operator are not the tenant's to store; later changes of them must still apply.
        hold = self.engine.rules.limits.quotas if known is None or known.quotas is None else known.quotas
        own = [data for data in said["limits"]["quotas"] if quota_of(data) not in hold]
        said["limits"]["quotas"] = own
        put = await self.policies.put(tenant, said, by=by, expected_version=expected_version)
        self.forget_state(tenant)
        return put

    async def roll_back(
        self, tenant: str, version: int, *, by: str, expected_version: int | None = None
    ) -> PolicyVersion:
        """Put an earlier policy of the tenant in force again; 0: that of the settings. Raises InvalidInput (`version`),
        VersionConflict.
        """
        put = await self.policies.roll_back(tenant, version, by=by, expected_version=expected_version)
        self.forget_state(tenant)
        return put

    async def _look(self, tenant: str, before: TenantState | None) -> TenantState:
        known = await self.tenants.find(tenant) or await self._note_tenant(tenant)
        policy = await self.policies.current(tenant)
        # The same object is returned, so that the engine built for it is not built again.
        if before is not None and (before.tenant, before.policy) == (known, policy):
            return before
        return TenantState(tenant=known, policy=policy, engine=_engine_under_rules(self.engine, known, policy))

    async def _note_tenant(self, tenant: str) -> Tenant | None:
        """Return a tenant that a credential names for the first time; if storing it fails, the next call tries."""
        with suppress(StoreFailed):
            await self.tenants.note(tenant)
        return await self.tenants.find(tenant)


def policy_bundle_of(engine: MemoryEngine) -> PolicyBundle:
    """Return the rules of an engine in the form of a policy file."""
    rules = engine.rules
    return PolicyBundle(
        policy=rules.policy,
        grant=rules.grant,
        budget=rules.budget,
        limits=rules.limits,
        redaction=engine.redaction,
        entities=engine.reads,
    )


def _engine_under_rules(engine: MemoryEngine, tenant: Tenant | None, policy: PolicyVersion | None) -> MemoryEngine:
    """Return the engine by the tenant's rules; the service's quotas apply, regardless of the tenant's policy."""
    base = policy_bundle_of(engine)
    quotas = base.limits.quotas if tenant is None or tenant.quotas is None else tenant.quotas
    own = None if policy is None or policy.policy is None else read_policy_bundle(policy.policy)
    if own is None and quotas == base.limits.quotas:
        return engine
    bundle = own or base
    # A tenant's policy may add limits but never loosen those of the service.
    added = () if own is None else tuple(quota for quota in own.limits.quotas if quota not in quotas)
    return engine.under(
        policy=replace(bundle.policy, judged=base.policy.judged),
        grant=bundle.grant,
        budget=bundle.budget,
        limits=replace(bundle.limits, quotas=quotas + added),
    )
