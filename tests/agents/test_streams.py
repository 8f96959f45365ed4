"""Answers that arrive in pieces, in the three protocols: the program reads them as ever, and the turn has the whole."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic
from openai import AsyncOpenAI, OpenAI

from mnemic.agents.clients import TurnMemory, wrap
from mnemic.engine import MemoryEngine
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor
from mnemic.write.turn_log import turns_of
from tests.scripted_model import ScriptedModelServer

ANA = Actor(user="ana")
ASKED = {"role": "user", "content": "Which seat do I prefer?"}
CHAT: dict[str, Any] = {"model": "m", "messages": [ASKED]}
RESPONSE: dict[str, Any] = {"model": "m", "input": [ASKED]}
MESSAGE: dict[str, Any] = {"model": "m", "messages": [ASKED], "max_tokens": 99}
ANSWER = "An aisle seat."


async def chat_created(client: Any) -> str:
    stream = await client.chat.completions.create(stream=True, **CHAT)
    return "".join([one.choices[0].delta.content or "" async for one in stream if one.choices])


async def chat_by_the_step(client: Any) -> str:
    stream = await client.chat.completions.create(stream=True, **CHAT)
    pieces = []
    while (one := await anext(stream, None)) is not None:
        pieces += [choice.delta.content or "" for choice in one.choices]
    return "".join(pieces)


async def chat_managed(client: Any) -> str:
    async with client.chat.completions.stream(**CHAT) as stream:
        completion = await stream.get_final_completion()
    return str(completion.choices[0].message.content)


async def response_created(client: Any) -> str:
    stream = await client.responses.create(stream=True, **RESPONSE)
    return "".join([one.delta async for one in stream if one.type == "response.output_text.delta"])


async def message_created(client: Any) -> str:
    stream = await client.messages.create(stream=True, **MESSAGE)
    return "".join([one.delta.text async for one in stream if one.type == "content_block_delta"])


async def message_managed(client: Any) -> str:
    async with client.messages.stream(**MESSAGE) as stream:
        return "".join([text async for text in stream.text_stream])


ASYNCHRONOUS = [chat_created, chat_by_the_step, chat_managed, response_created, message_created, message_managed]


def chat_created_now(client: Any) -> str:
    stream = client.chat.completions.create(stream=True, **CHAT)
    return "".join(one.choices[0].delta.content or "" for one in stream if one.choices)


def chat_opened_now(client: Any) -> str:
    with client.chat.completions.create(stream=True, **CHAT) as stream:
        return "".join(one.choices[0].delta.content or "" for one in stream if one.choices)


def response_managed_now(client: Any) -> str:
    with client.responses.stream(**RESPONSE) as stream:
        return "".join(one.delta for one in stream if one.type == "response.output_text.delta")


def message_managed_now(client: Any) -> str:
    with client.messages.stream(**MESSAGE) as stream:
        return "".join(stream.text_stream)


SYNCHRONOUS = [chat_created_now, chat_opened_now, response_managed_now, message_managed_now]


@pytest.fixture
async def memory() -> AsyncIterator[TurnMemory]:
    engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=ManualClock())
    async with engine:
        await engine.add("aisle", key="seat", actor=ANA)
        yield TurnMemory(engine, ANA)


async def kept(memory: TurnMemory) -> list[tuple[str, str | None, bool]]:
    turns = (await turns_of(memory._engine.store, memory._engine.vault, ANA)).values()
    return [(turn.question, turn.answer, bool(turn.named)) for turn in turns]


WHOLE = [(ASKED["content"], ANSWER, True)]


@pytest.mark.parametrize("ask", ASYNCHRONOUS)
async def test_an_asynchronous_stream(memory: TurnMemory, ask: Callable[[Any], Awaitable[str]]) -> None:
    with ScriptedModelServer([ANSWER]) as server:
        if ask.__name__.startswith("message"):
            inner: Any = AsyncAnthropic(base_url=server.base_url.removesuffix("/v1"), api_key="test")
        else:
            inner = AsyncOpenAI(base_url=server.base_url, api_key="test")
        async with wrap(inner, memory) as client:
            assert await ask(client) == ANSWER
    assert await kept(memory) == WHOLE
    assert memory.counts["captured"] == 1


@pytest.mark.parametrize("ask", SYNCHRONOUS)
def test_a_synchronous_stream(ask: Callable[[Any], str]) -> None:
    memory = TurnMemory(MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=ManualClock()), ANA)
    memory.now(memory.open)
    memory.now(memory._engine.add, "aisle", key="seat", actor=ANA)
    with ScriptedModelServer([ANSWER]) as server:
        if ask.__name__.startswith("message"):
            inner: Any = Anthropic(base_url=server.base_url.removesuffix("/v1"), api_key="test")
        else:
            inner = OpenAI(base_url=server.base_url, api_key="test")
        with wrap(inner, memory) as client:
            assert ask(client) == ANSWER
    assert memory.now(kept, memory) == WHOLE
    memory.now(memory._engine.close)


async def test_a_stream_that_is_left_has_no_answer(memory: TurnMemory) -> None:
    with ScriptedModelServer([ANSWER]) as server:
        async with wrap(AsyncOpenAI(base_url=server.base_url, api_key="test"), memory) as client:
            async for _ in await client.chat.completions.create(stream=True, **CHAT):
                break
    assert await kept(memory) == [(ASKED["content"], None, False)]


async def test_a_turn_that_began_before_an_erasure_is_not_kept_after_it(memory: TurnMemory) -> None:
    with ScriptedModelServer([ANSWER]) as server:
        async with wrap(AsyncOpenAI(base_url=server.base_url, api_key="test"), memory) as client:
            stream = await client.chat.completions.create(stream=True, **CHAT)
            memory._engine.clock.advance(timedelta(seconds=1))  # type: ignore[attr-defined]
            await memory._engine.erase(ANA.user, actor=ANA)
            memory._engine.clock.advance(timedelta(seconds=1))  # type: ignore[attr-defined]
            assert len([one async for one in stream]) > 1
    assert await kept(memory) == []
