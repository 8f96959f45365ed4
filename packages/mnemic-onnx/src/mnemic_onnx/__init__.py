"""An embedder from a folder with an ONNX model, chosen by `MNEMIC_EMBEDDER=onnx` and `MNEMIC_EMBEDDER_MODEL=FOLDER`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mnemic.errors import InvalidConfig
from mnemic_onnx.embedder import OnnxEmbedder
from mnemic_onnx.folder import ModelFolder

if TYPE_CHECKING:
    from mnemic.config import Settings
    from mnemic.ports import Clock

__all__ = ["ModelFolder", "OnnxEmbedder", "build"]


def build(*, settings: Settings, clock: Clock) -> OnnxEmbedder:  # noqa: ARG001 - as plug-ins are called
    """Return the embedder that the settings name. Raises InvalidConfig (`embedder`, `model_folder:<file>`)."""
    if settings.embedder_model is None:
        raise InvalidConfig("embedder", hint="embedder=onnx needs embedder_model, the folder of the model")
    folder = ModelFolder.read(Path(settings.embedder_model).expanduser())
    return OnnxEmbedder(folder, threads=settings.embedder_threads)
