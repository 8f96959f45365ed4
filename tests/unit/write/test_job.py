"""Batches overlap: the next is made while one is settled, in order, and never further ahead."""

from __future__ import annotations

import asyncio
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

    def run(self, count: int) -> list[partial[object]]:
        return [partial(self.make, number) for number in range(count)]


async def test_the_next_is_made_while_one_is_settled_and_none_beyond_it() -> None:
    line = Line(0)
    found: list[object] = []

    async def collect() -> None:
        async with aclosing(overlapped(line.run(3), line.settle)) as settled:  # type: ignore[arg-type]
            async for one in settled:
                found.append(one)

    collecting = asyncio.create_task(collect())
    for _ in range(20):
        await asyncio.sleep(0)
    assert line.log == ["made 0", "settling 0", "made 1"] or line.log == ["made 0", "made 1", "settling 0"]
    line.gates[0].set()
    await collecting
    assert found == [0, 1, 2]


async def test_cancelled_it_leaves_nothing_running() -> None:
    line = Line(0)

    async def collect() -> None:
        async with aclosing(overlapped(line.run(3), line.settle)) as settled:  # type: ignore[arg-type]
            async for _ in settled:
                pass

    collecting = asyncio.create_task(collect())
    for _ in range(20):
        await asyncio.sleep(0)
    collecting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await collecting
    line.gates[0].set()
    for _ in range(5):
        await asyncio.sleep(0)
    assert "settled 0" not in line.log


async def test_what_cannot_be_made_ends_it_after_the_one_before_is_stopped() -> None:
    async def broken() -> int:
        raise RuntimeError("no batch")

    line = Line()
    with pytest.raises(RuntimeError, match="no batch"):
        async with aclosing(overlapped([partial(line.make, 0), broken], line.settle)) as settled:
            async for _ in settled:
                pass
