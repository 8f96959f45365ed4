"""The classifier: features of a sentence (hashed words, pairs and triples of words, and parts of words, in any
language), and the sum of two small models, one over them and one over the sentence's vector.

The vector's model belongs to one vector space. If the engine embeds with another, or the embedder fails, the words'
model decides alone.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from math import log
from pkgutil import get_data

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


Floats = npt.NDArray[np.float32]

KEPT = ("identity", "relation", "preference", "instruction", "fact", "event", "safety", "change")
"""Classes worth storing."""
LEFT = (
    "question",
    "request",
    "transient",
    "opinion",
    "chat",
    "dangling",
    "hypothetical",
    "gossip",
    "joke",
    "quoted",
)
"""Classes not stored, each with its reason."""
LABELS = (*KEPT, *LEFT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """The classifier's opinion of one sentence: the share of each of `LABELS`, in order; `words_alone` is True if the
    words' model decided alone.
    """

    shares: tuple[float, ...]
    words_alone: bool = False

    @property
    def keep(self) -> float:
        """Probability that it is worth storing, 0 to 1."""
        return sum(self.shares[: len(KEPT)])

    @property
    def kept_as(self) -> str:
        """The likeliest of `KEPT`."""
        return KEPT[max(range(len(KEPT)), key=self.shares.__getitem__)]

    @property
    def left_as(self) -> str:
        """The likeliest of `LEFT`."""
        return LEFT[max(range(len(LEFT)), key=lambda place: self.shares[len(KEPT) + place])]

    def share(self, label: str) -> float:
        """Return the share of one label."""
        return self.shares[LABELS.index(label)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Weights made by training. `space` names the embedder that the vector's model was trained with."""

    words: Floats
    words_bias: Floats
    inner: Floats
    inner_bias: Floats
    outer: Floats
    outer_bias: Floats
    mixing: tuple[float, float]
    space: str

    def opinions(self, texts: list[str], vectors: Floats | None = None) -> list[Opinion]:
        """Return one opinion for each of `texts`; `vectors` are theirs in `space`, in order."""
        if not texts:
            return []
        scores = np.stack([self.words_scores(text) for text in texts])
        if vectors is not None:
            by_words, by_vector = self.mixing
            scores = by_words * log_softmax(scores) + by_vector * log_softmax(self.vector_scores(vectors))
        shares = np.exp(log_softmax(scores))
        return [Opinion(shares=tuple(map(float, row)), words_alone=vectors is None) for row in shares]

    def words_scores(self, text: str) -> Floats:
        """Return the scores of the words' model."""
        found = buckets(text)
        scale = np.float32(1 / np.sqrt(max(1, len(found))))
        return np.asarray(self.words[:, found].sum(axis=1) * scale + self.words_bias, dtype=np.float32)

    def vector_scores(self, vectors: Floats) -> Floats:
        """Return the scores of the vector's model, one row for each vector."""
        hidden = np.maximum(vectors @ self.inner + self.inner_bias, 0)
        return np.asarray(hidden @ self.outer + self.outer_bias, dtype=np.float32)


def log_softmax(scores: Floats) -> Floats:
    """Return the logarithms of the shares, row by row."""
    shifted = scores - scores.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)), dtype=np.float32)


def log_odds(probability: float, most: float) -> float:
    """Return the natural logarithm of the odds of a probability, which is taken for 1 - `most` to `most`."""
    inside = min(max(probability, 1 - most), most)
    return log(inside / (1 - inside))


@lru_cache(maxsize=1)
def weights() -> Weights:
    """Return the weights of this release."""
    with np.load(BytesIO(get_data(__package__, "weights.npz") or b""), allow_pickle=False) as stored:
        words = stored["words"].astype(np.float32) * stored["words_scale"][:, None]
        by_words, by_vector = (float(one) for one in stored["mixing"])
        return Weights(
            words=words,
            words_bias=stored["words_bias"],
            inner=stored["inner"].astype(np.float32),
            inner_bias=stored["inner_bias"],
            outer=stored["outer"],
            outer_bias=stored["outer_bias"],
            mixing=(by_words, by_vector),
            space=str(stored["space"]),
        )
