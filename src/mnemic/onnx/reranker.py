"""A cross-encoder in a folder: it reads the query and a memory together and scores how well one answers the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mnemic.errors import InvalidInput, RerankerFailed
from mnemic.onnx.folder import MODEL, TOKENISER
from mnemic.onnx.one_thread import LONGEST_WAIT, OneThread
from mnemic.providers.minilm import session_options
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
