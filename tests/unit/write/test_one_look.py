"""Before it embeds, a write asks a file for consents and for an identical memory in one read, and refuses as before."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Deadline, Outcome, Vector
from mnemic.write.limiter import decide_consent

ANA = Actor(user="ana")
BAD = Candidate(content="I like tea.", confidence=0.5, data={"amount": float("nan")})


class _Embedder(WordEmbedder):
    """Notes the number of texts of each call."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[int] = []

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        self.calls.append(len(texts))
        return await super().embed(texts, deadline=deadline)


class _Store(SqliteStore):
    """Counts the reads of the file."""

    reads = 0

    async def _read(self, work: Any) -> Any:
        self.reads += 1
        return await super()._read(work)


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[MemoryEngine]:
    async with MemoryEngine(store=_Store(tmp_path / "m.db"), embedder=_Embedder()) as opened:
        yield opened


async def test_a_write_reads_the_file_once_before_its_transaction(engine: MemoryEngine) -> None:
    await engine.add("I like tea.", actor=ANA)
    store, embedder = engine.store, engine.embedder
    assert isinstance(store, _Store)
    assert isinstance(embedder, _Embedder)
    store.reads = 0
    embedder.calls.clear()
    assert (await engine.add("My bicycle is green.", actor=ANA)).outcome is Outcome.CREATED
    assert (store.reads, embedder.calls) == (1, [1])
    assert (await engine.add("I like tea.", actor=ANA)).outcome is Outcome.REFRESHED
    assert (store.reads, embedder.calls) == (2, [1])


async def test_limits_refuse_before_the_rules_of_a_statement_do(engine: MemoryEngine) -> None:
    with pytest.raises(InvalidInput, match="data"):
        await engine.add(BAD, actor=ANA)
    await engine.erase("ana", actor=ANA, block=True)
    for candidate in (BAD, Candidate(content="I like tea.")):
        receipt = await engine.add(candidate, actor=ANA)
        assert (receipt.outcome, receipt.reason) == (Outcome.BLOCKED, "retention_denied:erased_subject")


async def test_a_key_without_consent_is_refused_by_the_same_read(engine: MemoryEngine) -> None:
    await decide_consent(
        engine.store, engine.clock, "drink", granted=False, user="ana", actor=ANA, policy=engine.policy
    )
    assert (await engine.add("tea", key="drink", actor=ANA)).reason == "consent_required:drink"
    assert isinstance(engine.embedder, _Embedder)
    assert engine.embedder.calls == []
