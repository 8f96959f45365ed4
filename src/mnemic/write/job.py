"""Writes on their way through the pipeline, one by one and in batches."""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.types import WriteReceipt
from mnemic.write.commit import Request, blocked_receipt
from mnemic.write.draft import Draft, Laps
from mnemic.write.gate import Gate


@dataclass(slots=True)
class Job:
    """One write on its way."""

    draft: Draft
    request: Request | None
    laps: Laps
    gate: Gate | None = None
    known: bool = False

    @property
    def blocked(self) -> WriteReceipt | None:
        """The receipt of a write that policy ended before anything was stored."""
        if self.draft.blocked is None:
            return None
        return blocked_receipt(self.draft.candidate, self.draft.blocked, self.laps)


@dataclass(frozen=True, slots=True)
class Batch:
    """A receipt or None for each write of a batch, and the jobs of those that have none yet, by place."""

    receipts: list[WriteReceipt | None]
    jobs: dict[int, Job]
