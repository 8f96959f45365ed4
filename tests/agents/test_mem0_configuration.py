"""Configurations of mem0's pages, as settings of mnemic."""

from __future__ import annotations

from typing import Any

import pytest

from mnemic.agents.compat.mem0 import MemoryConfig
from mnemic.agents.compat.mem0_values import settings_of
from mnemic.errors import NotSupported


def chosen(config: Any, *names: str) -> tuple[Any, ...]:
    settings = settings_of(config)
    return tuple(getattr(settings, name) for name in names)


def llm(provider: str, **config: Any) -> dict[str, Any]:
    return {"llm": {"provider": provider, "config": config}}


@pytest.mark.parametrize(
    ("config", "model", "url"),
    [
        (llm("openai", model="gpt-5-mini", temperature=0.1), "gpt-5-mini", None),
        (llm("openai", enable_vision=True), "gpt-5-mini", None),
        (llm("anthropic", model="claude-sonnet-4-6"), "anthropic:claude-sonnet-4-6", None),
        (llm("gemini", model="models/gemini-2.0-flash"), "gemini:gemini-2.0-flash", None),
        (
            llm("ollama", model="mixtral:8x7b", ollama_base_url="http://box:11434"),
            "ollama:mixtral:8x7b",
            "http://box:11434",
        ),
        (llm("aws_bedrock", model="anthropic.claude-x"), "bedrock:anthropic.claude-x", None),
        (
            llm("azure_openai", azure_kwargs={"azure_deployment": "d", "azure_endpoint": "https://n.openai.azure.com"}),
            "azure:d",
            "https://n.openai.azure.com",
        ),
        (llm("groq", model="m"), "m", "https://api.groq.com/openai/v1"),
        (llm("deepseek", model="m"), "m", "https://api.deepseek.com"),
        (llm("xai"), "grok-4.3", "https://api.x.ai/v1"),
        (llm("vllm", model="m", vllm_base_url="http://gpu:8000/v1"), "m", "http://gpu:8000/v1"),
    ],
)
def test_a_language_model_is_named_as_mem0_names_it(config: Any, model: str, url: str | None) -> None:
    assert chosen(config, "model", "model_url", "has_model") == (model, url, True)


@pytest.mark.parametrize(
    ("provider", "config", "wanted"),
    [
        (
            "openai",
            {"model": "text-embedding-3-small"},
            ("http", "text-embedding-3-small", "https://api.openai.com/v1", 1536),
        ),
        ("openai", {}, ("http", "text-embedding-3-small", "https://api.openai.com/v1", 1536)),
        (
            "openai",
            {"model": "own", "openai_base_url": "http://a/v1", "embedding_dims": 7},
            ("http", "own", "http://a/v1", 7),
        ),
        ("ollama", {"model": "mxbai-embed-large"}, ("ollama", "mxbai-embed-large", None, 1024)),
        ("gemini", {"model": "models/gemini-embedding-001"}, ("gemini", "gemini-embedding-001", None, 768)),
        ("fastembed", {"model": "thenlper/gte-large"}, ("fastembed", "thenlper/gte-large", None, 1024)),
        (
            "huggingface",
            {"huggingface_base_url": "http://tei/v1", "embedding_dims": 384},
            ("http", "tei", "http://tei/v1", 384),
        ),
    ],
)
def test_an_embedder_is_named_as_mem0_names_it(
    provider: str, config: Any, wanted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemic.config.settings.EMBEDDER_EXTRAS", {})
    found = chosen(
        {"embedder": {"provider": provider, "config": config}},
        "embedder",
        "embedder_model",
        "embedder_url",
        "embedder_dimension",
    )
    assert found == wanted


def test_the_vector_store_tells_how_many_values_a_vector_has() -> None:
    config = {
        "embedder": {"provider": "ollama", "config": {"model": "own"}},
        "vector_store": {"provider": "qdrant", "config": {"embedding_model_dims": 512}},
    }
    assert chosen(config, "embedder_model", "embedder_dimension") == ("own", 512)


def test_a_key_of_the_environment_goes_to_its_vendor_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPSEEK_API_KEY", "theirs")
    monkeypatch.setenv("OPENAI_API_KEY", "openais")
    assert settings_of(llm("deepseek", model="m")).key_for("model_url") == "theirs"
    elsewhere = settings_of(llm("deepseek", model="m", deepseek_base_url="http://a/v1", api_key="given"))
    assert elsewhere.key_for("model_url") == "given"
    both = settings_of({**llm("anthropic", api_key="anthropics"), "embedder": {"provider": "openai"}})
    assert (both.server_for("model")[1], both.key_for("embedder_url")) == ("anthropics", "openais")


def test_instructions_and_a_reranker_are_taken_over() -> None:
    config = {
        "custom_instructions": "Keep what was ordered.",
        "reranker": {"provider": "cohere", "config": {"model": "rerank-v3.5", "api_key": "k"}},
    }
    names = ("extraction_instructions", "reranker", "reranker_model", "reranker_url")
    assert chosen(config, *names) == (
        "Keep what was ordered.",
        "cohere",
        "rerank-v3.5",
        "https://api.cohere.com/v2",
    )
    assert chosen({"reranker": {"provider": "huggingface"}}, "reranker") == ("none",)


def test_mem0s_own_configuration_object_is_read() -> None:
    class MemoryConfig:
        def model_dump(self, *, exclude_unset: bool) -> dict[str, Any]:
            return llm("anthropic", model="m") if exclude_unset else {**llm("openai"), "history_db_path": "/x"}

    assert chosen(MemoryConfig(), "model") == ("anthropic:m",)


def test_a_configuration_may_be_made_by_named_parts() -> None:
    given = MemoryConfig(llm={"provider": "openai", "config": {"model": "gpt-5-mini"}}, vector_store={"provider": "x"})
    assert chosen(given, "model") == ("gpt-5-mini",)


def test_settings_of_mnemic_come_first() -> None:
    assert chosen({**llm("openai", model="a"), "mnemic": {"model": "b", "store": "x.db"}}, "model", "store") == (
        "b",
        "x.db",
    )


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (llm("langchain"), "mem0:llm"),
        (llm("lmstudio"), "mem0:llm"),
        ({"embedder": {"provider": "vertexai"}}, "mem0:embedder"),
        ({"embedder": {"provider": "huggingface", "config": {"model": "sentence-x"}}}, "mem0:embedder"),
        ({"embedder": {"provider": "ollama", "config": {"model": "own"}}}, "mem0:embedder"),
    ],
)
def test_what_is_not_offered_is_told_by_its_name(config: Any, reason: str) -> None:
    with pytest.raises(NotSupported, match=reason):
        settings_of(config)
