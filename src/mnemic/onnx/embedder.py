"""The embedder of a described model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mnemic.errors import EmbedderFailed
from mnemic.onnx.folder import MODEL, TOKENISER, ModelFolder, digest_of
from mnemic.providers.minilm import PrefixedEmbedder, fitting, session_options
from mnemic.types import Vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


class OnnxEmbedder(PrefixedEmbedder):
    """Vectors of the model in `folder`, on `threads` cores; a text beyond its `max_tokens` tokens is cut there.

    Raises EmbedderFailed also `:model_file` when the model cannot be read, or is another than the described one, and
    `:not_finite`.
    """

    def __init__(self, folder: ModelFolder, *, threads: int = 1) -> None:
        self.folder = folder
        self.text_prefix, self.query_prefix = folder.text_prefix, folder.query_prefix
        super().__init__(folder.space, lambda: Model(folder, threads).vectors)


class Model:
    """The loaded network with its tokeniser. Its inputs are those of the BERT family, or a part of them."""

    def __init__(self, folder: ModelFolder, threads: int) -> None:
        from onnxruntime import InferenceSession
        from tokenizers import Tokenizer

        if digest_of(folder.path) != folder.digest:
            raise EmbedderFailed("model_file", hint=f"the model has changed: run `mnemic embedder {folder.path}` again")
        try:
            self._session = InferenceSession(
                str(folder.path / MODEL), session_options(threads), providers=["CPUExecutionProvider"]
            )
            self._tokeniser = Tokenizer.from_file(str(folder.path / TOKENISER))
        except Exception as error:  # the two libraries raise classes of many kinds
            hint = f"{folder.path}: {type(error).__name__}"
            raise EmbedderFailed("model_file", hint=hint) from error
        self._tokeniser.no_padding()
        self._tokeniser.enable_truncation(folder.max_tokens)
        self._inputs = [one.name for one in self._session.get_inputs()]
        self._pooling = folder.pooling

    def vectors(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector of unit length per text, in order. Raises EmbedderFailed."""
        ids = [one.ids for one in self._tokeniser.encode_batch(list(texts))]
        vectors: list[Vector] = []
        while len(vectors) < len(ids):
            rest = ids[len(vectors) :]
            vectors += self._run(rest[: fitting(rest)])
        return vectors

    def _run(self, ids: Sequence[Sequence[int]]) -> list[Vector]:
        import numpy as np

        tokens = np.zeros((len(ids), max(map(len, ids))), np.int64)
        mask = np.zeros_like(tokens)
        for row, one in enumerate(ids):
            tokens[row, : len(one)] = one
            mask[row, : len(one)] = 1
        given = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        pooled = self._pool_states(self._states(given), mask)
        lengths = np.linalg.norm(pooled, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise EmbedderFailed("not_finite")
        return [row.tobytes() for row in (pooled / lengths).astype("<f4")]

    def _states(self, given: Mapping[str, NDArray[np.int64]]) -> Floats:
        try:
            states: Floats = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        except KeyError as error:
            raise EmbedderFailed("model_file", hint=f"the model has an input {error.args[0]!r}") from None
        except Exception as error:  # of the runtime, which has no public base class
            raise EmbedderFailed("model_file", hint=type(error).__name__) from error
        return states

    def _pool_states(self, states: Floats, mask: NDArray[np.int64]) -> Floats:
        """Return one vector per text of the states (texts, tokens, dimension); some models include the pooling."""
        if states.ndim == 2:
            return states
        if self._pooling == "cls":
            return states[:, 0]
        if self._pooling == "last":
            return states[range(len(states)), mask.sum(1) - 1]
        weights = mask[:, None, :].astype(states.dtype)
        mean: Floats = (weights @ states)[:, 0, :] / mask.sum(1, keepdims=True)
        return mean
