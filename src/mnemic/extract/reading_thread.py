"""Readers of long texts run in threads of their own, so that no message holds the event loop, and end with their call.

The threads are few: long texts wait for each other, not for what else a program has threads for. A reader is a
coroutine; in its thread it has a loop of its own, and asks the embedder on the caller's.
"""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, TypeGuard, TypeVar, cast

from mnemic.ports import Embedder, JudgesKeeping
from mnemic.types import Deadline, Vector, VectorSpace

T = TypeVar("T")
QUICK_CHARS = 1_000
"""Characters of a text that is read where it is: a chat message, for which a thread would cost more than reading it."""
_THREADS = 2


@dataclass(slots=True)
class _Elsewhere:
    """The embedder of another loop."""

    inner: Embedder
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    @property
    def space(self) -> VectorSpace:
        """Return the embedder's space."""
        return self.inner.space

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        """Return the vectors."""
        return await self._there(self.inner.embed(texts, deadline=deadline))

    async def close(self) -> None:
        """Do nothing: the embedder is the caller's."""

    async def _there(self, asked: Awaitable[T]) -> T:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_build_answer(asked), self.loop))


class _JudgeElsewhere(_Elsewhere):
    """The embedder of another loop, which can judge what is worth storing."""

    async def judge_keeping(
        self, parts: Sequence[tuple[str, str]], *, deadline: Deadline | None = None
    ) -> list[float | None]:
        """Return the logarithms of the odds."""
        return await self._there(cast("JudgesKeeping", self.inner).judge_keeping(parts, deadline=deadline))


def judges_keeping(embedder: Embedder | None) -> TypeGuard[JudgesKeeping]:
    """Return True for a `JudgesKeeping`; `isinstance` would check each name of the protocol, for each message."""
    return hasattr(embedder, "judge_keeping")


async def _build_answer(answer: Awaitable[T]) -> T:
    return await answer


async def read_beside(text: str, read: Callable[[], T]) -> T:
    """Return the result of `read`, a function of `text`: in a thread if it is longer than a chat message."""
    if len(text) <= QUICK_CHARS:
        return read()
    context = copy_context()
    return await asyncio.get_running_loop().run_in_executor(_threads(os.getpid()), lambda: context.run(read))


async def read_in_thread(
    read: Callable[[Embedder | None, Deadline], Coroutine[Any, Any, T]], embedder: Embedder | None, deadline: Deadline
) -> T:
    """Return the result of `read`, which is given an embedder and a deadline to work with: time is up for it as well
    once nobody waits any more.
    """
    left: list[bool] = []
    ending = replace(deadline, monotonic=lambda: math.inf if left else deadline.monotonic())
    beside = None if embedder is None else (_JudgeElsewhere if judges_keeping(embedder) else _Elsewhere)(embedder)
    context = copy_context()

    def run() -> T:
        return context.run(asyncio.run, read(beside, ending))

    try:
        return await asyncio.get_running_loop().run_in_executor(_threads(os.getpid()), run)
    except asyncio.CancelledError:
        left.append(True)
        raise


@lru_cache(maxsize=1)
def _threads(_: int) -> ThreadPoolExecutor:
    """Return the threads of this process: a fork has none of its parent's."""
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="mnemic-reader")
