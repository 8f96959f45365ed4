"""An embedder for a hundred languages, chosen by `MNEMIC_EMBEDDER=multilingual`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemic_multilingual.embedder import MultilingualEmbedder

if TYPE_CHECKING:
    from mnemic.config import Settings
    from mnemic.ports import Clock

__all__ = ["MultilingualEmbedder", "build"]


def build(*, settings: Settings, clock: Clock) -> MultilingualEmbedder:  # noqa: ARG001 - as plug-ins are called
    """Return the embedder, on as many threads as the settings say."""
    return MultilingualEmbedder(threads=settings.embedder_threads)
