"""A second small classifier: sentences about the world, advice to the listener, and small talk.

The classifier of statements was trained on messages to an assistant. In a talk between people most sentences are of a
third sort, about films, sports, recipes and good advice, and look like facts. Its two models are of the same kind;
`training/keeping/train_world.py` makes its weights from frames.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from pkgutil import get_data

import numpy as np

from mnemic.language.sentences.classify.classifier import Floats, buckets

MIXING = 0.7
"""Weight of the log odds of each model if both decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Weights made by training. `space` names the embedder that the vector's model was trained with."""

    words: Floats
    words_bias: float
    inner: Floats
    inner_bias: Floats
    outer: Floats
    outer_bias: Floats
    space: str

    def shares(self, texts: list[str], vectors: Floats | None = None) -> list[float]:
        """Return for each of `texts` the probability of such talk; `vectors` are theirs in `space`, in order."""
        if not texts:
            return []
        scores = np.array([self._by_words(text) for text in texts], dtype=np.float32)
        if vectors is not None:
            hidden = np.maximum(vectors @ self.inner + self.inner_bias, 0)
            scores = MIXING * (scores + hidden @ self.outer + self.outer_bias)
        return [float(one) for one in 1 / (1 + np.exp(-scores))]

    def _by_words(self, text: str) -> float:
        found = buckets(text)
        return float(self.words[found].sum() / np.sqrt(max(1, len(found)))) + self.words_bias


@lru_cache(maxsize=1)
def world() -> World:
    """Return the weights of this release."""
    with np.load(BytesIO(get_data(__package__, "world.npz") or b""), allow_pickle=False) as stored:
        return World(
            words=stored["words"].astype(np.float32) * stored["words_scale"],
            words_bias=float(stored["words_bias"]),
            inner=stored["inner"].astype(np.float32),
            inner_bias=stored["inner_bias"],
            outer=stored["outer"],
            outer_bias=stored["outer_bias"],
            space=str(stored["space"]),
        )
