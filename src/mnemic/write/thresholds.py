"""Thresholds of the write path: the cosines from which memories are compared, merged and flagged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from mnemic.errors import InvalidConfig
from mnemic.types import Origin
from mnemic_language.changes import MIN_COSINE

THRESHOLDS = ("near_duplicate", "conflict", "nominate", "denied")
"""The cosines of `WriteRules`."""
MEASURED_WITH = "all-MiniLM-L6-v2-int8"
"""The model of the embedder that their defaults were measured with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRules:
    """Thresholds of the write path. Cosines are calibrated for the default embedder; another one needs its own.

    `near_duplicate` (0.92) and `conflict` (0.85) are the defaults of the write pipeline's specification. Both are
    necessary conditions only: with all-MiniLM-L6-v2 a third of opposite statements are above 0.92, so words decide, not
    the cosine. They apply if words leave the case open: a statement with more content than the other, or an opposition
    in only half of it. If words settle the case, `nominate` is enough, and `denied` if a clause directly denies a
    clause. These two (0.60, 0.40) were set on the dev halves of the pairs in bench/write-quality.md.

    A calibration of the embedder in use (`mnemic calibrate`) replaces them all, except those named in `fixed`, which an
    operator has set.

    `neighbours` is the number of memories that a new one is compared with. Memories of `reviewed_categories` from
    `reviewed_origins` wait for a person.
    """

    near_duplicate: float = 0.92
    conflict: float = 0.85
    nominate: float = 0.6
    denied: float = 0.4
    neighbours: int = 32
    reviewed_categories: frozenset[str] = frozenset(
        {"instruction", "instructions", "procedure", "policy", "permission"}
    )
    reviewed_origins: frozenset[Origin] = frozenset({Origin.TOOL_OUTPUT, Origin.WEB, Origin.AGENT_INFERRED})
    fixed: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not all(0.0 < cosine <= 1.0 for cosine in self.cosines):
            raise InvalidConfig("write_rules", hint="its thresholds are cosines above 0 and up to 1")
        if not 1 <= self.neighbours <= 1000:
            raise InvalidConfig("write_rules", hint="neighbours is 1 to 1000")

    @property
    def cosines(self) -> tuple[float, ...]:
        """Thresholds that depend on the embedder, in the order of `THRESHOLDS`."""
        return tuple(getattr(self, name) for name in THRESHOLDS)

    def calibrated(self, cosines: Mapping[str, float]) -> WriteRules:
        """Return these rules with the thresholds of a calibration; those in `fixed` stay. Raises InvalidConfig."""
        return replace(self, **{name: cosines[name] for name in cosines.keys() - self.fixed})  # type: ignore[arg-type]

    @property
    def compared_from(self) -> float:
        """The cosine from which a memory is compared."""
        return min(MIN_COSINE, self.near_duplicate, self.conflict, self.nominate, self.denied)

    @property
    def merged_from(self) -> float:
        """The cosine from which two memories may be merged."""
        return min(self.near_duplicate, self.nominate)
