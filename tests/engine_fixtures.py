"""Fixtures of tests on a whole engine: on a file, with a clock that the test sets, and two of its users."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from mnemic.engine import MemoryEngine
from mnemic.policy.grant import Grant
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor
from mnemic.write.draft import WriteRules

ANA = Actor(user="ana", workspace="travel", session="s1")
BEN = Actor(user="ben", workspace="travel", session="s2")


@pytest_asyncio.fixture
async def clock() -> ManualClock:
    """Return a clock that the test sets."""
    return ManualClock()


@pytest_asyncio.fixture
async def engine(clock: ManualClock, tmp_path: Path) -> AsyncIterator[MemoryEngine]:
    """Yield an open engine on a new file, with a grant for three levels."""
    async with MemoryEngine(
        store=SqliteStore(tmp_path / "m.db"),
        embedder=WordEmbedder(),
        clock=clock,
        rules=WriteRules(conflict=0.5),
        grant=Grant(levels=frozenset({"user", "workspace", "agent"})),
    ) as engine:
        yield engine


@pytest.fixture
def ana() -> Actor:
    """Return the user who the tests are about."""
    return ANA


@pytest.fixture
def ben() -> Actor:
    """Return somebody else of the same workspace."""
    return BEN
