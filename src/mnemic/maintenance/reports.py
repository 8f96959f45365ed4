"""Reports of the verbs of stewardship."""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.maintenance.erase import ErasureReceipt
from mnemic.maintenance.expiry_job import ExpiryReport
from mnemic.types import WriteReceipt
from mnemic.write.outbox import DrainReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Revocation:
    """Result of a revoked consent: the key, the number of memories under it that are hidden now, and the erasure, if it
    was requested.
    """

    key: str
    hidden: int
    erased: ErasureReceipt | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceReport:
    """Result of a run of all jobs: captured messages from the queue, expiry, reviews rejected as overdue, the outbox
    drained into the projections, sealed values that no memory names any more, bytes freed. `embedded` is the number of
    memories that lacked a vector and have one now, `unembedded` of those that still lack one.
    """

    expiry: ExpiryReport
    aged: int
    outbox: DrainReport
    freed_bytes: int
    swept: int = 0
    captured: int = 0
    embedded: int = 0
    unembedded: int = 0
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """Number of lines of a tenant's audit, the hash of the last one, and the first that does not follow from the line
    before; None: the whole chain is intact. With a copy of `last_hash` stored elsewhere, a truncated log is detected
    too.

    So many lines are `signed`, the last of them `signed_to` (0: none): the lines before it cannot have been changed
    without the key. `signatures_checked`: the key is at hand here; else the hashes alone were compared. `unsigned_at`:
    the first line without a signature after lines were signed, as the key folder remembers: it was written by a process
    without the key, or its signature was removed.
    """

    lines: int
    broken_at: int | None
    last_hash: str
    signed: int = 0
    signed_to: int = 0
    signatures_checked: bool = False
    unsigned_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewOutcome:
    """Result for one of many waiting memories: its receipt, or only the `reason` why nothing was decided."""

    memory_id: str
    receipt: WriteReceipt | None = None
    reason: str | None = None
