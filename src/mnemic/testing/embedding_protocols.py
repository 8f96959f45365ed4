"""Vectors of a scripted model in each protocol: OpenAI's and Voyage's, Gemini's, Cohere's, Bedrock's."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

Vectors = Sequence[Sequence[float]]


def _openai(vectors: Vectors, model: str, body: Mapping[str, Any]) -> dict[str, Any]:
    packed = body.get("encoding_format") == "base64"
    data = [
        {"object": "embedding", "index": place, "embedding": _base64(vector) if packed else list(vector)}
        for place, vector in enumerate(vectors)
    ]
    return {"object": "list", "model": model, "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def _base64(vector: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def _gemini(vectors: Vectors, model: str, body: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001 - one signature
    return {"embeddings": [{"values": list(vector)} for vector in vectors]}


def _cohere(vectors: Vectors, model: str, body: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    made = [list(vector) for vector in vectors]
    return {
        "id": "emb",
        "embeddings": {"float": made},
        "texts": body["texts"],
        "meta": {"api_version": {"version": "2"}},
    }


def _titan(vectors: Vectors, model: str, body: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    return {"embedding": list(vectors[0]) if vectors else [], "inputTextTokenCount": 1}


EMBEDDINGS: Mapping[str, Callable[[Vectors, str, Mapping[str, Any]], dict[str, Any]]] = MappingProxyType(
    {"/embeddings": _openai, ":batchEmbedContents": _gemini, "/embed": _cohere, "/invoke": _titan}
)
"""The body of an answer, by the end of the requested path."""


def texts_of(body: Mapping[str, Any]) -> list[str]:
    """Return the texts to embed of a request."""
    if "requests" in body:
        return ["".join(part["text"] for part in one["content"]["parts"]) for one in body["requests"]]
    given = body.get("input", body.get("texts", body.get("inputText", [])))
    return [given] if isinstance(given, str) else list(given)
