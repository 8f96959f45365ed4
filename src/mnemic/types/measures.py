"""Measures of memories: embedding space, usage, and the default amounts for a model call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from mnemic.types.serialisation import Serialisable

DEFAULT_MAX_ENTRIES = 5
DEFAULT_PROFILE_TOKENS = 400
"""Tokens of a user's profile."""
DEFAULT_MAX_TOKENS = 1_500


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSpace(Serialisable):
    """The model that made the vectors and the number of their dimensions. Vectors of two spaces are never compared.
    `scale`: see `mnemic.types.cosine_scaling`; the embedder supplies it, no store has it.
    """

    model: str
    dimension: int
    scale: tuple[tuple[float, float], ...] = field(default=(), compare=False, repr=False)


class Usage(NamedTuple):
    """Usage: memories, their bytes without vectors, and recently created memories."""

    rows: int = 0
    bytes: int = 0
    recent: int = 0
