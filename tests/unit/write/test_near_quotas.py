"""Tenants whose quotas are near enough for their writers to wait for each other."""

from __future__ import annotations

import pytest

from mnemic.policy.limits import Limits, Quota
from mnemic.types import Candidate, Kind, Usage
from mnemic.write.limiter import may_exceed_quota

MIB = 1024 * 1024


@pytest.mark.parametrize(
    ("quota", "held", "near"),
    [
        (Quota(per="tenant", rows=100_000), Usage(1_000, 0, 0), False),
        (Quota(per="tenant", rows=100_000), Usage(89_999, 0, 0), False),
        (Quota(per="tenant", rows=100_000), Usage(90_001, 0, 0), True),
        (Quota(per="tenant", rows=1_500), Usage(0, 0, 0), False),
        (Quota(per="tenant", rows=1_500), Usage(501, 0, 0), True),
        (Quota(per="tenant", rows=10), Usage(0, 0, 0), True),
        (Quota(per="tenant", bytes=1000 * MIB), Usage(0, 899 * MIB, 0), False),
        (Quota(per="tenant", bytes=1000 * MIB), Usage(0, 901 * MIB, 0), True),
        (Quota(per="tenant", bytes=10 * MIB), Usage(0, 0, 0), True),
        (Quota(per="tenant", writes_a_minute=5_000), Usage(9_999, 0, 3_900), False),
        (Quota(per="tenant", writes_a_minute=5_000), Usage(9_999, 0, 4_100), True),
        (Quota(per="user", rows=10), Usage(9, 0, 0), False),
        (Quota(per="tenant", kind=Kind.ENTITY, rows=10), Usage(9, 0, 0), False),
    ],
)
def test_a_quota_is_near_when_a_crowd_could_pass_it(quota: Quota, held: Usage, near: bool) -> None:
    candidate = Candidate(content="tea", kind=Kind.EPISODIC)
    assert may_exceed_quota(Limits(quotas=(quota,)), candidate, {Kind.EPISODIC: held}) is near
