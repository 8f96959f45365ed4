"""The states of the default model for single word pieces, which a reranker compares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mnemic.providers.minilm import _Model
from mnemic.providers.wordpiece import MAX_TOKENS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class TokenStates(_Model):
    """The default model, whose states of a text are those of its word pieces, without those at its ends; the state of
    each is a row of unit length. Raises EmbedderFailed as `MiniLmEmbedder` does.
    """

    def __init__(self, threads: int = 1) -> None:
        super().__init__(threads, MAX_TOKENS)

    def states(self, text: str) -> tuple[Sequence[int], NDArray[np.float32]]:
        """Return the word pieces of a text and their states, [pieces, 384]."""
        import numpy as np

        ids = self._tokeniser.ids(text)
        tokens = np.array([ids], np.int64)
        mask = np.ones(tokens.shape, np.int32)
        states: NDArray[np.float32] = self._session.run(None, {"input_ids": tokens, "attention_mask": mask})[0][0]
        return ids[1:-1], states[1:-1] / np.linalg.norm(states[1:-1], axis=1, keepdims=True)
