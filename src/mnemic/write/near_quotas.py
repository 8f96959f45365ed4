"""Quotas that are so near that the writers of a tenant must wait for each other."""

from __future__ import annotations

from collections.abc import Mapping

from mnemic.policy.limits import Limits, Quota
from mnemic.types import Candidate, Kind, Usage

# Of a large limit a tenth, of a small one at least the crowd: far from both, writers need not wait.
_LAST_PART = 0.1
_CROWD = {"rows": 1000, "bytes": 64 * 1024 * 1024, "writes_a_minute": 1000}
"""Maximum that uncommitted writers add together, of each limit."""


def may_exceed_quota(limits: Limits, candidate: Candidate, usages: Mapping[Kind, Usage]) -> bool:
    """Return True if a crowd of writers that do not see each other could pass a quota of the candidate's tenant."""
    quotas = (quota for quota in limits.quotas if quota.per == "tenant" and quota.applies(candidate))
    return any(_near(quota, usages) for quota in quotas)


def _near(quota: Quota, usages: Mapping[Kind, Usage]) -> bool:
    for name, part in quota.nearest(usages).items():
        limited = name.rpartition(".")[2]
        limit = getattr(quota, limited)
        if limit * (1 - part) < max(limit * _LAST_PART, _CROWD[limited]):
            return True
    return False
