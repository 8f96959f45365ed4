"""Thresholds of the write path."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, tzinfo

from mnemic.errors import InvalidConfig
from mnemic.types import Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRules:
    """Thresholds of the write path. Cosines are on the scale of the default embedder.

    `near_duplicate` (0.92) and `conflict` (0.85) are the defaults of the write pipeline's specification. Both are
    necessary conditions only: with all-MiniLM-L6-v2 a third of opposite statements are above 0.92, so words decide
    (`mnemic.language.comparison`), not the cosine. From `near_duplicate` on, two statements in the same words are one
    memory; from `conflict` on, another value by another author waits for a person. `compared_from` is the cosine from
    which a memory is compared at all, `neighbours` the number of memories that a new one is compared with. Memories of
    `reviewed_categories` from `reviewed_origins` wait for a person. A day in words of what has no time of its own is a
    day of the `zone`.
    """

    near_duplicate: float = 0.92
    conflict: float = 0.85
    compared_from: float = 0.12
    neighbours: int = 32
    reviewed_categories: frozenset[str] = frozenset(
        {"instruction", "instructions", "procedure", "policy", "permission"}
    )
    reviewed_origins: frozenset[Origin] = frozenset({Origin.TOOL_OUTPUT, Origin.WEB, Origin.AGENT_INFERRED})

    zone: tzinfo = UTC

    def __post_init__(self) -> None:
        if not all(0.0 < cosine <= 1.0 for cosine in (self.near_duplicate, self.conflict, self.compared_from)):
            raise InvalidConfig("write_rules", hint="its thresholds are cosines above 0 and up to 1")
        if not 1 <= self.neighbours <= 1000:
            raise InvalidConfig("write_rules", hint="neighbours is 1 to 1000")
