"""A program's own functions as embedder, language model and reranker."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from mnemic import AsyncMemoryManager, MemoryEngine, MemoryManager
from mnemic.errors import InvalidConfig, InvalidInput, SpaceMismatch
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder

WORDS = ("tea", "seat", "aisle", "boat")


def count_words(texts: list[str]) -> list[list[float]]:
    return [[1.0 + text.count(word) for word in WORDS] for text in texts]


def test_a_function_embeds_in_one_line(tmp_path: Path) -> None:
    with MemoryManager("ana", store=tmp_path / "m.db", embedder=count_words) as memory:
        memory.add("I prefer aisle seats.")
        assert memory.search("Which seat do I like?")[0].content == "I prefer aisle seats."
        assert memory.engine.embedder.space.dimension == len(WORDS)
    with pytest.raises(SpaceMismatch):
        MemoryManager("ana", store=tmp_path / "m.db", embedder=lambda texts: [[1.0, 2.0] for _ in texts])


def test_an_embedder_that_fails_loses_nothing(tmp_path: Path) -> None:
    calls: list[int] = []

    def fail_after_first(texts: list[str]) -> list[list[float]]:
        calls.append(len(texts))
        if len(calls) > 1:
            raise ConnectionError
        return count_words(texts)

    with MemoryManager("ana", store=tmp_path / "m.db", embedder=fail_after_first) as memory:
        assert memory.add("I prefer aisle seats.").degraded == ("vector",)
        found = memory.search("aisle seats")
        assert (found[0].content, found.errors["vector"]) == ("I prefer aisle seats.", "embedder_failed:unavailable")


def test_what_is_no_embedder_is_said_when_it_is_given() -> None:
    async def awaited(texts: list[str]) -> list[list[float]]:
        return count_words(texts)

    for wrong in (awaited, lambda texts: "vectors", lambda texts: [], 3):
        with pytest.raises(InvalidConfig, match="invalid_config:embedder"):
            MemoryManager("ana", store=":memory:", embedder=wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidConfig, match="invalid_config:model"):
        MemoryManager("ana", store=":memory:", model=3)  # type: ignore[arg-type]
    engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder())
    with pytest.raises(InvalidInput, match="invalid_input:embedder - the engine has its own"):
        MemoryManager("ana", engine=engine, embedder=count_words)


def test_a_function_is_the_language_model() -> None:
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return json.dumps({"operations": []})

    with MemoryManager("ana", store=":memory:", embedder=WordEmbedder(), model=answer) as memory:
        memory.capture("My sister keeps bees in Bergen.")
        assert "keeps bees" in asked[0]


async def test_a_function_that_is_awaited_ranks() -> None:
    queries: list[str] = []

    async def prefer_boats(query: str, texts: list[str]) -> Sequence[float]:
        queries.append(query)
        return [0.9 if "boat" in text else 0.1 for text in texts]

    given: dict[str, Any] = {"embedder": count_words, "reranker": prefer_boats}
    async with AsyncMemoryManager("ana", store=":memory:", **given) as memory:
        await memory.add("I drink tea in the morning.")
        await memory.add("The boat lies in the harbour.")
        assert (await memory.search("morning in the harbour"))[0].content == "The boat lies in the harbour."
        assert queries == ["morning in the harbour"]
