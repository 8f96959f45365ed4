"""A write path on the in-process store, with an embedder that tells what it was shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from mnemic.policy.key_rules import Policy
from mnemic.ports import Embedder
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Memory, Origin, Source, Status, Vector, Where, WriteReceipt
from mnemic.write.pipeline import MemoryWritePipeline


class Blind(WordEmbedder):
    """Every text has the same vector: cosine 1 everywhere, so that only words can tell two texts apart."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    async def embed(self, texts: Sequence[str], **options: Any) -> list[Vector]:
        self.seen += texts
        self.texts += len(texts)
        return [self.vector("the same") for _ in texts]


class Desk:
    """One pipeline and the shortest way to write with it and to look at what is stored."""

    def __init__(self, embedder: Embedder, **options: Any) -> None:
        self.store = InProcessStore()
        self.embedder = embedder
        self.clock = ManualClock()
        self.actor = Actor(user="ada", session="s1")
        self.policy = Policy()
        self.pipeline = MemoryWritePipeline(self.store, embedder, self.clock, **options)

    async def open(self) -> Desk:
        await self.store.open(self.embedder.space)
        return self

    async def add(
        self,
        content: str,
        *,
        origin: Origin = Origin.USER_STATED,
        idempotency_key: str | None = None,
        policy: Policy | None = None,
        actor: Actor | None = None,
        **fields: Any,
    ) -> WriteReceipt:
        source = fields.pop("source", Source(origin=origin))
        return await self.pipeline.write(
            Candidate(content=content, source=source, **fields),
            actor=actor or self.actor,
            policy=policy or self.policy,
            idempotency_key=idempotency_key,
        )

    async def all(self, *statuses: Status) -> list[Memory]:
        where = Where(
            scopes=self.actor.scopes(["user", "agent", "session"]), statuses=frozenset(statuses or tuple(Status))
        )
        return (await self.store.newest(where, limit=1000))[::-1]

    async def active(self) -> list[Memory]:
        return await self.all(Status.ACTIVE)

    async def get(self, memory_id: str | None) -> Memory:
        memory = await self.store.get(memory_id or "", scopes=self.actor.scopes(["user", "agent", "session"]))
        assert memory is not None
        return memory

    async def actions(self) -> list[str]:
        return [event.action for event in await self.store.audit(self.actor.tenant)]


@pytest.fixture
async def desk() -> Desk:
    """The real cosines of shared words."""
    return await Desk(WordEmbedder()).open()


@pytest.fixture
async def blind() -> Desk:
    """Cosine 1 between any two texts."""
    return await Desk(Blind()).open()
