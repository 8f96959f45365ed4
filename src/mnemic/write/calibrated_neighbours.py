"""Neighbours of a statement in an embedding space, with cosines mapped to the scale of the default model."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.ports import Reads
from mnemic.types import Memory, Vector, VectorSpace
from mnemic.types.cosine_scaling import measured, read
from mnemic.write.draft import Draft


async def nearest_scaled(
    tx: Reads, draft: Draft, vector: Vector, space: VectorSpace, limit: int
) -> Sequence[tuple[Memory, float]]:
    """Return up to `limit` neighbours of `vector` by the thresholds of the draft's rules, each with its cosine on their
    scale.
    """
    at_least = measured(space, draft.rules.compared_from)
    found = await tx.nearest(draft.scope, vector, limit=limit, at_least=at_least)
    return [(memory, read(space, cosine)) for memory, cosine in found]
