"""Same, opposite or superseding: what a statement is to what is known."""

from __future__ import annotations

LEAST_COSINE = 0.12
"""Statements further apart are never compared: the vectors say that they have nothing in common."""
