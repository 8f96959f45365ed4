"""Receipt of an erasure: counts, and the identifiers and hashes by which a scan recognises remains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.types import aware, checked_identifier

FORMAT = "mnemic-erasure/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReceipt:
    """Counts of an erasure, and the witnesses by which a scan recognises remains.

    `removed_at`: time after which a server that keeps removed rows must have vacuumed; tables that it has not vacuumed
    since are counted under `unvacuumed` in `traces`. None: there is no such server, or the rows were sealed and their
    key is destroyed.

    `subject` is a keyed hash. `memory_ids` and `fingerprints` (keyed hashes too) reveal nothing about content; `traces`
    are the finds of the final scan, by place: none, if `complete`. `kept`: places where the name of the subject stays,
    but none of their statements; None in older receipts.
    """

    receipt_id: str
    tenant: str
    subject: str
    at: datetime
    counts: Mapping[str, int]
    traces: Mapping[str, int]
    memory_ids: tuple[str, ...] = field(default=(), repr=False)
    fingerprints: tuple[str, ...] = field(default=(), repr=False)
    blocks_relearning: bool = False
    removed_at: datetime | None = None
    kept: tuple[str, ...] | None = None

    @property
    def complete(self) -> bool:
        """True if the final scan found nothing any more."""
        return not any(self.traces.values())

    def as_dict(self) -> dict[str, Any]:
        """Return the receipt as JSON data, for keeping outside the store."""
        return {
            "format": FORMAT,
            "receipt_id": self.receipt_id,
            "tenant": self.tenant,
            "subject": self.subject,
            "at": self.at.isoformat(),
            "complete": self.complete,
            "blocks_relearning": self.blocks_relearning,
            "counts": dict(self.counts),
            "traces": dict(self.traces),
            "memory_ids": list(self.memory_ids),
            "fingerprints": list(self.fingerprints),
            "removed_at": None if self.removed_at is None else self.removed_at.isoformat(),
            "kept": None if self.kept is None else list(self.kept),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ErasureReceipt:
        """Return the receipt of `as_dict`. Raises InvalidInput (`erasure_receipt`)."""
        try:
            if data["format"] != FORMAT:
                raise InvalidInput("erasure_receipt", hint=f"expected {FORMAT}")
            removed_at, kept = data.get("removed_at"), data.get("kept")
            return cls(
                receipt_id=str(data["receipt_id"]),
                tenant=checked_identifier(data["tenant"], "tenant"),
                subject=str(data["subject"]),
                at=datetime.fromisoformat(data["at"]),
                counts=dict(data["counts"]),
                traces=dict(data["traces"]),
                memory_ids=tuple(map(str, data["memory_ids"])),
                fingerprints=tuple(map(str, data["fingerprints"])),
                blocks_relearning=bool(data["blocks_relearning"]),
                removed_at=None if removed_at is None else aware(datetime.fromisoformat(removed_at), "removed_at"),
                kept=None if kept is None else tuple(map(str, kept)),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput("erasure_receipt", hint="not a receipt of an erasure") from error
