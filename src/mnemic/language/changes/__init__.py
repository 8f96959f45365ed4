"""Relation of a new statement to a known one: same, opposite or superseding."""

from __future__ import annotations

MIN_COSINE = 0.12
"""Minimum cosine of two statements for a comparison: below it their meanings have too little in common."""
KEPT = 16_384
"""Maximum number of parsed statements in the cache, some 9 kB each with their parts. A dropped one is parsed again the
next time it is near a new one, which costs more than the rest of the comparisons of a write.
"""
