"""Configurations of mem0, as settings of mnemic."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from mnemic.config import Settings
from mnemic.config.settings import OPENAIS_SERVER
from mnemic.errors import NotSupported

_LOG = logging.getLogger(__name__)
_READ = frozenset({"mnemic", "llm", "embedder", "reranker", "custom_instructions", "version"})
_COHERES_RERANKER = "https://api.cohere.com/v2"


class MemoryConfig(dict[str, Any]):
    """mem0's configuration as an object: its parts as named arguments, each a dictionary."""


@dataclass(frozen=True, slots=True)
class _Provider:
    """A provider of mem0's: the vendor before the name of a model or an embedder here ("" for a server with OpenAI's
    protocol), the server's address, the variable of its key where mnemic does not read it itself, and the model where
    none is named.
    """

    vendor: str = ""
    url: str | None = None
    variable: str = ""
    model: str | None = None


_LLMS: Mapping[str, _Provider] = MappingProxyType(
    {
        "openai": _Provider(model="gpt-5-mini"),
        "openai_structured": _Provider(model="gpt-5-mini"),
        "anthropic": _Provider("anthropic", model="claude-sonnet-4-6"),
        "gemini": _Provider("gemini", model="gemini-2.0-flash"),
        "ollama": _Provider("ollama", model="llama3.1:70b"),
        "aws_bedrock": _Provider("bedrock", model="anthropic.claude-3-5-sonnet-20240620-v1:0"),
        "azure_openai": _Provider("azure"),
        "azure_openai_structured": _Provider("azure"),
        "groq": _Provider(
            url="https://api.groq.com/openai/v1", variable="GROQ_API_KEY", model="llama-3.3-70b-versatile"
        ),
        "deepseek": _Provider(url="https://api.deepseek.com", variable="DEEPSEEK_API_KEY", model="deepseek-chat"),
        "together": _Provider(
            url="https://api.together.xyz/v1", variable="TOGETHER_API_KEY", model="MiniMaxAI/MiniMax-M3"
        ),
        "xai": _Provider(url="https://api.x.ai/v1", variable="XAI_API_KEY", model="grok-4.3"),
        "minimax": _Provider(url="https://api.minimax.io/v1", variable="MINIMAX_API_KEY", model="MiniMax-M2.7"),
        "sarvam": _Provider(url="https://api.sarvam.ai/v1", variable="SARVAM_API_KEY", model="sarvam-m"),
        "lmstudio": _Provider(url="http://localhost:1234/v1"),
        "vllm": _Provider(url="http://localhost:8000/v1", variable="VLLM_API_KEY", model="Qwen/Qwen2.5-32B-Instruct"),
    }
)
_EMBEDDERS: Mapping[str, _Provider] = MappingProxyType(
    {
        "openai": _Provider("http", OPENAIS_SERVER, "OPENAI_API_KEY", "text-embedding-3-small"),
        "ollama": _Provider("ollama", model="nomic-embed-text"),
        "gemini": _Provider("gemini", model="gemini-embedding-001"),
        "aws_bedrock": _Provider("bedrock", model="amazon.titan-embed-text-v1"),
        "azure_openai": _Provider("azure"),
        "fastembed": _Provider("fastembed", model="thenlper/gte-large"),
        "together": _Provider(
            "http", "https://api.together.xyz/v1", "TOGETHER_API_KEY", "intfloat/multilingual-e5-large-instruct"
        ),
        "lmstudio": _Provider("http", "http://localhost:1234/v1"),
        "huggingface": _Provider("http", model="tei"),
    }
)
_DIMENSIONS: Mapping[str, int] = MappingProxyType(
    {
        "text-embedding-3-small": 1536,
        "text-embedding-3-large": 3072,
        "text-embedding-ada-002": 1536,
        "nomic-embed-text": 768,
        "mxbai-embed-large": 1024,
        "gemini-embedding-001": 768,
        "amazon.titan-embed-text-v1": 1536,
        "amazon.titan-embed-text-v2:0": 1024,
        "thenlper/gte-large": 1024,
        "intfloat/multilingual-e5-large-instruct": 1024,
    }
)
"""Values of a vector of the models in mem0's own pages, where a configuration does not tell."""


