"""A detector: numbers of staff, E-123456."""

from __future__ import annotations

from mnemic.redact import Detector, Finder, pattern


def build() -> Detector:
    """Return the detector; its entity is the name of its entry point."""
    return Finder("EXAMPLE_ID", (pattern(r"\bE-\d{6}\b", spell=str.upper),))
