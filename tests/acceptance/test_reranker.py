"""A reranker that the settings name puts the hits of a search in order, and a search answers without it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from mnemic.bootstrap import build_engine
from mnemic.config import Settings
from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidConfig
from mnemic.types import Actor, Message
from tests.scripted_reranker import ScriptedReranker, reranking

ANA = Actor(user="ana")
TOLD = (
    "The boat was built in Bergen.",
    "My boat is called Freya.",
    "The boat lies in the harbour of Oslo.",
    "The boat of Tom is green.",
)


@asynccontextmanager
async def engine(folder: Path, server: ScriptedReranker, **settings: Any) -> AsyncIterator[MemoryEngine]:
    given = {"reranker": "cohere", "reranker_url": server.base_url, "reranker_model": "tiny"} | settings
    async with build_engine(Settings(store=str(folder / "memories.db"), **given)) as made:
        for text in TOLD:
            await made.add(text, actor=ANA)
        yield made


async def test_hits_come_in_the_rerankers_order_and_say_so(tmp_path: Path) -> None:
    with reranking() as server:
        async with engine(tmp_path, server, reranker_key="rr-key") as memory:
            found = await memory.search("my boat", actor=ANA, top_k=2)
    assert len(found.hits) == 2
    best = found.hits[0]
    assert (best.memory.content, best.score) == (TOLD[2], 1.0)
    assert (best.ranks["reranker"].position, best.ranks["reranker"].score) == (1, 1.0)
    assert "ranked by the reranker" in best.why
    assert found.errors == {}
    assert sorted(server.requests[0]["documents"]) == sorted(TOLD)
    assert server.requests[0]["key"] == "Bearer rr-key"


async def test_the_models_key_is_not_sent_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-server")
    with reranking() as server:
        async with engine(tmp_path, server) as memory:
            await memory.search("my boat", actor=ANA)
    assert "sk-of-another-server" not in str(server.requests)


async def test_where_it_fails_the_search_answers_and_names_it(tmp_path: Path) -> None:
    with reranking(status=500) as server:
        async with engine(tmp_path, server) as memory:
            found = await memory.search("what is my boat called?", actor=ANA)
            server.status = 200
            again = await memory.search("what is my boat called?", actor=ANA)
    assert found.errors == {"reranker": "reranker_failed:unavailable"}
    assert {hit.memory.content for hit in found.hits} == {hit.memory.content for hit in again.hits}
    assert again.errors == {}


async def test_what_is_outdated_stays_behind_what_replaced_it(tmp_path: Path) -> None:
    with reranking(score=lambda query, text: 0.9 if "Bergen" in text else 0.5) as server:
        async with engine(tmp_path, server) as memory:
            await memory.record([Message(role="user", content="I live in Bergen.")], actor=ANA)
            await memory.record([Message(role="user", content="I live in Oslo now.")], actor=ANA)
            found = await memory.search("where do I live?", actor=ANA)
    lives = [hit.memory.content for hit in found.hits if "I live" in hit.memory.content]
    assert lives == ["I live in Oslo now.", "I live in Bergen."]


@pytest.mark.parametrize("given", [{"reranker_url": "http://127.0.0.1:9"}, {"reranker_model": "tiny"}])
def test_a_reranker_needs_an_address_and_a_model(given: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig, match="reranker"):
        build_engine(Settings(store=str(tmp_path / "memories.db"), reranker="cohere", **given))