def settings_of(config: Any) -> Settings:
    """Return the settings that a configuration names: those of mnemic under `mnemic`, which come first, language model,
    embedder, reranker and instructions as mem0 names them. Settings that only mem0 has, such as its vector store, are
    ignored. Raises NotSupported (`mem0:llm`, `mem0:embedder`) for a provider that is not offered here.
    """
    given = _as_mapping(config)
    named: dict[str, Any] = {}
    if section := given.get("llm"):
        named |= _language_model(section)
    if section := given.get("embedder"):
        named |= _embedder(section, given.get("vector_store"))
    if section := given.get("reranker"):
        named |= _reranker(section)
    if given.get("custom_instructions"):
        named["extraction_instructions"] = given["custom_instructions"]
    for ignored in given.keys() - _READ:
        _LOG.info("the part %s of the configuration is mem0's own and is not used", ignored)
    return Settings.load(**(named | dict(given.get("mnemic") or {})))


def _as_mapping(config: Any) -> Mapping[str, Any]:
    """Return the configuration as a mapping; of mem0's `MemoryConfig` only the fields that were set, no defaults."""
    if hasattr(config, "model_dump"):
        found: Mapping[str, Any] = config.model_dump(exclude_unset=True)
        return found
    return config if isinstance(config, Mapping) else {}


def _language_model(section: Mapping[str, Any]) -> dict[str, Any]:
    provider, asked = _provider("llm", section, _LLMS)
    model = asked.get("model") or provider.model
    if provider.vendor == "azure":
        asked = _azures(asked)
        model = asked["model"] or model
    if not model:
        raise NotSupported("mem0:llm", hint="the configuration names no model")
    url, key = _server(section, provider, asked)
    name = f"{provider.vendor}:{str(model).removeprefix('models/')}" if provider.vendor else model
    return _drop_none(model=name, model_url=url, api_key=key)


def _embedder(section: Mapping[str, Any], vector_store: Any) -> dict[str, Any]:
    provider, asked = _provider("embedder", section, _EMBEDDERS)
    model = asked.get("model") or provider.model
    if provider.vendor == "azure":
        asked = _azures(asked)
        model = asked["model"] or model
    url, key = _server(section, provider, asked)
    if provider.vendor == "http" and url is None:
        raise NotSupported("mem0:embedder", hint="a server (huggingface_base_url), or mnemic[fastembed]")
    model = str(model or "").removeprefix("models/")
    store = (vector_store or {}).get("config") or {}
    size = asked.get("embedding_dims") or _DIMENSIONS.get(model) or store.get("embedding_model_dims")
    if not (model and size):
        raise NotSupported("mem0:embedder", hint="the configuration must name the model and its embedding_dims")
    return _drop_none(
        embedder=provider.vendor, embedder_model=model, embedder_url=url, embedder_key=key, embedder_dimension=size
    )


def _reranker(section: Mapping[str, Any]) -> dict[str, Any]:
    asked = section.get("config") or {}
    if section.get("provider") != "cohere":
        _LOG.warning("the reranker %s is not offered: see MNEMIC_RERANKER", section.get("provider"))
        return {}
    key = asked.get("api_key") or os.environ.get("COHERE_API_KEY")
    model = asked.get("model") or "rerank-v3.5"
    return _drop_none(reranker="cohere", reranker_url=_COHERES_RERANKER, reranker_model=model, reranker_key=key)


def _provider(
    part: str, section: Mapping[str, Any], known: Mapping[str, _Provider]
) -> tuple[_Provider, Mapping[str, Any]]:
    name = section.get("provider") or "openai"
    if name not in known:
        raise NotSupported(f"mem0:{part}", hint=f"{name} is not offered; an OpenAI-compatible server is, or `mnemic`")
    return known[name], section.get("config") or {}


def _server(section: Mapping[str, Any], provider: _Provider, asked: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return address and key. A key of the environment goes to the vendor's own address alone."""
    name = str(section.get("provider") or "openai").removesuffix("_structured")
    own = asked.get(f"{name}_base_url")
    key = asked.get("api_key")
    if key is None and own is None and provider.url is not None and provider.variable:
        key = os.environ.get(provider.variable)
    return own or provider.url, key


def _azures(asked: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options of Azure's client by the names of the others'."""
    own = asked.get("azure_kwargs") or {}
    return {
        **asked,
        "model": own.get("azure_deployment") or asked.get("model"),
        "azure_openai_base_url": own.get("azure_endpoint"),
        "api_key": own.get("api_key") or asked.get("api_key"),
    }


def _drop_none(**named: Any) -> dict[str, Any]:
    return {name: value for name, value in named.items() if value is not None}
