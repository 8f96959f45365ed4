"""An engine in this process, with a clock that stands still, and both ways to call its kinds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest_asyncio

from mnemic.engine import MemoryEngine
from mnemic.kinds.all_kinds import SevenKinds
from mnemic.runtime.sync_facade import Awaited, async_mode
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.in_process_sessions import InProcessSessions
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor

ANA = Actor(user="ana", agent="guide", session="s1")
BEN = Actor(user="ben", agent="guide", session="s2")


@dataclass(frozen=True)
class House:
    """An open engine and its clock."""

    engine: MemoryEngine
    clock: ManualClock

    def kinds(self, actor: Actor = ANA) -> SevenKinds[Awaited]:
        return SevenKinds(self.engine, actor, async_mode())


@pytest_asyncio.fixture
async def house() -> AsyncIterator[House]:
    clock = ManualClock()
    engine = MemoryEngine(
        store=InProcessStore(), embedder=WordEmbedder(), clock=clock, sessions=InProcessSessions(clock)
    )
    async with engine:
        yield House(engine, clock)
