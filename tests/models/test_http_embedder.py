from __future__ import annotations

import math
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from mnemic.errors import EmbedderFailed, InvalidConfig, InvalidInput
from mnemic.models.http_embedder import HttpEmbedder
from mnemic.ports import Embedder
from mnemic.runtime.clock import SystemClock
from mnemic.types import Deadline, VectorSpace
from tests.scripted_model import Fault, Reply, Script, Scripted, ScriptedModelServer


@asynccontextmanager
async def embedding(script: Script = (), **options: Any) -> AsyncIterator[tuple[HttpEmbedder, ScriptedModelServer]]:
    dimension = options.pop("dimension", 4)
    with ScriptedModelServer(embeddings=script, dimension=dimension) as server:
        embedder = HttpEmbedder(server.base_url, "tiny", dimension, "sk-test", **options)
        yield embedder, server
        await embedder.close()


def vectors(*rows: Sequence[float]) -> Reply:
    return Reply(vectors=rows)


async def test_vectors_come_back_normalised_packed_and_in_order() -> None:
    async with embedding([vectors([3, 0, 4, 0], [0, 1e300, 0, 0])]) as (embedder, server):
        first, second = await embedder.embed(["a", "b"])
    assert struct.unpack("<4f", first) == pytest.approx((0.6, 0, 0.8, 0))
    assert struct.unpack("<4f", second) == (0, 1, 0, 0)
    assert embedder.space == VectorSpace(model="tiny", dimension=4)
    assert server.requests[0].texts == ["a", "b"]
    assert server.requests[0].body["encoding_format"] == "float"


async def test_many_texts_go_out_in_batches() -> None:
    texts = [f"text {number}" for number in range(7)]
    async with embedding(batch=3) as (embedder, server):
        together = await embedder.embed(texts)
        alone = [(await embedder.embed([text]))[0] for text in texts]
        assert await embedder.embed([]) == []
    assert [len(request.texts) for request in server.requests[:3]] == [3, 3, 1]
    assert together == alone
    assert all(math.hypot(*struct.unpack("<4f", vector)) == pytest.approx(1, abs=1e-6) for vector in together)


@pytest.mark.parametrize(
    ("reply", "reason", "permanent"),
    [
        (vectors([1, 0, 0]), "embedder_failed:dimension", True),
        (vectors([]), "embedder_failed:dimension", True),
        (vectors([1, 0, 0, math.nan]), "embedder_failed:not_finite", False),
        (vectors([1, 0, 0, math.inf]), "embedder_failed:not_finite", False),
        (vectors([0, 0, 0, 0]), "embedder_failed:zero_vector", False),
        (vectors([1, 0, 0, 0], [1, 0, 0, 0]), "embedder_failed:response", False),
        (vectors(["1", "0", "0", "0"]), "embedder_failed:response", False),  # type: ignore[list-item]
        (vectors([None, 0, 0, 0]), "embedder_failed:response", False),  # type: ignore[list-item]
        (Fault.NO_CHOICES, "embedder_failed:response", False),
        (Fault.BAD_JSON, "embedder_failed:response", False),
        (Fault.WRONG_TYPE, "embedder_failed:response", False),
        (Fault.TRUNCATED, "embedder_failed:unavailable", False),
        (Fault.RESET, "embedder_failed:unavailable", False),
        (Reply.status(429, retry_after="2"), "embedder_failed:unavailable", False),
        (Reply.status(500), "embedder_failed:unavailable", False),
        (Reply.status(400), "embedder_failed:unavailable", True),
        (Reply.status(401), "embedder_failed:auth", True),
    ],
    ids=str,
)
async def test_every_unsound_answer_has_its_reason(reply: Scripted, reason: str, permanent: bool) -> None:
    async with embedding(lambda _: reply) as (embedder, _):
        with pytest.raises(EmbedderFailed) as caught:
            await embedder.embed(["a"])
    assert (caught.value.reason, caught.value.permanent) == (reason, permanent)


async def test_retry_after_is_handed_on() -> None:
    async with embedding([Reply.status(429, retry_after="2")]) as (embedder, _):
        with pytest.raises(EmbedderFailed) as caught:
            await embedder.embed(["a"])
    assert caught.value.retry_after == timedelta(seconds=2)


async def test_one_bad_batch_spoils_the_whole_call() -> None:
    async with embedding([Reply(), Reply.status(500)], batch=1) as (embedder, _):
        with pytest.raises(EmbedderFailed):
            await embedder.embed(["a", "b"])


async def test_a_hanging_server_is_a_timeout() -> None:
    deadline = Deadline.after(timedelta(milliseconds=50), SystemClock().monotonic)
    async with embedding([Fault.HANG]) as (embedder, _):
        with pytest.raises(EmbedderFailed) as caught:
            await embedder.embed(["a"], deadline=deadline)
    assert caught.value.reason == "embedder_failed:timeout"


async def test_a_server_that_points_elsewhere_sends_neither_key_nor_words_there() -> None:
    with ScriptedModelServer() as other:
        elsewhere = Reply.elsewhere(other.base_url.removesuffix("/v1"))
        with ScriptedModelServer(embeddings=[elsewhere]) as server:
            embedder = HttpEmbedder(server.base_url, "scripted", 384, api_key="key")
            with pytest.raises(EmbedderFailed):
                await embedder.embed(["I live in Oslo."])
            await embedder.close()
    assert (len(server.requests), other.requests) == (1, [])


async def test_a_closed_embedder_asks_nobody() -> None:
    async with embedding() as (embedder, server):
        await embedder.close()
        with pytest.raises(EmbedderFailed) as caught:
            await embedder.embed(["a"])
    assert caught.value.permanent
    assert server.requests == []


@pytest.mark.parametrize("texts", ["one string", [None], [b"bytes"]])
async def test_what_is_no_sequence_of_strings_is_refused(texts: Sequence[str]) -> None:
    async with embedding() as (embedder, _):
        with pytest.raises(InvalidInput):
            await embedder.embed(texts)


@pytest.mark.parametrize("options", [{"dimension": 0}, {"dimension": True}, {"batch": 0}, {"timeout": 0}])
def test_impossible_settings_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidConfig):
        HttpEmbedder("http://127.0.0.1/v1", "tiny", options.pop("dimension", 4), **options)


def test_it_is_an_embedder() -> None:
    embedder: Embedder = HttpEmbedder("http://127.0.0.1/v1", "tiny", 4)
    assert embedder.space.dimension == 4
