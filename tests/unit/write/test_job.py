"""Batches overlap: the next is made while one is settled, in order, and never further ahead."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from functools import partial

import pytest

from mnemic.write.job import overlapped


class Line:
    """Batches that note when they are made and settled; a batch in `gates` is settled only when its gate opens."""

    def __init__(self, *held: int) -> None:
        self.log: list[str] = []
        self.gates = {number: asyncio.Event() for number in held}

    async def make(self, number: int) -> int:
        self.log.append(f"made {number}")
        await asyncio.sleep(0)
        return number

    async def settle(self, number: int) -> int:
        self.log.append(f"settling {number}")
        if number in self.gates:
            await self.gates[number].wait()
        self.log.append(f"settled {number}")
        return number

    def batches(self, count: int) -> list[Callable[[], Awaitable[int]]]:
        return [partial(self.make, number) for number in range(count)]


async def drained(line: Line, *batches: Callable[[], Awaitable[int]]) -> list[int]:
    async with aclosing(overlapped(batches, line.settle)) as settled:
        return [one async for one in settled]


async def turns(count: int = 20) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_the_next_is_made_while_one_is_settled_and_none_beyond_it() -> None:
    line = Line(0)
    draining = asyncio.create_task(drained(line, *line.batches(3)))
    await turns()
    assert sorted(line.log) == ["made 0", "made 1", "settling 0"]
    line.gates[0].set()
    assert await draining == [0, 1, 2]


async def test_cancelled_it_leaves_nothing_running() -> None:
    line = Line(0)
    draining = asyncio.create_task(drained(line, *line.batches(3)))
    await turns()
    draining.cancel()
    with pytest.raises(asyncio.CancelledError):
        await draining
    line.gates[0].set()
    await turns()
    assert "settled 0" not in line.log


async def test_what_cannot_be_made_ends_it() -> None:
    async def broken() -> int:
        raise RuntimeError("no batch")

    line = Line()
    with pytest.raises(RuntimeError, match="no batch"):
        await drained(line, *line.batches(1), broken)
