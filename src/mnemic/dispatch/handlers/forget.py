"""The request to forget a memory, and the base of handlers of requests without a statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mnemic.dispatch import Call, Proposal
from mnemic.write.forget import forget
from mnemic.write.limiter import Limiter
from mnemic.write.pipeline import MemoryWritePipeline


class AdministrationHandler:
    """A request that adds no statement."""

    async def check(self, call: Call) -> Sequence[Proposal]:
        """Nothing to judge."""
        return ()


@dataclass(frozen=True, slots=True)
class ForgetHandler(AdministrationHandler):
    """Handles `Forget`."""

    pipeline: MemoryWritePipeline
    limiter: Limiter

    async def carry_out(self, call: Call, passed: Sequence[Proposal]) -> None:
        """Delete the memory. Raises MemoryNotFound, WriteBlocked (`lower_trust`)."""
        store, clock = self.limiter.store, self.limiter.clock
        await forget(store, clock, call.request.memory_id, actor=call.actor, scopes=call.scopes)
        await self.pipeline.publisher.catch_up()
