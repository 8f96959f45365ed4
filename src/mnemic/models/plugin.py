"""The factories of the entry points: a language model by `MNEMIC_MODEL=vendor:model`, an embedder by
`MNEMIC_EMBEDDER=vendor`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mnemic.errors import InvalidConfig
from mnemic.models import vendors
from mnemic.models.clients import OpenModel
from mnemic.models.completer import VendorCompleter
from mnemic.models.embedder import TIMEOUT_SECONDS, VendorEmbedder
from mnemic.models.fastembed import FastembedEmbedder
from mnemic.models.vendors import Client, Server

if TYPE_CHECKING:
    from mnemic.config import Settings
    from mnemic.ports import Clock


def anthropic(location: str, *, settings: Settings, clock: Clock) -> VendorCompleter:  # noqa: ARG001
    """Return a Claude model of Anthropic's."""
    return _completer(location, settings, vendors.anthropic, "pydantic_ai.models.anthropic:AnthropicModel")


def gemini(location: str, *, settings: Settings, clock: Clock) -> VendorCompleter:  # noqa: ARG001
    """Return a Gemini model of Google's."""
    return _completer(location, settings, vendors.gemini, "pydantic_ai.models.google:GoogleModel")


def bedrock(location: str, *, settings: Settings, clock: Clock) -> VendorCompleter:  # noqa: ARG001
    """Return a model on Amazon Bedrock."""

    def client(server: Server) -> Client:
        return vendors.bedrock(server, settings.model_timeout_seconds)

    return _completer(location, settings, client, "pydantic_ai.models.bedrock:BedrockConverseModel")


def azure(location: str, *, settings: Settings, clock: Clock) -> VendorCompleter:  # noqa: ARG001
    """Return a deployment of Azure OpenAI."""
    return _completer(location, settings, vendors.azure, "pydantic_ai.models.openai:OpenAIChatModel")


def ollama(location: str, *, settings: Settings, clock: Clock) -> VendorCompleter:  # noqa: ARG001
    """Return a model that Ollama serves."""
    return _completer(location, settings, vendors.ollama, "pydantic_ai.models.ollama:OllamaModel")


def gemini_embedder(*, settings: Settings, clock: Clock) -> VendorEmbedder:
    """Return an embedder of Google's."""
    return _embedder(settings, clock, vendors.gemini, "pydantic_ai.embeddings.google:GoogleEmbeddingModel")


def bedrock_embedder(*, settings: Settings, clock: Clock) -> VendorEmbedder:
    """Return an embedder on Amazon Bedrock."""
    made = "pydantic_ai.embeddings.bedrock:BedrockEmbeddingModel"
    return _embedder(settings, clock, lambda server: vendors.bedrock(server, TIMEOUT_SECONDS), made)


def azure_embedder(*, settings: Settings, clock: Clock) -> VendorEmbedder:
    """Return a deployment of an embedder at Azure OpenAI."""
    return _embedder(settings, clock, vendors.azure, "pydantic_ai.embeddings.openai:OpenAIEmbeddingModel")


def ollama_embedder(*, settings: Settings, clock: Clock) -> VendorEmbedder:
    """Return an embedder that Ollama serves."""
    return _embedder(settings, clock, vendors.ollama, "pydantic_ai.embeddings.openai:OpenAIEmbeddingModel")


def cohere_embedder(*, settings: Settings, clock: Clock) -> VendorEmbedder:
    """Return an embedder of Cohere's."""
    made = "pydantic_ai.embeddings.cohere:CohereEmbeddingModel"
    return _embedder(settings, clock, lambda server: vendors.cohere(server, TIMEOUT_SECONDS), made)


def voyage_embedder(*, settings: Settings, clock: Clock) -> VendorEmbedder:
    """Return an embedder of Voyage's."""
    made = "pydantic_ai.embeddings.voyageai:VoyageAIEmbeddingModel"
    return _embedder(settings, clock, lambda server: vendors.voyage(server, TIMEOUT_SECONDS), made)


def fastembed_embedder(*, settings: Settings, clock: Clock) -> FastembedEmbedder:  # noqa: ARG001
    """Return an embedder in this process, by its name among fastembed's models; its address is a folder with it."""
    name, dimension = _space(settings)
    return FastembedEmbedder(name, dimension, folder=settings.embedder_url, threads=settings.embedder_threads)


def _completer(location: str, settings: Settings, client: Callable[[Server], Client], made_by: str) -> VendorCompleter:
    name = location.partition(":")[2]
    if not name:
        raise InvalidConfig("model", hint="the vendor and its model: MNEMIC_MODEL=vendor:model")
    server = Server(*settings.server_for("model"))
    make = _opening(client, server, made_by, name)
    return VendorCompleter(name, make, timeout=settings.model_timeout_seconds)


def _embedder(settings: Settings, clock: Clock, client: Callable[[Server], Client], made_by: str) -> VendorEmbedder:
    name, dimension = _space(settings)
    server = Server(*settings.server_for("embedder"))
    return VendorEmbedder(_opening(client, server, made_by, name), name, dimension, clock)


def _space(settings: Settings) -> tuple[str, int]:
    if not (settings.embedder_model and settings.embedder_dimension):
        hint = f"embedder={settings.embedder} needs embedder_model and embedder_dimension"
        raise InvalidConfig("embedder", hint=hint)
    return settings.embedder_model, settings.embedder_dimension


def _opening(
    client: Callable[[Server], Client], server: Server, made_by: str, name: str
) -> Callable[[], OpenModel[Any]]:
    """Return a function that opens the client and the model on it."""

    def make() -> OpenModel[Any]:
        opened = client(server)
        module, _, model = made_by.partition(":")
        return OpenModel(getattr(import_module(module), model)(name, provider=opened.provider), opened.close)

    return make
