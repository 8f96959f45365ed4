"""The tenants of an installation: known by name, limited by quotas, suspended and resumed; each act is in its audit.

The settings of a tenant are a mark of the service's own tenant, which no credential can name: no actor inside a tenant
can reach the tenant's limits.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from mnemic.errors import InvalidInput, MemoryNotFound, VersionConflict
from mnemic.policy.limits import Per, Quota
from mnemic.ports import Clock, Reads, RecordStore
from mnemic.types import Actor, Kind
from mnemic.unit_of_work import Mutation, Unit, commit, commit_decided

SERVICE_TENANT = "mnemic.service"
"""The tenant in which tenants and credentials are stored; no user acts in it."""
MAX_QUOTAS = 50
LIMITS = ("rows", "bytes", "writes_a_minute")
"""Names of the limits of a quota."""
MAX_LABEL = 200
PAGE = 1000
"""Tenants, or keys, that are read at a time."""
SLOTS = 1024
"""Parts of the tenants, by the hash of their names, that are due for maintenance together. A million tenants are some
thousand in each, one page; the times of all slots are one more."""
MAINTAINED = "maintained:"
"""Beginning of the marks with the time of a tenant's last maintenance: `maintained:0042:acme`; empty: never."""
SLOT_MAINTAINED = "slot_maintained:"
"""Beginning of the marks with the oldest of these times in a slot; empty: one of its tenants never was."""

_PREFIX = "tenant:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """Settings of a tenant. `quotas` take the place of those of the settings; None: those of the settings apply. No
    credential grants access to a tenant with a `suspended_at`.
    """

    tenant: str
    created_at: datetime
    label: str = ""
    quotas: tuple[Quota, ...] | None = None
    suspended_at: datetime | None = None


class Tenants:
    """The tenants of a store."""

    def __init__(self, store: RecordStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def find(self, tenant: str) -> Tenant | None:
        """Return the settings of the tenant; None for one that was never created nor named by a credential."""
        name = _PREFIX + tenant
        value = (await self._store.marks(SERVICE_TENANT, name, limit=1)).get(name)
        return None if value is None else _read(value)

    async def page(self, *, after: str | None = None, limit: int) -> list[Tenant]:
        """Return at most `limit` known tenants by name, after the name `after`."""
        first = None if after is None else _PREFIX + after
        marks = await self._store.marks(SERVICE_TENANT, _PREFIX, after=first, limit=limit)
        return [_read(value) for value in marks.values()]

    async def each(self) -> AsyncIterator[Tenant]:
        """Yield the known tenants by name, read page by page."""
        last = None
        while page := await self.page(after=last, limit=PAGE):
            for tenant in page:
                yield tenant
            last = page[-1].tenant

    async def all(self) -> list[Tenant]:
        """Return the known tenants, by name."""
        return [tenant async for tenant in self.each()]

    async def create(self, tenant: str, *, by: str, label: str = "", quotas: Sequence[Quota] | None = None) -> Tenant:
        """Create a tenant. Raises InvalidInput: `tenant` for an invalid name, `tenant:known`, `label`, `quotas`."""
        require_name(tenant)
        if len(label) > MAX_LABEL:
            raise InvalidInput("label", hint=f"at most {MAX_LABEL} characters")
        made = Tenant(tenant=tenant, created_at=self._clock.now(), label=label, quotas=_check_quotas(quotas))

        async def decide(reads: Reads) -> tuple[Tenant, list[Mutation]]:
            if await reads.find_mark(SERVICE_TENANT, _PREFIX + tenant) is not None:
                raise InvalidInput("tenant:known", hint="there is a tenant of this name")
            kept = self._write_tenant(made, "tenant_created", by)
            return made, [replace(kept, marks={**kept.marks, **_enlisting_marks(tenant)})]

        return await commit_decided(self._store, decide)

    async def note(self, tenant: str) -> None:
        """Record a tenant that a credential has named; an existing one is not changed."""
        now = self._clock.now()

        async def work(unit: Unit) -> None:
            for mutation in await note_tenant(unit.reads, tenant, now):
                await unit.apply(mutation)

        await commit(self._store, work)

    async def limit(self, tenant: str, quotas: Sequence[Quota] | None, *, by: str) -> Tenant:
        """Set the tenant's quotas, which replace those of the settings; None restores those of the settings.
        Raises MemoryNotFound (`tenant`), InvalidInput (`quotas`).
        """
        chosen = _check_quotas(quotas)
        return await self._change(tenant, "tenant_limited", by, lambda known: replace(known, quotas=chosen))

    async def adjust(self, tenant: str, change: Callable[[tuple[Quota, ...]], Sequence[Quota]], *, by: str) -> Tenant:
        """Change the tenant's own quotas, none if it has none; those of the settings no longer apply. Raises as `limit`
        does, and the errors of `change`.
        """

        def with_quotas(known: Tenant) -> Tenant:
            return replace(known, quotas=_check_quotas(change(known.quotas or ())))

        return await self._change(tenant, "tenant_limited", by, with_quotas)

    async def suspend(self, tenant: str, *, by: str) -> Tenant:
        """Refuse every credential of the tenant from now on; its data stays. Raises MemoryNotFound."""
        now = self._clock.now()

        def with_suspension(known: Tenant) -> Tenant:
            return known if known.suspended_at else replace(known, suspended_at=now)

        return await self._change(tenant, "tenant_suspended", by, with_suspension)

    async def resume(self, tenant: str, *, by: str) -> Tenant:
        """Let the tenant's credentials work again. Raises MemoryNotFound."""
        return await self._change(tenant, "tenant_resumed", by, lambda known: replace(known, suspended_at=None))

    async def _change(self, tenant: str, action: str, by: str, change: Callable[[Tenant], Tenant]) -> Tenant:
        """Change the tenant's settings, with a line in the audit unless they are the same already."""

        async def decide(reads: Reads) -> tuple[Tenant, list[Mutation]]:
            value = await reads.find_mark(SERVICE_TENANT, _PREFIX + tenant)
            if value is None:
                raise MemoryNotFound("tenant")
            known = _read(value)
            changed = change(known)
            # An act that changes nothing, such as a second suspension, leaves no line in the audit.
            return changed, [self._write_tenant(changed, action, by)] if changed != known else []

        return await commit_decided(self._store, decide)

    def _write_tenant(self, tenant: Tenant, action: str, by: str) -> Mutation:
        detail = {"quotas": [quota_data(quota) for quota in tenant.quotas or ()]} if tenant.quotas is not None else {}
        return Mutation(
            tenant=tenant.tenant,
            action=action,
            actor=by,
            at=self._clock.now(),
            detail=detail,
            marks={_PREFIX + tenant.tenant: _encode_tenant(tenant)},
            marks_of=SERVICE_TENANT,
        )


