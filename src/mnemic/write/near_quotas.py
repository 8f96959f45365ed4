"""Quotas inside the writing transaction; near one of a tenant its writers wait for each other."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from mnemic.policy.limits import MINUTE, Limits, Per, Quota
from mnemic.types import Actor, Candidate, Kind, Level, Scope, Usage

if TYPE_CHECKING:
    from mnemic.ports import Reads

# Of a large limit a tenth, of a small one at least the crowd: far from both, writers need not wait.
_LAST_PART = 0.1
_CROWD = {"rows": 1000, "bytes": 64 * 1024 * 1024, "writes_a_minute": 1000}
"""Maximum that uncommitted writers add together, of each limit."""


async def overshot(tx: Reads, candidate: Candidate, limits: Limits, actor: Actor, now: datetime) -> str | None:
    """Return the reason to undo the write of the candidate, which `tx` has made, or None."""
    # The tenant comes last: a writer that waits for the whole tenant has its own scope's lock by then.
    scopes: tuple[tuple[Per, Scope | None], ...] = (("user", actor.scope(Level.USER)), ("tenant", None))
    for per, scope in scopes:
        if any(quota.per == per and quota.applies(candidate) for quota in limits.quotas):
            usages = await tx.usage(actor.tenant, since=now - MINUTE, scope=scope, settled=False)
            # A settled reading waits for the tenant's other writers: only near a quota is that worth it.
            if scope is None and may_exceed_quota(limits, candidate, usages):
                usages = await tx.usage(actor.tenant, since=now - MINUTE)
            if (reason := limits.overshot(candidate, per, usages)) is not None:
                return reason
    return None


def may_exceed_quota(limits: Limits, candidate: Candidate, usages: Mapping[Kind, Usage]) -> bool:
    """Return True if a crowd of writers that do not see each other could pass a quota of the candidate's tenant."""
    quotas = (quota for quota in limits.quotas if quota.per == "tenant" and quota.applies(candidate))
    return any(_is_near(quota, usages) for quota in quotas)


def _is_near(quota: Quota, usages: Mapping[Kind, Usage]) -> bool:
    for name, part in quota.nearest(usages).items():
        limited = name.rpartition(".")[2]
        limit = getattr(quota, limited)
        if limit * (1 - part) < max(limit * _LAST_PART, _CROWD[limited]):
            return True
    return False
