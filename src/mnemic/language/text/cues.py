"""Surface cues of a text: cheap signs that help to rank it.

English words; in other languages the signs are simply absent. All patterns take time linear in the text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
_ONESELF = re.compile(r"\b(?:i|me|my|mine|we|us|our)\b", re.IGNORECASE)
_TIMED = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|weeks?|weekend|months?|years?|days?|recently|just|since"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|january|february|march|april|may|june|july|august|september|october|november|december|(?:19|20)\d\d)\b",
    re.IGNORECASE,
)


class Cues(NamedTuple):
    """Surface cues of a text: its number of words, the share of them in mere questions, and True if its speaker
    mentions themselves (`oneself`) or if it names a time (`timed`).
    """

    words: int = 0
    asking: float = 0.0
    oneself: bool = False
    timed: bool = False


def read_cues(text: str) -> Cues:
    """Return the cues of `text`. `asking` is the share of its words in questions without a word for the speaker."""
    words = asking = 0
    for sentence in _SENTENCE.findall(text):
        size = len(sentence.split())
        words += size
        if sentence.endswith("?") and not _ONESELF.search(sentence):
            asking += size
    return Cues(
        words=words,
        asking=asking / words if words else 0.0,
        oneself=_ONESELF.search(text) is not None,
        timed=_TIMED.search(text) is not None,
    )
