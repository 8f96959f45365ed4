"""The public API as a caller's type checker sees it. Never run: `test_typing.py` checks it with `mypy --strict`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import assert_type

from mnemic.engine import MemoryEngine
from mnemic.errors import MnemicError, StoreFull
from mnemic.ports import Clock, Completer, Embedder, RecordStore
from mnemic.runtime.clock import SystemClock
from mnemic.types import (
    Actor,
    Completion,
    Deadline,
    Hit,
    Kind,
    Memory,
    Prompt,
    Rank,
    Scope,
    SearchResult,
    Vector,
    VectorSpace,
    WriteReceipt,
)
from mnemic.types.trace import RunReport


class OwnEmbedder:
    """A caller's embedder needs no base class."""

    @property
    def space(self) -> VectorSpace:
        return VectorSpace(model="own", dimension=2)

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        return []

    async def close(self) -> None: ...


class OwnCompleter:
    """Nor does a caller's language model."""

    @property
    def model(self) -> str:
        return "own"

    async def complete(self, prompt: Prompt, *, deadline: Deadline) -> Completion:
        return Completion(text="{}", model=self.model)

    async def close(self) -> None: ...


class NotAnEmbedder:
    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        return []


def ports_are_structural() -> None:
    clock: Clock = SystemClock()
    embedder: Embedder = OwnEmbedder()
    completer: Completer = OwnCompleter()
    wrong: Embedder = NotAnEmbedder()  # type: ignore[assignment]
    assert_type(clock.now(), datetime)
    assert_type(embedder.space.dimension, int)
    assert_type(completer.model, str)
    del wrong


def values_are_frozen_and_named(memory: Memory, actor: Actor) -> None:
    assert_type(memory.kind, Kind)
    assert_type(memory.scope, Scope)
    assert_type(memory.expires_at, datetime | None)
    assert_type(actor.scope("user"), Scope)
    memory.content = "other"  # type: ignore[misc]
    Actor("ada")  # type: ignore[call-arg]


def errors_are_one_tree(error: StoreFull) -> None:
    root: MnemicError = error
    assert_type(root.reason, str)
    assert_type(root.hint, str | None)


async def the_engine(store: RecordStore, actor: Actor) -> None:
    async with MemoryEngine(store=store, embedder=OwnEmbedder()) as engine:
        receipt = await engine.add("I live in Oslo.", actor=actor, kind="long_term", ttl=timedelta(days=30))
        assert_type(receipt, WriteReceipt)
        assert_type(receipt.memory_id, str | None)

        found = await engine.search("where does she live", actor=actor, top_k=3, kinds=[Kind.LONG_TERM, "persona"])
        assert_type(found, SearchResult)
        assert_type(found.hits, tuple[Hit, ...])
        assert_type(found.hits[0].ranks, Mapping[str, Rank])
        assert_type(await engine.get("id", actor=actor), Memory)
        assert_type(await engine.history("id", actor=actor), Sequence[Memory])
        assert_type(await engine.run(actor=actor, goal="Book a flight."), RunReport)

        await engine.search("no actor, no answer")  # type: ignore[call-arg]
        await engine.add(b"bytes", actor=actor)  # type: ignore[arg-type]
