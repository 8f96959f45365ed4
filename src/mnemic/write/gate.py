"""The last word inside the transaction: what was true when a write was admitted may not be true when it is settled."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from mnemic.ports import Reads
from mnemic.types import Candidate, Outcome
from mnemic.write.commit import Settled
from mnemic.write.draft import Draft

Gate = Callable[[Reads, Candidate], Awaitable[str | None]]
"""Asked once the memory is written and before it is committed: the reason to undo that, or None."""


class Refused(Exception):
    """The gate's reason; it undoes the transaction and never leaves the write path."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


async def passed(gate: Gate | None, tx: Reads, draft: Draft, settled: Settled | None) -> Settled | None:
    """`settled` if nothing stands against it now; a duplicate adds nothing and passes. Raises Refused."""
    if gate is None or settled is None or not _adds(settled):
        return settled
    reason = await gate(tx, draft.candidate)
    if reason is not None:
        raise Refused(reason)
    return settled


def _adds(settled: Settled) -> bool:
    unchanged = settled.receipt.outcome in (Outcome.REFRESHED, Outcome.BLOCKED)
    return not unchanged and settled.decision != "replayed"
