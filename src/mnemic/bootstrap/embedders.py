"""The embedder that the settings name.

To add one, register a factory under the entry points `mnemic.embedders` (`mnemic.models.plugin` has those of vendors);
`EMBEDDER_EXTRAS` of `mnemic.config.settings` lists those with an extra.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemic.bootstrap.plugin_backends import offered_as
from mnemic.config import Settings
from mnemic.errors import InvalidConfig
from mnemic.models.http_embedder import HttpEmbedder
from mnemic.models.openai_client import require_client
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.providers.model_breakers import BreakingEmbedder
from mnemic.providers.retrying import RetryingEmbedder

if TYPE_CHECKING:
    from mnemic.ports import Clock, Embedder


def build_embedder(settings: Settings, clock: Clock) -> Embedder:
    """Return the embedder that `settings` name. Raises InvalidConfig (`invalid_config:openai` without the client)."""
    if settings.embedder == "minilm":
        return MiniLmEmbedder(threads=settings.embedder_threads)
    if settings.embedder != "http":
        offered: Embedder = offered_as("embedders", settings.embedder)(settings=settings, clock=clock)
        return offered
    if not (settings.embedder_url and settings.embedder_model and settings.embedder_dimension):
        raise InvalidConfig("embedder", hint="embedder=http needs embedder_url, embedder_model and embedder_dimension")
    require_client()
    inner = HttpEmbedder(
        base_url=settings.embedder_url,
        model=settings.embedder_model,
        dimension=settings.embedder_dimension,
        api_key=settings.key_for("embedder_url"),
    )
    return BreakingEmbedder(RetryingEmbedder(inner, clock), clock)
