"""Models from folders with ONNX files: an embedder, by `MNEMIC_EMBEDDER=onnx` and `MNEMIC_EMBEDDER_MODEL=FOLDER`, and a
reranker, by `MNEMIC_RERANKER=onnx` and `MNEMIC_RERANKER_MODEL=FOLDER`; `default` instead of a folder is one that reads
with the default embedder.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mnemic.errors import InvalidConfig
from mnemic.onnx.embedder import OnnxEmbedder
from mnemic.onnx.folder import ModelFolder, require_files
from mnemic.onnx.reranker import OnnxReranker, TokenReranker

if TYPE_CHECKING:
    from mnemic.config import Settings
    from mnemic.ports import Clock, Reranker

__all__ = ["ModelFolder", "OnnxEmbedder", "OnnxReranker", "TokenReranker", "build", "build_reranker"]

DEFAULT = "default"
"""Name of the reranker that reads with the default embedder, in place of a folder."""


def build(*, settings: Settings, clock: Clock) -> OnnxEmbedder:  # noqa: ARG001 - as plug-ins are called
    """Return the embedder that the settings name. Raises InvalidConfig (`embedder`, `model_folder:<file>`)."""
    if settings.embedder_model is None:
        raise InvalidConfig("embedder", hint="embedder=onnx needs embedder_model, the folder of the model")
    folder = ModelFolder.read(Path(settings.embedder_model).expanduser())
    return OnnxEmbedder(folder, threads=settings.embedder_threads)


def build_reranker(*, settings: Settings, clock: Clock) -> Reranker:  # noqa: ARG001 - as plug-ins are called
    """Return the reranker that the settings name, by the states of the default embedder where it is `default`. Raises
    InvalidConfig (`reranker`, `model_folder:<file>`).
    """
    if settings.reranker_model == DEFAULT:
        return TokenReranker(threads=settings.embedder_threads)
    if settings.reranker_model is None:
        raise InvalidConfig("reranker", hint="reranker=onnx needs reranker_model, the folder of the model, or default")
    folder = Path(settings.reranker_model).expanduser()
    require_files(folder)
    return OnnxReranker(folder, threads=settings.embedder_threads)
