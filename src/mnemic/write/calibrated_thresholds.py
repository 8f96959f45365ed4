"""Thresholds by which a store decides: as configured, or as calibrated for the embedder in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemic.types import VectorSpace
from mnemic.write.thresholds import WriteRules

if TYPE_CHECKING:
    from mnemic.ports import RecordStore

STORE_TENANT = "mnemic.store"
"""Tenant name of the marks that belong to the store itself."""


def mark_of(space: VectorSpace) -> str:
    """Return the name of the mark with the calibration for `space`."""
    return f"calibration/{space.dimension}/{space.model}"


async def kept_for(store: RecordStore, space: VectorSpace) -> str | None:
    """Return the calibration stored for `space`; None if there is none."""
    name = mark_of(space)
    return (await store.marks(STORE_TENANT, name)).get(name)


async def calibrated(store: RecordStore, space: VectorSpace, configured: WriteRules) -> WriteRules:
    """Return `configured` with the thresholds that are calibrated for `space` in this store. Raises StoreFailed."""
    text = await kept_for(store, space)
    if text is None:
        return configured
    from mnemic.write.calibration import Calibration

    return configured.calibrated(Calibration.decoded(space, text).cosines)
