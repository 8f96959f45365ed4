"""An embedder in this process by fastembed, whose models are ONNX files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mnemic.errors import EmbedderFailed
from mnemic.models.http_embedder import unit_vector
from mnemic.plugins.extras import brought_by
from mnemic.providers.minilm import PrefixedEmbedder
from mnemic.types import Vector, VectorSpace

QUERY, PASSAGE = "q\x00", "p\x00"
"""Marks of questions and statements on the way to the model: the same text has two vectors."""


class FastembedEmbedder(PrefixedEmbedder):
    """Vectors of one of fastembed's models by its name. The first text waits for the model, which fastembed fetches
    from the hub unless it has it in its cache, or `folder` has its files.

    Raises EmbedderFailed also `:model_file` if there is no such model, or it cannot be had.
    """

    text_prefix, query_prefix = PASSAGE, QUERY

    def __init__(self, model: str, dimension: int, *, folder: str | None = None, threads: int = 1) -> None:
        space = VectorSpace(model=model, dimension=dimension)
        super().__init__(space, lambda: _open_model(space, folder, threads))


def _open_model(space: VectorSpace, folder: str | None, threads: int) -> Callable[[Sequence[str]], list[Vector]]:
    with brought_by("fastembed"):
        from fastembed import TextEmbedding
    try:
        model = TextEmbedding(space.model, threads=threads, specific_model_path=folder)
    except Exception as error:  # of the hub's client, the runtime and fastembed itself
        raise EmbedderFailed("model_file", hint=f"{space.model}: {type(error).__name__}") from error
    return lambda texts: _vectors(model, texts, space.dimension)


def _vectors(model: Any, texts: Sequence[str], dimension: int) -> list[Vector]:
    made: dict[str, Vector] = {}
    for mark, embed in ((PASSAGE, model.passage_embed), (QUERY, model.query_embed)):
        marked = [text for text in texts if text.startswith(mark)]
        rows = embed([text.removeprefix(mark) for text in marked]) if marked else ()
        made |= {text: unit_vector(row.tolist(), dimension) for text, row in zip(marked, rows, strict=True)}
    return [made[text] for text in texts]
