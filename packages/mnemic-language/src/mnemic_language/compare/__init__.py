"""Relation of a new statement to a known one: same, opposite or superseding."""

from __future__ import annotations

LEAST_COSINE = 0.12
"""Cosine below which two statements are not compared: their vectors share too little meaning."""
