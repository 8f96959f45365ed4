"""A batch under quotas that evict: cut into portions, so that a later one takes the place of an earlier one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mnemic.dispatch import Call
from mnemic.policy.limits import Limits, makes_room
from mnemic.types import Candidate, WriteReceipt
from mnemic.write.eviction import NEAR
from mnemic.write.limiter import Limiter
from mnemic.write.pipeline import MemoryWritePipeline

Given = tuple[Candidate, str | None]
"""A candidate and its idempotency key."""


async def write_in_portions(
    given: Sequence[Given], call: Call, pipeline: MemoryWritePipeline, limiter: Limiter
) -> list[WriteReceipt]:
    """Return a receipt for each candidate, in order. One that did not fit into a quota with the rest of its portion is
    tried alone, if the quota evicts older memories.
    """

    async def many(part: Sequence[Given]) -> list[WriteReceipt]:
        return await pipeline.write_many(
            [candidate for candidate, _ in part],
            actor=call.actor,
            policy=call.rules.policy,
            idempotency_keys=[key for _, key in part],
            deadline=call.deadline,
            gate=await limiter.gate(call.actor, call.rules.limits),
        )

    written: list[WriteReceipt] = []
    for places in portions([candidate for candidate, _ in given], call.rules.limits):
        written += await many(given[places.start : places.stop])
    if evicts(call.rules.limits):
        for place, receipt in enumerate(written):
            if makes_room(receipt.reason or ""):
                (written[place],) = await many([given[place]])
    return written


def portions(candidates: Sequence[Candidate], limits: Limits) -> Iterator[range]:
    """Return the places of `candidates`, cut so that no portion alone fills a quota of rows that evicts: a later one
    takes the place of an earlier one. All of them at once if nothing is evicted.
    """
    most = min([NEAR, *(quota.rows for quota in limits.quotas if quota.rows is not None)])
    step = most if evicts(limits) else max(1, len(candidates))
    return (range(start, min(start + step, len(candidates))) for start in range(0, len(candidates), step))


def evicts(limits: Limits) -> bool:
    """Return True if a quota lets go of active memories."""
    return any(quota.on_full == "evict" for quota in limits.quotas)