async def note_tenant(reads: Reads, tenant: str, at: datetime) -> list[Mutation]:
    """Return the mutations that record the tenant, for the transaction that names it."""
    if await reads.find_mark(SERVICE_TENANT, _PREFIX + tenant) is not None:
        return []
    made = Tenant(tenant=tenant, created_at=at)
    return [Mutation(tenant=SERVICE_TENANT, marks={_PREFIX + tenant: _encode_tenant(made), **_enlisting_marks(tenant)})]


def slot_of(tenant: str) -> int:
    """Return the slot of the tenant."""
    return zlib.crc32(tenant.encode()) % SLOTS


def _enlisting_marks(tenant: str) -> dict[str, str]:
    """Return the marks that make a new tenant due for maintenance, and its slot with it."""
    slot = slot_of(tenant)
    return {f"{MAINTAINED}{slot:04}:{tenant}": "", f"{SLOT_MAINTAINED}{slot:04}": ""}


def require_name(tenant: str) -> None:
    """Raise InvalidInput (`tenant`) for a name that no credential could carry."""
    if tenant == SERVICE_TENANT:
        raise InvalidInput("tenant")
    Actor(tenant=tenant, user=tenant)


def with_limits(
    quotas: Sequence[Quota], per: Per, kind: Kind | None, limits: Mapping[str, int | None], soft: float | None = None
) -> list[Quota]:
    """`quotas` with other limits for one way of counting: named limits are set, or removed if they are None, and all
    others stay. `soft`, if given, is the fraction from which those warn. Raises InvalidConfig (`quota`).
    """
    warned = {} if soft is None else {"soft": soft}
    set_to = {name: limit for name, limit in limits.items() if limit is not None}
    changed: list[Quota] = []
    for quota in quotas:
        if (quota.per, quota.kind) != (per, kind):
            changed.append(quota)
            continue
        data = {name: value for name, value in quota_data(quota).items() if name not in limits} | set_to
        set_to = {}
        if not data.keys().isdisjoint(LIMITS):
            changed.append(quota_of(data | warned))
    return [*changed, quota_of({"per": per, "kind": kind, **set_to, **warned})] if set_to else changed


def quota_data(quota: Quota) -> dict[str, Any]:
    """Return a quota as JSON data; limits that are not set are left out."""
    return {name: value for name, value in asdict(quota).items() if value is not None}


def quota_of(data: Mapping[str, Any]) -> Quota:
    """Return the quota that `quota_data` wrote. Raises InvalidInput (`quotas`), InvalidConfig (`quota`)."""
    try:
        return Quota(**{**data, "kind": None if data.get("kind") is None else Kind(data["kind"])})
    except (TypeError, ValueError):
        raise InvalidInput("quotas", hint="per, kind, rows, bytes, writes_a_minute, soft") from None


def _check_quotas(quotas: Sequence[Quota] | None) -> tuple[Quota, ...] | None:
    if quotas is not None and len(quotas) > MAX_QUOTAS:
        raise InvalidInput("quotas", hint=f"at most {MAX_QUOTAS}")
    return None if quotas is None else tuple(quotas)


