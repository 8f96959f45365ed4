"""A regular expression that is compiled when it is first used: `Pattern` of the library `mnemic_redact`."""

from __future__ import annotations

from mnemic_redact.lazy_pattern import Pattern

__all__ = ["Pattern", "plain_letters"]

_MATCHED = str.maketrans({"ı": "i", "İ": "I", "ſ": "s"})


def plain_letters(text: str) -> str:
    """Return `text`, no longer and no shorter, with i and s in the place of the letters that a pattern without regard
    to case takes for them but `str.lower` does not: what was matched can be looked up.
    """
    return text.translate(_MATCHED)
