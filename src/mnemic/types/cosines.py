"""Cosines of one vector space read on the scale of another, on which the thresholds were measured.

With one model unrelated sentences have a cosine of 0.1, with another of 0.7. `VectorSpace.scale` has points: a cosine
of the space, and the cosine of the default model that means as much, rising in both. Between two of them is a straight
line, so the order of what is near stays as it was.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from mnemic.types.measures import VectorSpace


def read(space: VectorSpace, cosine: float) -> float:
    """Return the cosine of the default model that means as much as `cosine` does in `space`."""
    return _on(space.scale, cosine) if space.scale else cosine


def measured(space: VectorSpace, cosine: float) -> float:
    """Return the cosine in `space` that `read` turns into `cosine`."""
    return _on([(after, before) for before, after in space.scale], cosine) if space.scale else cosine


def _on(points: Sequence[tuple[float, float]], cosine: float) -> float:
    at = min(max(bisect_right(points, cosine, key=lambda point: point[0]), 1), len(points) - 1)
    (low, from_), (high, to) = points[at - 1], points[at]
    return from_ + (to - from_) * (cosine - low) / (high - low)
