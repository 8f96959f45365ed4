"""Features of a sentence: hashed words, pairs and triples of words, and parts of words, in any language."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import numpy.typing as npt

WIDTH = 1 << 14
"""Number of hash buckets. Weights belong to this width."""
MAX_CHARS = 400
"""Maximum number of characters of one sentence that are read."""
_TOKEN = re.compile(r"\d+(?:[.,:/-]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)?|[^\w\s]")
_STRAIGHT = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "«": '"', "»": '"'})
_LENGTHS = (1, 2, 3, 4, 6, 8, 12, 18, 26)
_SHORTEST_PARTED = 5


def tokens(text: str) -> list[str]:
    """Return the words and signs of `text` in lower case; a number is `0`."""
    found = _TOKEN.findall(text[:MAX_CHARS].translate(_STRAIGHT))
    return ["0" if token[0].isdigit() else token.lower() for token in found]


@lru_cache(maxsize=256)
def buckets(text: str) -> npt.NDArray[np.int32]:
    """Return the buckets of the features of `text`, each once, in order, read-only. Cached: both classifiers need the
    same sentences of a message.
    """
    found = np.array(sorted({zlib.crc32(name.encode()) % WIDTH for name in _names(text)}), dtype=np.int32)
    found.flags.writeable = False
    return found


def _names(text: str) -> Iterator[str]:
    text = text[:MAX_CHARS]
    words = tokens(text)
    padded = ["^", *words, "$"]
    yield f"len:{sum(len(words) > limit for limit in _LENGTHS)}"
    yield f"capital:{_capitals(text)}"
    for word in words:
        yield word
        if len(word) >= _SHORTEST_PARTED:
            yield from (f"<{word[:4]}", f"{word[-4:]}>", f"{word[-3:]}>")
    for place in range(len(padded) - 1):
        yield f"{padded[place]} {padded[place + 1]}"
    for place in range(len(padded) - 2):
        yield f"{padded[place]} {padded[place + 1]} {padded[place + 2]}"
    for word in words[:2]:
        yield f"first:{word}"


def _capitals(text: str) -> int:
    """Count the capitalised words after the first: none, one, more."""
    return min(2, sum(word[:1].isupper() and len(word) > 1 for word in text.split()[1:]))
