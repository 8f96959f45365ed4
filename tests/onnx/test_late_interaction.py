"""The reranker that reads with the default embedder."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic.bootstrap import build_engine, build_reranker
from mnemic.config import Settings
from mnemic.errors import InvalidInput, RerankerFailed
from mnemic.onnx import TokenReranker
from mnemic.onnx.reranker import READ
from mnemic.runtime.clock import SystemClock
from mnemic.types import Actor, Deadline

ANA = Actor(user="ana")
QUERY = "Which museum did I visit in February?"
TOLD = (
    "I visited my aunt in March.",
    "In February I visited the science museum with Lea, it was packed.",
    "Museums bore me.",
)


async def scores_of(query: str, *texts: str) -> list[float]:
    reranker = TokenReranker()
    try:
        return await reranker.rerank(query, texts)
    finally:
        await reranker.close()


async def test_the_text_that_meets_every_piece_comes_first() -> None:
    found = await scores_of(QUERY, *TOLD)
    assert all(0 <= score <= 1 for score in found)
    assert max(found) == found[1]


async def test_among_equal_texts_the_place_decides_and_what_is_not_read_stays_behind_in_order() -> None:
    found = await scores_of(QUERY, *["I like tea."] * (READ + 5))
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == len(found)
    with_answer = await scores_of(QUERY, *["I like tea."] * READ, TOLD[1])
    assert min(with_answer) == with_answer[-1] > 0


async def test_texts_and_queries_without_a_piece_have_scores() -> None:
    assert await scores_of(QUERY) == []
    assert await scores_of(QUERY, "one") == [0.5]
    assert len(await scores_of(QUERY, "", TOLD[1])) == 2
    assert await scores_of(" ", "one", "two", "three") == [1.0, pytest.approx(2 / 3), pytest.approx(1 / 3)]
    with pytest.raises(InvalidInput, match="texts"):
        await TokenReranker().rerank(QUERY, "one text")


async def test_past_the_deadline_and_closed_it_fails_with_a_reason() -> None:
    reranker = TokenReranker()
    with pytest.raises(RerankerFailed, match="timeout"):
        await reranker.rerank(QUERY, TOLD, deadline=Deadline(0.0, lambda: 0.0))
    await reranker.close()
    await reranker.close()
    with pytest.raises(RerankerFailed, match="unavailable"):
        await reranker.rerank(QUERY, TOLD)


async def test_a_search_goes_by_it_and_says_so(tmp_path: Path) -> None:
    settings = Settings(store=str(tmp_path / "m.db"), reranker="onnx", reranker_model="default")
    assert isinstance(build_reranker(settings, SystemClock()), TokenReranker)
    async with build_engine(settings) as engine:
        for text in TOLD:
            await engine.add(text, actor=ANA)
        found = await engine.search(QUERY, actor=ANA)
    assert found.hits[0].memory.content == TOLD[1]
    assert found.hits[0].ranks["reranker"].position == 1
    assert not found.errors
