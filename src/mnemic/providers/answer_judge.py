"""The judge of answers: the default model's first layers, which read a question and a statement together."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.errors import EmbedderFailed
from mnemic.providers.minilm import open_network
from mnemic.providers.wordpiece import WordPiece, bundled_vocabulary

MAX_PIECES = 64
MAX_QUESTION_PIECES = 24


class AnswerJudge:
    """Judges whether a statement answers a question: by the attribute that is asked for, and of whom or what.

    Trained by `training/answers`; the network `data/answers.onnx` has the trained part and refers to the weights of the
    default embedder for the rest. Raises EmbedderFailed as `MiniLmEmbedder` does.
    """

    def __init__(self, threads: int = 1) -> None:
        self._session = open_network("answers.onnx", threads)
        self._tokeniser = WordPiece(bundled_vocabulary(), max_tokens=MAX_PIECES)

    def log_odds(self, question: str, statements: Sequence[str]) -> list[float]:
        """Return, for each statement, the natural logarithm of the odds that it answers the question."""
        import numpy as np

        asked = self._tokeniser.ids(question)
        asked = [*asked[:-1][: MAX_QUESTION_PIECES - 1], asked[-1]]
        pairs = [[*asked, *self._tokeniser.ids(text)[1:]][:MAX_PIECES] for text in statements]
        ids = np.zeros((len(pairs), max(map(len, pairs))), np.int64)
        mask, sides = np.zeros(ids.shape, np.int32), np.zeros(ids.shape, np.int64)
        for row, pieces in enumerate(pairs):
            ids[row, : len(pieces)], mask[row, : len(pieces)] = pieces, 1
            sides[row, len(asked) : len(pieces)] = 1
        found = self._session.run(None, {"input_ids": ids, "sides_of": sides, "attention_mask": mask})[0]
        if not np.isfinite(found).all():
            raise EmbedderFailed("not_finite")
        return [float(odds) for odds in found[:, 0]]
