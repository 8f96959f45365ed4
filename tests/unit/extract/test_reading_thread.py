"""Long texts are read beside the loop: others are answered meanwhile, and nobody's reader goes on for nothing."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from datetime import timedelta
from time import monotonic
from typing import Any

import pytest

from mnemic.errors import BudgetSpent
from mnemic.extract.reading_thread import QUICK_CHARS, read_in_thread
from mnemic.extract.rule_extractor import RuleExtractor
from mnemic.policy.budget import Budget, check_time
from mnemic.policy.key_rules import Policy
from mnemic.ports import Embedder
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Deadline, Message, Vector

LONG = "I live in Oslo. I am vegetarian. " + "The ferry leaves the harbour in the morning. " * 40


def minute() -> Deadline:
    return Deadline.after(timedelta(minutes=1), monotonic)


class Where(WordEmbedder):
    """An embedder that notes the thread it is called in."""

    def __init__(self) -> None:
        super().__init__(384)
        self.threads: set[int] = set()

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        self.threads.add(threading.get_ident())
        return await super().embed(texts, deadline=deadline)


@pytest.mark.parametrize("text", ["I live in Oslo. I am vegetarian.", LONG])
async def test_a_long_text_is_read_beside_the_loop_and_a_chat_message_on_it(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    seen: set[int] = set()
    read = RuleExtractor._read

    async def noted(self: RuleExtractor, *given: Any) -> Any:
        seen.add(threading.get_ident())
        return await read(self, *given)

    monkeypatch.setattr(RuleExtractor, "_read", noted)
    found = await RuleExtractor(WordEmbedder(384)).extract(
        Message(role="user", content=text), policy=Policy(), budget=Budget(), deadline=minute()
    )
    assert {"Oslo", "vegetarian"} <= {one.content for one in found.candidates}
    assert (seen == {threading.get_ident()}) is (len(text) <= QUICK_CHARS)


async def test_the_embedder_is_asked_on_the_callers_loop() -> None:
    embedder = Where()

    async def read(beside: Embedder | None, deadline: Deadline) -> tuple[int, list[Vector]]:
        assert beside is not None
        assert beside.space == embedder.space
        return threading.get_ident(), await beside.embed(["a boat"], deadline=deadline)

    thread, vectors = await read_in_thread(read, embedder, minute())
    assert vectors == await WordEmbedder(384).embed(["a boat"])
    assert embedder.threads == {threading.get_ident()} != {thread}


async def test_a_reader_that_nobody_waits_for_ends() -> None:
    begun, ended = threading.Event(), threading.Event()

    async def read(_: Embedder | None, deadline: Deadline) -> None:
        begun.set()
        try:
            while True:
                check_time(deadline)
        except BudgetSpent:
            ended.set()
            raise

    task = asyncio.create_task(read_in_thread(read, None, minute()))
    assert await asyncio.to_thread(begun.wait, 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(ended.wait, 20)