def tenant_data(tenant: Tenant) -> dict[str, Any]:
    """Return the settings of a tenant as JSON data."""
    return asdict(tenant) | {
        "created_at": tenant.created_at.isoformat(),
        "suspended_at": tenant.suspended_at.isoformat() if tenant.suspended_at else None,
        "quotas": None if tenant.quotas is None else [quota_data(quota) for quota in tenant.quotas],
    }


def _encode_tenant(tenant: Tenant) -> str:
    return json.dumps(tenant_data(tenant))


def _read(value: str) -> Tenant:
    kept: dict[str, Any] = json.loads(value)
    return Tenant(
        tenant=kept["tenant"],
        created_at=datetime.fromisoformat(kept["created_at"]),
        label=kept["label"],
        quotas=None if kept["quotas"] is None else tuple(map(quota_of, kept["quotas"])),
        suspended_at=datetime.fromisoformat(kept["suspended_at"]) if kept["suspended_at"] else None,
    )


MAX_BYTES = 256 * 1024
VERSIONS_KEPT = 50

_CURRENT = "policy/current"
_VERSION = "policy/version/"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyVersion:
    """One policy of a tenant. `version` counts from 1. `policy` None: the settings' policy was restored. `restored` is
    the earlier version that this one repeats; 0 is the settings' policy.
    """

    version: int
    put_at: datetime
    by: str
    policy: Mapping[str, Any] | None
    restored: int | None = None


class Policies:
    """The policies of a store's tenants."""

    def __init__(self, store: RecordStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def current(self, tenant: str) -> PolicyVersion | None:
        """Return the version in force; None if none was ever put in force."""
        value = (await self._store.marks(tenant, _CURRENT)).get(_CURRENT)
        return None if value is None else _policy_version(value)

    async def versions(self, tenant: str) -> list[PolicyVersion]:
        """Return the latest versions, newest first; the 50 last ones are stored."""
        marks = await self._store.marks(tenant, _VERSION)
        return [_policy_version(value) for _, value in sorted(marks.items(), reverse=True)]

    async def put(
        self, tenant: str, policy: Mapping[str, Any] | None, *, by: str, expected_version: int | None = None
    ) -> PolicyVersion:
        """Activate a policy; None: the settings' policy. An already active one keeps its version. Raises
        VersionConflict if `expected_version` is not the active one (0: there never was one), InvalidInput (`policy`).
        """
        made = PolicyVersion(version=0, put_at=self._clock.now(), by=by, policy=policy)
        return await self._put(tenant, made, expected_version)

    async def roll_back(
        self, tenant: str, version: int, *, by: str, expected_version: int | None = None
    ) -> PolicyVersion:
        """Put an earlier version in force again, as the next one; 0: the settings' own. Raises InvalidInput (`version`)
        for one that is not stored, VersionConflict as `put`.
        """
        kept = {one.version: one.policy for one in await self.versions(tenant)} | {0: None}
        if version not in kept:
            raise InvalidInput("version", hint="no such version is kept")
        made = PolicyVersion(version=0, put_at=self._clock.now(), by=by, policy=kept[version], restored=version)
        return await self._put(tenant, made, expected_version)

    async def _put(self, tenant: str, wanted: PolicyVersion, expected: int | None) -> PolicyVersion:
        if len(_encode_version(wanted)) > MAX_BYTES:
            raise InvalidInput("policy", hint=f"at most {MAX_BYTES} bytes as JSON")

        async def work(unit: Unit) -> PolicyVersion:
            value = await unit.reads.find_mark(tenant, _CURRENT)
            known = None if value is None else _policy_version(value)
            before = 0 if known is None else known.version
            if expected is not None and expected != before:
                raise VersionConflict("policy")
            if known is not None and known.policy == wanted.policy:
                return known
            made = replace(wanted, version=before + 1)
            await unit.apply(_put(tenant, made, before))
            return made

        return await commit(self._store, work)


def _put(tenant: str, made: PolicyVersion, before: int) -> Mutation:
    text = _encode_version(made)
    return Mutation(
        tenant=tenant,
        action="policy_put_in_force",
        actor=made.by,
        at=made.put_at,
        detail={"version": made.version, "before": before, "restored": made.restored},
        marks={_CURRENT: text, _name(made.version): text, _name(made.version - VERSIONS_KEPT): None},
    )


def _name(version: int) -> str:
    return f"{_VERSION}{version:09d}"


def _encode_version(version: PolicyVersion) -> str:
    return json.dumps(
        {
            "version": version.version,
            "put_at": version.put_at.isoformat(),
            "by": version.by,
            "policy": version.policy,
            "restored": version.restored,
        }
    )


def _policy_version(value: str) -> PolicyVersion:
    kept: dict[str, Any] = json.loads(value)
    return PolicyVersion(**{**kept, "put_at": datetime.fromisoformat(kept["put_at"])})
