"""The classifier itself: the sum of two small models, one over words and one over a sentence's vector.

The vector's model belongs to one vector space. If the engine embeds with another, or the embedder fails, the words'
model decides alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from math import log
from pkgutil import get_data

import numpy as np
import numpy.typing as npt

from mnemic.language.sentences.classify.features import buckets

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
