"""Spelling of chats, written out for rules and classifiers: "im", "dont", "toooo".

People who write to each other omit apostrophes and repeat letters. The words of rules and classifiers are spelled as in
books, so they read a text in that spelling; the stored text keeps its own.
"""

from __future__ import annotations

import re

_WITHOUT_APOSTROPHE = {
    word.replace("'", ""): word
    for word in (
        "i'm i've don't doesn't didn't can't won't isn't wasn't aren't weren't haven't hasn't hadn't couldn't wouldn't "
        "shouldn't that's there's he's she's they're they've you're you've we've what's where's who's how's let's"
    ).split()
}
_CONTRACTED = re.compile(rf"(?i)(?<![\w'’-])(?:{'|'.join(_WITHOUT_APOSTROPHE)})(?![\w'’-])")
_DRAWN_OUT = re.compile(r"([^\W\d_])\1{2,}")
_OTHER_LANGUAGE = re.compile(
    r"(?i)(?<!\w)(?:ich|wir|der|die|das|den|dem|und|ein\w{0,2}|nicht|je|nous|les?|la|de|des|et|une?|est|que|qui|el|los"
    r"|il|een|het|ik|hab\w*|ist|sind)(?!\w)"
)
"""Words of a language in which "im" and "dont" are words."""


def written_out(text: str) -> str:
    """Return `text` with the apostrophes of English contractions, and without repetitions of a letter ("himmm",
    "toooo"). Its indexes differ from those of `text`.
    """
    plain = _DRAWN_OUT.sub(r"\1", text)
    if _CONTRACTED.search(plain) is None or _OTHER_LANGUAGE.search(plain) is not None:
        return plain
    return _CONTRACTED.sub(_with_apostrophe, plain)


def _with_apostrophe(found: re.Match[str]) -> str:
    word = _WITHOUT_APOSTROPHE[found[0].casefold()]
    return word[0].upper() + word[1:] if found[0][0].isupper() or (word[0] == "i" and word[1] == "'") else word
