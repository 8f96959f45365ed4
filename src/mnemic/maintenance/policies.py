"""Policies of a tenant, in versions: the active one, its author and time, and rollback.

A policy is stored as the data of a policy file, as marks of the tenant itself, next to the memories that it governs. It
is not validated here: the caller that activates it has parsed it (`mnemic.policy.policy_file`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from mnemic.errors import InvalidInput, VersionConflict
from mnemic.ports import Clock, RecordStore
from mnemic.unit_of_work import Mutation, Unit, commit

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
        return None if value is None else _read(value)

    async def versions(self, tenant: str) -> list[PolicyVersion]:
        """Return the latest versions, newest first; the 50 last ones are stored."""
        marks = await self._store.marks(tenant, _VERSION)
        return [_read(value) for _, value in sorted(marks.items(), reverse=True)]

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
            known = None if value is None else _read(value)
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


def _read(value: str) -> PolicyVersion:
    kept: dict[str, Any] = json.loads(value)
    return PolicyVersion(**{**kept, "put_at": datetime.fromisoformat(kept["put_at"])})
