"""Measures of memories: embedding space, usage, and the default amounts for a model call."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mnemic.types.json_forms import Serialisable

DEFAULT_MAX_ENTRIES = 5
DEFAULT_PROFILE_TOKENS = 400
"""Tokens of a user's profile."""
DEFAULT_MAX_TOKENS = 1_500


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSpace(Serialisable):
    """The model that made the vectors and the number of their dimensions. Vectors of two spaces are never compared.
    `scale`: see `mnemic.types.measures`; the embedder supplies it, no store has it.
    """

    model: str
    dimension: int
    scale: tuple[tuple[float, float], ...] = field(default=(), compare=False, repr=False)


class Usage(NamedTuple):
    """Usage: memories, their bytes without vectors, and recently created memories."""

    rows: int = 0
    bytes: int = 0
    recent: int = 0


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
