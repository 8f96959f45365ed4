"""Measures of memories: embedding space, lexical cues of a text, and usage."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from mnemic.types.serialisation import Serialisable


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSpace(Serialisable):
    """The model that made the vectors and the number of their dimensions. Vectors of two spaces are never compared.
    `scale`: see `mnemic.types.cosines`; the embedder brings it, no store keeps it.
    """

    model: str
    dimension: int
    scale: tuple[tuple[float, float], ...] = field(default=(), compare=False, repr=False)


class Cues(NamedTuple):
    """Signs that a text shows at a glance (`mnemic.text.cues` reads it): its number of words, the share of them that
    only asks, whether its speaker talks of themselves, whether it names a time.
    """

    words: int = 0
    asking: float = 0.0
    oneself: bool = False
    timed: bool = False


class Usage(NamedTuple):
    """Usage: memories, their bytes without vectors, and recently created memories."""

    rows: int = 0
    bytes: int = 0
    recent: int = 0
