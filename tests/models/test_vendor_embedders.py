"""Each vendor's own client for vectors against a server that speaks the vendor's protocol."""

from __future__ import annotations

import json
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from mnemic.bootstrap.models import build_embedder
from mnemic.config import Settings
from mnemic.errors import EmbedderFailed, InvalidConfig
from mnemic.facade.manager import MemoryManager
from mnemic.models.embedder import VendorEmbedder
from mnemic.ports import EmbedsQueries
from mnemic.testing.clock import ManualClock
from tests.scripted_model import Fault, ModelRequest, Reply, Script, Scripted, ScriptedModelServer

KEY = "key-of-this-vendor"
MODELS = {
    "cohere": "embed-v4.0",
    "voyage": "voyage-3.5",
    "gemini": "gemini-embedding-001",
    "bedrock": "amazon.titan-embed-text-v2:0",
    "azure": "our-embedder",
    "ollama": "nomic-embed-text",
}
PATHS = {
    "cohere": "/v2/embed",
    "voyage": "/v1/embeddings",
    "gemini": "/v1beta/models/gemini-embedding-001:batchEmbedContents",
    "bedrock": "/model/amazon.titan-embed-text-v2%3A0/invoke",
    "azure": "/openai/v1/embeddings",
    "ollama": "/v1/embeddings",
}
KEYS = ("CO_API_KEY", "VOYAGE_API_KEY", "GOOGLE_API_KEY", "AZURE_OPENAI_API_KEY", "AWS_BEARER_TOKEN_BEDROCK",
        "OPENAI_API_KEY", "MNEMIC_API_KEY")  # fmt: skip


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set a region and credentials of AWS, as a machine of AWS has them."""
    for name, value in {"AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "b"}.items():
        monkeypatch.setenv(name, value)


def settings_for(vendor: str, server: ScriptedModelServer, **more: Any) -> Settings:
    root = server.base_url.removesuffix("/v1")
    url = {"azure": f"{root}/openai/v1/", "voyage": f"{root}/v1"}.get(vendor, root)
    key = None if vendor == "bedrock" else KEY  # signed with the machine's credentials
    named = {"embedder_model": MODELS[vendor], "embedder_dimension": 4, "embedder_key": key}
    return Settings(embedder=vendor, embedder_url=url, **{**named, **more})


@asynccontextmanager
async def embedding(
    vendor: str, script: Script = (), **more: Any
) -> AsyncIterator[tuple[VendorEmbedder, ScriptedModelServer]]:
    with ScriptedModelServer(embeddings=script, dimension=4) as server:
        embedder = build_embedder(settings_for(vendor, server, **more), ManualClock())
        assert isinstance(embedder, VendorEmbedder)
        yield embedder, server
        await embedder.close()


@pytest.mark.parametrize("vendor", MODELS)
async def test_vectors_come_back_normalised_and_in_order(vendor: str) -> None:
    async with embedding(vendor) as (embedder, server):
        assert isinstance(embedder, EmbedsQueries)
        together = await embedder.embed(["a", "b", "c"])
        alone = [(await embedder.embed([text]))[0] for text in ("a", "b", "c")]
        (asked,) = await embedder.embed_queries(["a"])
    assert together == alone
    assert asked == alone[0]  # the scripted server gives a text one vector for either purpose
    assert len(set(together)) == 3
    for vector in together:
        assert sum(value * value for value in struct.unpack("<4f", vector)) == pytest.approx(1, abs=1e-5)
    assert {request.path for request in server.requests} == {PATHS[vendor]}
    assert ("AWS4-HMAC" if vendor == "bedrock" else KEY) in json.dumps(dict(server.requests[0].headers))
    assert "4" in json.dumps(server.requests[0].body)  # the dimensions


@pytest.mark.parametrize(
    ("vendor", "statement", "question"),
    [("cohere", "search_document", "search_query"), ("voyage", "document", "query"),
     ("gemini", "RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY")],
)  # fmt: skip
async def test_questions_and_statements_are_told_apart(vendor: str, statement: str, question: str) -> None:
    async with embedding(vendor) as (embedder, server):
        await embedder.embed(["a"])
        await embedder.embed_queries(["a"])
    assert f'"{statement}"' in json.dumps(server.requests[0].body)
    assert f'"{question}"' in json.dumps(server.requests[1].body)


@pytest.mark.parametrize("vendor", MODELS)
async def test_a_model_with_one_dimension_only_is_asked_without_it_from_then_on(vendor: str) -> None:
    def fixed(request: ModelRequest) -> Scripted:
        given = {**request.body, **request.body.get("requests", [{}])[0]}
        return Reply.status(400) if any("dimension" in name.lower() and given[name] for name in given) else Reply()

    async with embedding(vendor, fixed) as (embedder, server):
        await embedder.embed(["a"])
        await embedder.embed(["b"])
    assert len(server.requests) == 3


@pytest.mark.parametrize("vendor", MODELS)
@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply.status(401), "embedder_failed:auth"),
        (Reply(vectors=[[1.0, 0.0, 0.0]]), "embedder_failed:dimension"),
        (Fault.WRONG_TYPE, "embedder_failed:"),
    ],
)
async def test_what_can_go_wrong_is_one_of_our_errors(vendor: str, reply: Scripted, reason: str) -> None:
    async with embedding(vendor, lambda _: reply) as (embedder, _):
        with pytest.raises(EmbedderFailed) as caught:
            await embedder.embed(["Aurelia Whitcombe"])
    assert caught.value.reason.startswith(reason)
    assert "Whitcombe" not in f"{caught.value!r} {caught.value.hint}"


@pytest.mark.parametrize("vendor", MODELS)
async def test_an_address_of_the_settings_gets_no_key_of_the_environment(
    vendor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in KEYS:
        monkeypatch.setenv(name, "sk-of-somebody-else")
    async with embedding(vendor, embedder_key=None) as (embedder, server):
        await embedder.embed(["a"])
    assert "sk-of-somebody-else" not in json.dumps(dict(server.requests[0].headers))


@pytest.mark.parametrize("vendor", MODELS)
async def test_a_server_that_points_elsewhere_sends_neither_key_nor_words_there(vendor: str) -> None:
    with ScriptedModelServer(dimension=4) as other:
        elsewhere = Reply.elsewhere(other.base_url.removesuffix("/v1"))
        async with embedding(vendor, lambda _: elsewhere) as (embedder, server):
            with pytest.raises(EmbedderFailed):
                await embedder.embed(["I live in Oslo."])
    assert server.requests
    assert other.requests == []


def test_a_name_without_model_and_dimension_is_refused() -> None:
    with pytest.raises(InvalidConfig, match="embedder"):
        build_embedder(Settings(embedder="cohere"), ManualClock())


def test_memories_are_found_by_a_vendors_vectors(tmp_path: Any) -> None:
    with ScriptedModelServer(dimension=4) as server:
        settings = settings_for("cohere", server, store=str(tmp_path / "ana.db"))
        with MemoryManager("ana", settings=settings) as memory:
            memory.add("I play the cello.")
            assert [hit.memory.content for hit in memory.search("cello").hits] == ["I play the cello."]
    assert {request.body["input_type"] for request in server.requests} == {"search_document", "search_query"}
