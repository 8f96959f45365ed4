"""Scores of a rerank server, in three protocols, checked and bounded."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from mnemic.errors import InvalidInput, RerankerFailed
from mnemic.models.http_reranker import PROTOCOLS, HttpReranker, Protocol
from mnemic.runtime.clock import SystemClock
from mnemic.testing.clock import ManualClock
from tests.scripted_reranker import ScriptedReranker, reranking

TEXTS = ["a dog", "the harbour", "a cat"]


def reranker(server: ScriptedReranker, **options: Any) -> HttpReranker:
    return HttpReranker(server.base_url, "tiny", SystemClock(), **options)


async def failing(one: HttpReranker) -> str:
    with pytest.raises(RerankerFailed) as failed:
        await one.rerank("where?", TEXTS)
    return failed.value.reason


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_scores_come_in_the_order_of_the_texts(protocol: Protocol) -> None:
    with reranking() as server:
        one = reranker(server, protocol=protocol, api_key="rr-key")
        assert await one.rerank("where?", TEXTS) == [0.25, 1.0, 0.25]
        assert await one.rerank("where?", []) == []
        await one.close()
    (asked,) = server.requests
    assert (asked["path"], asked["key"], asked["query"]) == ("/rerank", "Bearer rr-key", "where?")
    assert asked["texts" if protocol == "tei" else "documents"] == TEXTS
    assert asked.get("model", "tiny") == "tiny"


async def test_raw_scores_are_brought_between_0_and_1() -> None:
    with reranking(score=lambda query, text: 2.0 if "dog" in text else -4000.0) as server:
        one = reranker(server)
        assert await one.rerank("who barks?", TEXTS) == pytest.approx([0.8808, 0, 0], abs=1e-4)
        await one.close()


@pytest.mark.parametrize(
    "answer",
    [
        {},
        [],
        "no",
        {"results": [{"index": 0, "relevance_score": 1}] * 3},
        {"results": [{"index": place, "relevance_score": "1"} for place in range(3)]},
        {"results": [{"index": place, "relevance_score": float("nan")} for place in range(3)]},
        {"results": [{"index": place} for place in range(3)]},
    ],
)
async def test_an_answer_that_is_incomplete_is_no_answer(answer: Any) -> None:
    with reranking(answer=answer) as server:
        one = reranker(server)
        assert await failing(one) == "reranker_failed:response"
        await one.close()


@pytest.mark.parametrize(
    ("status", "reason"), [(401, "auth"), (403, "auth"), (422, "refused"), (429, "unavailable"), (503, "unavailable")]
)
async def test_a_refusal_is_told_apart(status: int, reason: str) -> None:
    with reranking(status=status) as server:
        one = reranker(server)
        assert await failing(one) == f"reranker_failed:{reason}"
        await one.close()


async def test_a_server_that_hangs_is_left_alone_after_three_calls() -> None:
    clock = ManualClock()
    with reranking(hangs=True) as server:
        one = HttpReranker(server.base_url, "tiny", clock, timeout=timedelta(milliseconds=50))
        assert [await failing(one) for _ in range(4)] == [
            *["reranker_failed:timeout"] * 3,
            "reranker_failed:circuit_open",
        ]
        assert len(server.requests) <= 3
        server.hangs = False
        server.released.set()
        clock.advance(timedelta(seconds=15))
        patient = HttpReranker(server.base_url, "tiny", clock)
        assert await patient.rerank("where?", TEXTS) == [0.25, 1.0, 0.25]
        await one.close()
        await patient.close()


async def test_one_text_is_no_list_of_texts() -> None:
    one = HttpReranker("http://127.0.0.1:9", "tiny", SystemClock())
    with pytest.raises(InvalidInput, match="texts"):
        await one.rerank("where?", "a dog")
    await one.close()
