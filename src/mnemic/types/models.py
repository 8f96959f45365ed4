"""What goes to embedders and language models, and comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mnemic.types.values import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSpace:
    """Which model made the vectors and how many dimensions they have. Vectors of two spaces are never compared."""

    model: str
    dimension: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One call of a language model that must answer with one JSON object of `schema` (JSON Schema)."""

    system: str
    user: str = field(repr=False)
    schema_name: str = "answer"
    schema: Mapping[str, JsonValue] | None = None
    max_output_tokens: int = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What the model answered and what it cost in tokens."""

    text: str = field(repr=False)
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
