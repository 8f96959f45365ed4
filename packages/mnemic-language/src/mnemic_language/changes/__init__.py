"""Relation of a new statement to a known one: same, opposite or superseding."""

from __future__ import annotations

MIN_COSINE = 0.12
"""Cosine below which two statements are not compared: their vectors share too little meaning."""
KEPT = 16_384
"""Maximum number of statements that are kept as they were taken apart, some 9 kB each with their parts. One that was
dropped is taken apart again when it is next near a new one, which costs more than all else that a write compares.
"""
