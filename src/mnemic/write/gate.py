"""The last word inside the transaction: what was true when a write was admitted may not be true when it is settled."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from mnemic.ports import Reads
from mnemic.types import Candidate, Outcome
from mnemic.unit_of_work import Unit
from mnemic.write.commit import Settled
from mnemic.write.draft import Draft

Gate = Callable[[Reads, Candidate], Awaitable[str | None]]
"""Asked once the memory is written and before it is committed: the reason to undo that, or None.

A gate may have a `make_room(unit, reason, *, spared)`: it removes one memory in this transaction, none of `spared`, so
that the reason may be gone, and says whether it did.
"""


class Refused(Exception):
    """The gate's reason; it undoes the transaction and never leaves the write path."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


async def passed(gate: Gate | None, unit: Unit, draft: Draft, settled: Settled | None) -> Settled | None:
    """`settled` if nothing stands against it now; a duplicate adds nothing and passes. Raises Refused."""
    if gate is None or settled is None or not _adds(settled):
        return settled
    receipt, make_room = settled.receipt, getattr(gate, "make_room", None)
    spared = {receipt.memory_id or "", *receipt.superseded, *receipt.conflicts_with}
    while (reason := await gate(unit.reads, draft.candidate)) is not None:
        if make_room is None or not await make_room(unit, reason, spared=spared):
            raise Refused(reason)
    return replace(settled, changes=tuple(unit.changes))


def _adds(settled: Settled) -> bool:
    unchanged = settled.receipt.outcome in (Outcome.REFRESHED, Outcome.BLOCKED)
    return not unchanged and settled.decision != "replayed"
