"""Lag of the event loop, caused by a blocking call or too much work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

EVERY_SECONDS = 0.25


@asynccontextmanager
async def watched_loop(late: Callable[[float], None], *, every: float = EVERY_SECONDS) -> AsyncIterator[None]:
    """While the context is open, report to `late` by how many seconds a timer came too late."""
    task = asyncio.create_task(_watch(late, every), name="mnemic-loop-lag")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _watch(late: Callable[[float], None], every: float) -> None:
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + every
        await asyncio.sleep(every)
        late(max(0.0, loop.time() - due))
