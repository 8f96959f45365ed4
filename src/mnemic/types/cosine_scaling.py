"""Mapping of one embedding space's cosines to the scale of another, for which the thresholds were measured.

Unrelated sentences have a cosine of 0.1 with one model, and of 0.7 with another. `VectorSpace.scale` has points: a
cosine of the space, and the equivalent cosine of the default model, both increasing. Interpolation between points is
linear, so the order of neighbours does not change.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from mnemic.types.measures import VectorSpace


def read(space: VectorSpace, cosine: float) -> float:
    """Return the cosine of the default model that means as much as `cosine` does in `space`."""
    return _on(space.scale, cosine) if space.scale else cosine


def cosine_in_space(space: VectorSpace, cosine: float) -> float:
    """Return the cosine in `space` that `read` turns into `cosine`."""
    return _on([(after, before) for before, after in space.scale], cosine) if space.scale else cosine


def _on(points: Sequence[tuple[float, float]], cosine: float) -> float:
    at = min(max(bisect_right(points, cosine, key=lambda point: point[0]), 1), len(points) - 1)
    (low, from_), (high, to) = points[at - 1], points[at]
    return from_ + (to - from_) * (cosine - low) / (high - low)
