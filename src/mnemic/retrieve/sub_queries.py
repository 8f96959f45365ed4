"""Decomposition of a question about two things: their evidence is in different places, and memories similar to both
concern neither.

By rules, in English: two questions; "between A and B"; "A or B" after a comma or a colon; "the total of A and B"; and
"how many, how long, how much" with a clause after "when I", "since I", "before I" or "after I".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mnemic.language.questions.question_words import content_words
from mnemic.language.text.pattern import Pattern
from mnemic.language.text.time_expressions import READ
from mnemic.policy.intent_check import MAX_PARTS

_QUESTIONS = Pattern(r"(?<=\?)\s+")
_JOINED = (
    Pattern(r"\bbetween (?P<a>.{5,200}?) and (?P<b>.{5,200})", re.IGNORECASE),
    Pattern(r"[,:] (?:is it |was it )?(?P<a>[^,:]{5,200}?),? or (?P<b>.{5,200})", re.IGNORECASE),
    Pattern(
        r"\b(?:total|combined|altogether|sum|both)\b.{0,80}?\b(?:of|on|for|in|to|from|with)\b"
        r" (?P<a>.{4,120}?) and (?P<b>.{4,120})",
        re.IGNORECASE,
    ),
    Pattern(
        r"^(?P<a>how (?:many|much|long)\b.{6,200}?) (?:when|since|before|after) (?P<b>(?:i|we|he|she|they)\b.{8,200})",
        re.IGNORECASE,
    ),
)


def parts_of(query: str) -> tuple[str, ...]:
    """Return the two or three parts that `query` asks about, in its words; nothing for a question about one thing."""
    text = " ".join(query[: 2 * READ].split())[:READ]
    asked = _QUESTIONS.split(text)
    if len(asked) > 1:
        return _several(asked[:MAX_PARTS]) if text.endswith("?") else ()
    for joined in _JOINED:
        found = joined.search(text)
        if found:
            return _several([part.strip(" ?.,") for part in (found["a"], found["b"])])
    return ()


def _several(parts: Sequence[str]) -> tuple[str, ...]:
    """Return the parts that have a topic, if there are two or more."""
    saying = tuple(part for part in parts if content_words(part))
    return saying if len(saying) > 1 else ()
