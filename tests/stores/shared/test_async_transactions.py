"""`work` may ask the database and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from mnemic.stores.store_verbs import Step, drive


class Port:
    """Answers after a moment, as a database does."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def say(self, word: str) -> str:
        return await Step(lambda: self._answer(word))

    async def _answer(self, word: str) -> str:
        await asyncio.sleep(0)
        self.asked.append(word)
        if word == "fail":
            raise LookupError
        return word.upper()


async def test_answers_come_back_in_order() -> None:
    async def work(port: Port) -> list[str]:
        return [await port.say("a"), await port.say("b")]

    port = Port()
    assert await drive(work, port) == ["A", "B"]
    assert port.asked == ["a", "b"]


async def test_a_failure_belongs_to_the_work() -> None:
    async def work(port: Port) -> str:
        try:
            return await port.say("fail")
        except LookupError:
            return await port.say("caught")

    assert await drive(work, Port()) == "CAUGHT"
    with pytest.raises(LookupError):
        await drive(lambda port: port.say("fail"), Port())


@pytest.mark.parametrize(
    "other", [lambda: asyncio.sleep(0), lambda: asyncio.sleep(0.001), lambda: asyncio.to_thread(len, "")]
)
async def test_anything_else_is_refused_and_the_work_closed(other: Callable[[], Awaitable[object]]) -> None:
    closed = []

    async def work(port: Port) -> None:
        try:
            await port.say("first")
            await other()
        finally:
            closed.append(True)

    with pytest.raises(RuntimeError, match="may await nothing but itself"):
        await drive(work, Port())
    assert closed == [True]


async def test_cancelling_closes_the_work() -> None:
    closed = asyncio.Event()

    async def work(port: Port) -> None:
        try:
            await Step(asyncio.Event().wait)
        finally:
            closed.set()

    task = asyncio.create_task(drive(work, Port()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert closed.is_set()
