"""Two rerankers: a cross-encoder in a folder, and one that needs no further weights.

A cross-encoder reads the query and a memory together and scores how well one answers the other. The other is late
interaction with the states of the default embedder: for each piece of the query the nearest piece of a memory counts,
rare pieces more (Khattab and Zaharia, "ColBERT: Efficient and Effective Passage Search via Contextualized Late
Interaction over BERT", 2020). The states were trained for their mean, so their order alone is no better than that of
the lists; both together find more in long chats with an assistant (bench/retrieval.md).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mnemic.errors import EmbedderFailed, InvalidInput, RerankerFailed
from mnemic.onnx.folder import MODEL, TOKENISER
from mnemic.onnx.one_thread import LONGEST_WAIT, OneThread
from mnemic.providers.minilm import session_options
from mnemic.providers.token_states import TokenStates
from mnemic.types import Deadline

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MAX_TOKENS = 512
"""Maximum tokens of a query and a memory together; longer pairs are cut, the longer of the two first."""
TOGETHER = 8
"""Texts of one run. The deadline is checked between two runs: a run that has begun cannot be stopped."""


class OnnxReranker:
    """Scores of the model in `folder` (`model.onnx` with one output a pair, or one for no and one for yes, and
    `tokenizer.json`), on `threads` cores. It is loaded at the first call.

    Raises RerankerFailed: `:timeout` past the deadline, never a partial list, `:unavailable` if the model cannot be
    read or the reranker is closed, `:response` if its output is not one score for each text.
    """

    def __init__(self, folder: Path, *, threads: int = 1, wait: float = LONGEST_WAIT) -> None:
        self.folder, self._threads, self._thread = folder, threads, OneThread(wait)
        self._model: CrossEncoder | None = None

    async def rerank(self, query: str, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[float]:
        """One score in 0..1 for each text, in order."""
        if isinstance(texts, str):
            raise InvalidInput("texts", hint="a sequence of strings")
        until = self._thread.until(deadline)
        scores: list[float] = []
        for first in range(0, len(texts), TOGETHER):
            scores += await self._thread.run(partial(self._work, query, texts[first : first + TOGETHER]), until)
        return scores

    def _work(self, query: str, texts: Sequence[str]) -> list[float]:
        if self._model is None:
            self._model = CrossEncoder(self.folder, self._threads)
        return self._model.scores(query, texts)

    async def close(self) -> None:
        """Release the model. May be called twice."""
        self._thread.close()
        self._model = None


class CrossEncoder:
    """The loaded network with its tokeniser."""

    def __init__(self, folder: Path, threads: int) -> None:
        from onnxruntime import InferenceSession
        from tokenizers import Tokenizer

        try:
            self._session = InferenceSession(
                str(folder / MODEL), session_options(threads), providers=["CPUExecutionProvider"]
            )
            self._tokeniser = Tokenizer.from_file(str(folder / TOKENISER))
        except Exception as error:  # the two libraries raise classes of many kinds
            raise RerankerFailed("unavailable", hint=f"{folder}: {type(error).__name__}") from error
        self._tokeniser.enable_truncation(MAX_TOKENS)
        if self._tokeniser.padding is None:
            self._tokeniser.enable_padding()
        self._inputs = [one.name for one in self._session.get_inputs()]

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score in 0..1 for each text, in order. Raises RerankerFailed (`reranker_failed:response`)."""
        import numpy as np

        pairs = self._tokeniser.encode_batch([(query, text) for text in texts])
        fields = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
        missing = [name for name in self._inputs if name not in fields]
        if missing:
            raise RerankerFailed("response", hint=f"the model wants other inputs: {', '.join(missing)}")
        given = {name: np.array([getattr(one, fields[name]) for one in pairs], np.int64) for name in self._inputs}
        return _probabilities(np.asarray(self._session.run(None, given)[0], np.float64), len(texts))


def _probabilities(logits: Floats, count: int) -> list[float]:
    """Return the probability of "yes" from one logit, or from one for no and one for yes."""
    logits = logits.reshape(count, -1) if count and logits.size % count == 0 else logits
    if logits.ndim != 2 or len(logits) != count or logits.shape[1] not in (1, 2):
        raise RerankerFailed("response", hint="a model with one output for a pair, or two")
    wanted = logits[:, 0] if logits.shape[1] == 1 else logits[:, 1] - logits[:, 0]
    found = [float(one) for one in wanted]
    if not all(map(math.isfinite, found)):
        raise RerankerFailed("response", hint="a score that is no number")
    return [1 / (1 + math.exp(-max(-700.0, min(700.0, one)))) for one in found]


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
