"""A regular expression that is compiled when it is first used, and letters that one takes for others."""

from __future__ import annotations

from mnemic.redact.lazy_pattern import Pattern

__all__ = ["Pattern", "plain_letters"]

_MATCHED = str.maketrans({"ı": "i", "İ": "I", "ſ": "s"})


def plain_letters(text: str) -> str:
    """Return `text` at the same length, with i and s for the letters that a case-insensitive pattern takes for them but
    `str.lower` does not: so that matches can be looked up.
    """
    return text.translate(_MATCHED)
