"""A regular expression that is compiled when it is first used: `Pattern` of the library `mnemic_redact`, and
`WordPattern`, which is tried only where it can match.
"""

from __future__ import annotations

from mnemic_redact.lazy_pattern import Pattern
from mnemic_redact.word_pattern import WordCache, WordPattern, WordPatterns, plain_letters

__all__ = ["Pattern", "WordCache", "WordPattern", "WordPatterns", "plain_letters"]
