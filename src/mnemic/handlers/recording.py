"""The request that keeps messages of a conversation themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mnemic.door import Call, Passed, Proposal
from mnemic.extract.messages import in_parts, message_candidates
from mnemic.guard.contract import MAX_CONTENT_CHARS
from mnemic.requests import AddMany
from mnemic.types import Message, WriteReceipt
from mnemic.write.pipeline import MemoryWritePipeline


@dataclass(frozen=True, slots=True)
class Recording:
    """Handles `Record`: each message becomes an episodic memory by an `AddMany`, which passes the door by itself."""

    pipeline: MemoryWritePipeline

    async def check(self, call: Call) -> Sequence[Proposal]:
        """Nothing: the memories are proposed by the request that adds them."""
        return ()

    async def carry_out(self, call: Call, passed: Sequence[Passed]) -> Sequence[WriteReceipt]:
        """A receipt for each message that has text, or for each part of one that is too long for a memory."""
        cut = [await self._redacted(message, call) for message in call.request.messages]
        parts = [part for message in cut for part in in_parts(message)]
        written = await call.engine.handle(AddMany(candidates=tuple(message_candidates(parts))), actor=call.actor)
        receipts: list[WriteReceipt] = written.receipts
        return receipts

    async def _redacted(self, message: Message, call: Call) -> Message:
        """`message`, redacted where it will be cut: no card number may end at a cut and look harmless."""
        if len(message.content) <= MAX_CONTENT_CHARS:
            return message
        return replace(message, content=await self.pipeline.redacted(message.content, tenant=call.actor.tenant))
