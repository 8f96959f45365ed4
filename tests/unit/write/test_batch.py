"""Batches overlap: one is settled, the next embedded, one more prepared; in order, and none further ahead."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import aclosing
from functools import partial
from itertools import groupby
from typing import Any

import pytest

from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor
from mnemic.unit_of_work import Unit, commit_each
from mnemic.write.pipeline import run_pipelined


class Line:
    """Batches that note what becomes of them; one in `gates` is settled only when its gate opens."""

    def __init__(self, *held: int) -> None:
        self.log: list[str] = []
        self.gates = {number: asyncio.Event() for number in held}

    async def prepare(self, number: int) -> int:
        self.log.append(f"prepared {number}")
        await asyncio.sleep(0)
        return number

    async def embed(self, number: int) -> int:
        self.log.append(f"embedding {number}")
        await asyncio.sleep(0)
        self.log.append(f"embedded {number}")
        return number

    async def settle(self, number: int) -> int:
        self.log.append(f"settling {number}")
        if number in self.gates:
            await self.gates[number].wait()
        self.log.append(f"settled {number}")
        return number

    def batches(self, count: int) -> Iterator[Callable[[], Coroutine[Any, Any, int]]]:
        return iter([partial(self.prepare, number) for number in range(count)])


async def drained(line: Line, batches: Iterator[Callable[[], Coroutine[Any, Any, int]]]) -> list[int]:
    async with aclosing(run_pipelined(batches, line.embed, line.settle)) as settled:
        return [one async for one in settled]


async def turns(count: int = 20) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_while_one_is_settled_the_next_is_embedded_and_one_more_prepared() -> None:
    line = Line(0)
    draining = asyncio.create_task(drained(line, line.batches(5)))
    await turns()
    ahead = [step for step in line.log if not step.endswith(" 0")]
    assert ahead == ["prepared 1", "embedding 1", "prepared 2", "embedded 1"]
    line.gates[0].set()
    assert await draining == [0, 1, 2, 3, 4]


async def test_no_two_are_embedded_or_settled_at_the_same_time() -> None:
    line = Line()
    assert await drained(line, line.batches(4)) == [0, 1, 2, 3]
    embedded = [step for step in line.log if step.startswith("embed")]
    settled = [step for step in line.log if step.startswith("settl")]
    assert embedded == [f"{step} {number}" for number in range(4) for step in ("embedding", "embedded")]
    assert settled == [f"{step} {number}" for number in range(4) for step in ("settling", "settled")]


async def test_cancelled_it_leaves_nothing_running() -> None:
    line = Line(0)
    draining = asyncio.create_task(drained(line, line.batches(5)))
    await turns()
    draining.cancel()
    with pytest.raises(asyncio.CancelledError):
        await draining
    line.gates[0].set()
    before = list(line.log)
    await turns()
    assert line.log == before
    assert "settled 0" not in line.log


async def test_what_cannot_be_prepared_ends_it() -> None:
    async def broken() -> int:
        raise RuntimeError("no batch")

    line = Line()
    with pytest.raises(RuntimeError, match="no batch"):
        await drained(line, iter([partial(line.prepare, 0), broken]))
    before = list(line.log)
    await turns()
    assert line.log == before


async def test_writes_of_a_batch_let_others_go_on_between_them() -> None:
    """Also in a store whose transactions wait for nothing."""
    log: list[str] = []
    store = InProcessStore()
    await store.open(WordEmbedder().space)
    scopes = [Actor(user="ana").scope("user")] * 3

    async def write(_: Unit) -> None:
        log.append("written")

    async def go_on() -> None:
        while log.count("written") < len(scopes):
            log.append("another's turn")
            await asyncio.sleep(0)

    other = asyncio.create_task(go_on())
    await commit_each(store, [write] * len(scopes), scopes=scopes)
    await other
    assert [one for one, _ in groupby(log)][:6] == ["another's turn", "written"] * 3
