"""A reranker that needs no further weights: late interaction with the states of the default embedder.

For each piece of the query the nearest piece of a memory counts, rare pieces more (Khattab and Zaharia, "ColBERT:
Efficient and Effective Passage Search via Contextualized Late Interaction over BERT", 2020). The states were trained
for their mean, so their order alone is no better than that of the lists; both together find more in long chats with an
assistant (bench/retrieval.md).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from mnemic.errors import EmbedderFailed, InvalidInput, RerankerFailed
from mnemic.onnx.one_thread import OneThread
from mnemic.providers.token_states import TokenStates
from mnemic.types import Deadline

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

READ = 20
"""Maximum texts read, the best by the lists; the rest follow in their order."""
CHARS = 3_000
"""Maximum characters read of a text: more pieces than the model accepts."""
OF_PLACE, OF_PIECES = 1.0, 2.0
"""Weights of the place by the lists and of the pieces, both in standard deviations of the texts that are read."""
HALVED = 3
"""Places after which the worth of a place is halved."""


class _Read(NamedTuple):
    """The pieces of a text and, for each piece of the query, the cosine of the nearest."""

    pieces: frozenset[int]
    nearest: Floats


class TokenReranker:
    """Scores of the texts' places and of their pieces together, by the default embedder on `threads` cores, which is
    loaded at the first call. The texts come best first, as a search gives them.

    Raises RerankerFailed as `OnnxReranker` does.
    """

    def __init__(self, *, threads: int = 1, wait: float | None = None) -> None:
        self._threads, self._thread = threads, OneThread(wait)
        self._model: TokenStates | None = None

    async def rerank(self, query: str, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[float]:
        """One score in 0..1 for each text, in order."""
        if isinstance(texts, str):
            raise InvalidInput("texts", hint="a sequence of strings")
        if len(texts) < 2:
            return [0.5] * len(texts)
        until = self._thread.until(deadline)
        pieces, states = await self._thread.run(partial(self._states, query), until)
        if not pieces:
            return _append_unread([1.0], len(texts))
        read = [await self._thread.run(partial(self._read, states, text), until) for text in texts[:READ]]
        return _append_unread(_scores(pieces, read), len(texts))

    def _states(self, text: str) -> tuple[Sequence[int], NDArray[np.float32]]:
        try:
            if self._model is None:
                self._model = TokenStates(self._threads)
            return self._model.states(text[:CHARS])
        except EmbedderFailed as failure:
            raise RerankerFailed("unavailable", hint=failure.reason) from failure

    def _read(self, query: NDArray[np.float32], text: str) -> _Read:
        pieces, states = self._states(text)
        alike = query @ states.T
        return _Read(frozenset(pieces), alike.max(axis=1) if pieces else alike.sum(axis=1))

    async def close(self) -> None:
        """Release the model. May be called twice."""
        self._thread.close()
        self._model = None


def _scores(pieces: Sequence[int], read: Sequence[_Read]) -> list[float]:
    """Return one score for each text that was read, 0 to 1."""
    import numpy as np

    having = Counter(piece for one in read for piece in one.pieces)
    rarities = np.array([math.log((len(read) + 1) / (1 + having[piece])) + 0.05 for piece in pieces])
    alike = np.array([float(one.nearest @ rarities) for one in read]) / rarities.sum()
    places = 1 / (1 + np.arange(len(read)) / HALVED)
    both = OF_PLACE * _deviations(places) + OF_PIECES * _deviations(alike)
    return [1 / (1 + math.exp(-score)) for score in both.tolist()]


def _deviations(values: Floats) -> Floats:
    """Return values in standard deviations from their mean."""
    scaled: Floats = (values - values.mean()) / (values.std() + 1e-9)
    return scaled


def _append_unread(scores: list[float], texts: int) -> list[float]:
    """Return scores for all texts: those that were not read come behind, in their order."""
    least, rest = min(scores), texts - len(scores)
    return scores + [least * (rest - place) / (rest + 1) for place in range(rest)]
