"""A regular expression that is compiled when it is first used: `Pattern` of the library `mnemic.redact`, and
`WordPattern`, which is tried only if it can match: its required words are in `data/expression_words.json`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pkgutil import get_data

from mnemic.redact.lazy_pattern import Pattern
from mnemic.redact.word_pattern import WordCache, WordPattern, WordPatterns, know, plain_letters

__all__ = ["Pattern", "WordCache", "WordPattern", "WordPatterns", "known_words", "plain_letters"]


def known_words() -> Mapping[str, Sequence[str]]:
    """Return the words of this package's expressions, extracted by `mnemic.language.text.expression_words`."""
    found: dict[str, list[str]] = json.loads(get_data(__package__, "data/expression_words.json") or b"{}")
    return found


know(known_words)
