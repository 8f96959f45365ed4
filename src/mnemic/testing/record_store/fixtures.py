"""Fixtures of the contract: an empty store, memories to insert, and separate scopes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from mnemic.ports import RecordStore, Transaction
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Kind, Level, Memory, Scope, Scored, Where
from mnemic.types.scope import new_id

EMBEDDER = WordEmbedder(64)
START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def day(number: float) -> datetime:
    """Return noon of the `number`-th day after the start."""
    return START + timedelta(days=number)


def scope(owner: str = "ada", *, tenant: str = "acme", level: Level = Level.USER) -> Scope:
    """Return a scope; by default always the same."""
    return Scope(tenant=tenant, level=level, owner=owner)


def memory(content: str, *, at: datetime = START, **fields: Any) -> Memory:
    """Return a new memory with the vector of its content, in the default scope unless `fields` overrides it."""
    given: dict[str, Any] = {
        "memory_id": new_id(at),
        "kind": Kind.LONG_TERM,
        "scope": scope(),
        "created_at": at,
        "updated_at": at,
    }
    return Memory(content=content, **{"vector": EMBEDDER.vector(content)} | given | fields)


async def remember(store: RecordStore, *memories: Memory) -> None:
    """Insert `memories` in one transaction, or one for each tenant if there are several."""

    async def work(transaction: Transaction, tenant: str) -> None:
        for each in memories:
            if each.scope.tenant == tenant:
                await transaction.insert(each)

    for tenant in dict.fromkeys(each.scope.tenant for each in memories):
        await store.transact(partial(work, tenant=tenant))


async def change(store: RecordStore, changed: Memory) -> None:
    """Store the next version of a memory."""
    await store.transact(lambda transaction: transaction.replace(changed))


def everything(*scopes: Scope, **filters: Any) -> Where:
    """Return a filter on `scopes`, or on the default one."""
    return Where(scopes=scopes or (scope(),), **filters)


def ids(memories: Sequence[Any]) -> list[str]:
    """Return the identifiers of memories or scored entries, in order."""
    return [each.memory_id for each in memories]


def round_scores(entries: Sequence[Scored]) -> list[tuple[str, float]]:
    """Return identifiers and scores, the latter without the noise of 32-bit arithmetic."""
    return [(entry.memory_id, round(entry.score, 5)) for entry in entries]


class Setting:
    """The fixtures of the contract. `new_store` makes an unopened store on the data in `folder`."""

    pytestmark = pytest.mark.asyncio

    def new_store(self, folder: Path) -> RecordStore:
        """Return the store under test."""
        raise NotImplementedError

    @pytest_asyncio.fixture
    async def store(self, tmp_path: Path) -> AsyncIterator[RecordStore]:
        """Yield an open, empty store."""
        store = self.new_store(tmp_path)
        await store.open(EMBEDDER.space)
        yield store
        await store.close()

    @pytest_asyncio.fixture
    async def other(self, store: RecordStore, tmp_path: Path) -> AsyncIterator[RecordStore]:
        """Yield a second store on the same data, as another process would have it; the same one if it is not shared."""
        other = self.new_store(tmp_path) if store.capabilities.shared else store
        await other.open(EMBEDDER.space)
        yield other
        await other.close()
