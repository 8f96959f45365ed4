"""Judges of two texts: the default model's first layers, which read both together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from mnemic.errors import EmbedderFailed
from mnemic.providers.minilm import open_network
from mnemic.providers.wordpiece import WordPiece, bundled_tokeniser


class Limits(NamedTuple):
    """Word pieces of the first text, and of both, beyond which they are cut."""

    first: int
    both: int

    def cut(self, tokeniser: WordPiece, first: str, second: str) -> tuple[int, list[int]]:
        """Return how many pieces are of the first text, and the pieces of both."""
        begun = tokeniser.ids(first)
        begun = [*begun[:-1][: self.first - 1], begun[-1]]
        return len(begun), [*begun, *tokeniser.ids(second)[1:]][: self.both]


MOST_PIECES = 1.4
"""Word pieces for each word, from which a text is taken for one in another language: 3 % of English messages written by
hand have so many, and 94 % of those in German, French, Spanish, Italian, Portuguese and Dutch.
"""
_WORD = re.compile(r"[^\W\d_]+")
ANSWER_LIMITS, CHANGE_LIMITS, KEEPING_LIMITS = Limits(24, 64), Limits(36, 72), Limits(48, 112)
ORDER_LIMITS = Limits(88, 160)


class PairJudge:
    """Judges pairs of texts by a network that has the trained part and refers to the default embedder's weights.

    Raises EmbedderFailed as `MiniLmEmbedder` does.
    """

    def __init__(self, network: str, limits: Limits, threads: int = 1) -> None:
        self._session = open_network(network, threads)
        self._limits = limits
        self._tokeniser = bundled_tokeniser().limited(limits.both)

    @classmethod
    def of_answers(cls, threads: int = 1) -> PairJudge:
        """Return the judge of whether a statement answers a question: by the attribute that is asked for, and of whom
        or what. Trained by `training/answers`.
        """
        return cls("answers.onnx", ANSWER_LIMITS, threads)

    @classmethod
    def of_changes(cls, threads: int = 1) -> PairJudge:
        """Return the judge of whether a statement ends or replaces an earlier one. Trained by `training/updates`."""
        return cls("changes.onnx", CHANGE_LIMITS, threads)

    @classmethod
    def of_order(cls, threads: int = 1) -> PairJudge:
        """Return the judge of whether a statement changes what an earlier one, after a question and `ASKED_OF`, says of
        what is asked. Trained by `training/order`.
        """
        return cls("order.onnx", ORDER_LIMITS, threads)

    @classmethod
    def of_keeping(cls, threads: int = 1) -> PairJudge:
        """Return the judge of whether a part of a message is worth storing, by the part and the words around it.
        Trained by `training/keeping/messages`.
        """
        return cls("keeping.onnx", KEEPING_LIMITS, threads)

    def is_spelled_out(self, *texts: str) -> bool:
        """Return True if the vocabulary, which is English, has few of the words of the texts whole."""
        words = _WORD.findall(" ".join(texts))
        return len(self._tokeniser.ids(" ".join(words))) - 2 >= MOST_PIECES * len(words)

    def log_odds(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return, for each pair, the natural logarithm of the odds."""
        import numpy as np

        read = [self._limits.cut(self._tokeniser, *pair) for pair in pairs]
        ids = np.zeros((len(read), max(len(pieces) for _, pieces in read)), np.int64)
        mask, sides = np.zeros(ids.shape, np.int32), np.zeros(ids.shape, np.int64)
        for row, (begun, pieces) in enumerate(read):
            ids[row, : len(pieces)], mask[row, : len(pieces)] = pieces, 1
            sides[row, begun : len(pieces)] = 1
        found = self._session.run(None, {"input_ids": ids, "sides_of": sides, "attention_mask": mask})[0]
        if not np.isfinite(found).all():
            raise EmbedderFailed("not_finite")
        return [float(odds) for odds in found[:, 0]]
