"""A part of a message as a sentence of its own."""

from __future__ import annotations

from mnemic.language.sentences.disputes import without_dispute
from mnemic.language.text.pattern import Pattern

_OPENING = Pattern(
    r"(?i)^(?:(?:please|also|and|so|well|oh|hey|hi|hello|by the way|btw|ok|okay|just|fyi|por favor|y|además)\b[,:]?"
    r"\s+)+"
)
_LEFT_OPEN = Pattern(r"(?i)(?<=[\w'’\")])[\s,]+(?:and|or|but|und|oder|aber|et|ou|mais|pero)[\s,;:.–—-]*\Z")
"""A conjunction at the end: the clause that it joined is not stored."""


def as_sentence(text: str) -> str:
    """Return the words as a sentence: without opening words, capitalised, with a full stop."""
    content = without_dispute(_OPENING.sub("", text.strip())).strip(" ,;:-–—")
    content = _LEFT_OPEN.sub("", content)
    if not content:
        return ""
    content = content[0].upper() + content[1:]
    return content if content[-1] in '.!?。！？…"”' else content + "."
