"""Dry run of another policy over the stored memories, as if each were proposed under it.

Refused candidates were never stored and cannot be tried again; consent and quotas are of the moment, and left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from mnemic.errors import RunStopped
from mnemic.policy.grant import denial
from mnemic.policy.policy_file import PolicyBundle
from mnemic.policy.proposal_check import check_candidate
from mnemic.ports import RecordStore
from mnemic.types import Memory, Status
from mnemic.write.revise import candidate_of

MAX_NAMED = 200
_TRIED = (Status.ACTIVE, Status.PENDING_REVIEW, Status.SUPERSEDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedDecision:
    """A memory that the policies judge differently: the reasons of its refusal `now` and `then`; None: not refused."""

    memory_id: str
    key: str | None
    now: str | None
    then: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRunReport:
    """Number of memories checked, the numbers that would be `refused` by reason, the memories judged differently (the
    first 200), and the memory after which the next page begins.
    """

    looked_at: int
    refused: Mapping[str, int]
    changed: tuple[ChangedDecision, ...]
    after: str | None


async def judge_by_both(
    store: RecordStore,
    tenant: str,
    present: PolicyBundle,
    proposed: PolicyBundle,
    *,
    after: str | None = None,
    limit: int,
) -> DryRunReport:
    """Judge the tenant's memories, oldest first after `after`, by both policies. Raises StoreFailed."""
    page = await store.scan(tenant, statuses=_TRIED, after=after, limit=limit)
    refused: Counter[str] = Counter()
    changed = []
    for memory in page:
        now, then = _refusal(memory, present), _refusal(memory, proposed)
        refused.update(filter(None, [then]))
        if now != then:
            changed.append(ChangedDecision(memory_id=memory.memory_id, key=memory.key, now=now, then=then))
    last = page[-1].memory_id if len(page) == limit else None
    return DryRunReport(looked_at=len(page), refused=refused, changed=tuple(changed[:MAX_NAMED]), after=last)


def _refusal(memory: Memory, bundle: PolicyBundle) -> str | None:
    try:
        checked = check_candidate(candidate_of(memory), bundle.policy, bundle.budget)
    except RunStopped as breach:
        return breach.reason
    return denial(checked, bundle.grant)
