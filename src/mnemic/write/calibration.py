"""Thresholds measured for one embedder, stored together with its vectors.

A cosine is meaningful in one embedding space only: unrelated sentences are at 0.1 with one model and at 0.8 with
another. The result of `mnemic calibrate` is stored under the name of the space, so that every process that opens the
store decides alike, and another embedder does not inherit it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from mnemic.errors import StoreCorrupt
from mnemic.types import VectorSpace
from mnemic.unit_of_work import Mutation, apply
from mnemic.write.calibrated_thresholds import STORE_TENANT, kept_for, mark_of
from mnemic.write.thresholds import THRESHOLDS

if TYPE_CHECKING:
    from mnemic.ports import RecordStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The thresholds for `space`, by name; `error` and `flagged` are the bounds they were chosen for, `pairs` how many
    labelled pairs they were chosen by.
    """

    space: VectorSpace
    cosines: Mapping[str, float]
    error: float
    flagged: float
    pairs: int
    calibrated_at: datetime

    def encoded(self) -> str:
        """Return the calibration in the form of its mark."""
        return json.dumps(
            {
                "cosines": dict(self.cosines),
                "error": self.error,
                "flagged": self.flagged,
                "pairs": self.pairs,
                "calibrated_at": self.calibrated_at.isoformat(),
            }
        )

    @classmethod
    def decoded(cls, space: VectorSpace, text: str) -> Calibration:
        """Return the calibration of `encoded`. Raises StoreCorrupt (`store_corrupt:calibration`)."""
        try:
            fields = json.loads(text)
            cosines = {name: float(fields["cosines"][name]) for name in fields["cosines"] if name in THRESHOLDS}
            if not all(0.0 < cosine <= 1.0 for cosine in cosines.values()):
                raise StoreCorrupt("calibration")
            return cls(
                space=space,
                cosines=cosines,
                error=float(fields["error"]),
                flagged=float(fields["flagged"]),
                pairs=int(fields["pairs"]),
                calibrated_at=datetime.fromisoformat(fields["calibrated_at"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise StoreCorrupt("calibration") from error


async def stored(store: RecordStore, space: VectorSpace) -> Calibration | None:
    """Return the calibration for `space` in this store. Raises StoreCorrupt."""
    text = await kept_for(store, space)
    return None if text is None else Calibration.decoded(space, text)


async def keep(store: RecordStore, space: VectorSpace, found: Calibration | None) -> None:
    """Store `found` in place of the previous calibration; None restores the defaults."""
    text = None if found is None else found.encoded()
    await apply(store, Mutation(tenant=STORE_TENANT, marks={mark_of(space): text}))
