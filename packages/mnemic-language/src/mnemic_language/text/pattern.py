"""A regular expression that is compiled when it is first used: `Pattern` of the library `mnemic_redact`."""

from __future__ import annotations

from mnemic_redact.lazy_pattern import Pattern

__all__ = ["Pattern"]
