"""Many memories written in one call leave the file as the same memories written one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.engine import MemoryEngine
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Memory, WriteReceipt

ACTOR = Actor(user="ann")
Item = tuple[str, str | None, str | None]
"""Content, key and idempotency key."""

ITEMS = st.tuples(
    st.sampled_from(
        [
            "I like tea with milk in the morning",
            "I don't like tea with milk in the morning",
            "i like TEA with milk in the morning.",
            "I like tea with milk",
            "My rent is 850 euros",
            "The rent went up to 910 euros",
            "I moved from Lisbon to Porto",
            "I live in Lisbon",
            "My card is 4111 1111 1111 1111",
            "The kitchen of the office has a new coffee machine",
            "My sister Ingrid plays the cello",
            "",
        ]
    ),
    st.sampled_from([None, None, None, "home.city", "diet"]),
    st.sampled_from([None, None, None, None, "one", "two"]),
)


def candidates(items: Sequence[Item]) -> list[Candidate]:
    return [Candidate(content=content, key=key) for content, key, _ in items]


async def batched(engine: MemoryEngine, items: Sequence[Item]) -> Sequence[WriteReceipt]:
    return await engine.add_many(candidates(items), actor=ACTOR, idempotency_keys=[key for *_, key in items])


async def one_by_one(engine: MemoryEngine, items: Sequence[Item]) -> Sequence[WriteReceipt]:
    receipts: list[WriteReceipt] = []
    for candidate, (*_, key) in zip(candidates(items), items, strict=True):
        receipts += await engine.add_many([candidate], actor=ACTOR, idempotency_keys=[key])
    return receipts


async def left(folder: Path, write: Any, items: Sequence[Item]) -> dict[str, Any]:
    """Return all that a file holds afterwards, and the receipts, but for identifiers, secrets and times."""
    store = SqliteStore(folder / "m.db", durability="fast")
    engine = MemoryEngine(store=store, embedder=WordEmbedder(dimension=64), clock=ManualClock())
    await engine.open()
    receipts = await write(engine, items)
    scope = ACTOR.scope("user")
    events = await store.audit(ACTOR.tenant)
    names: dict[str, int] = {}
    for event in events:
        if event.memory_id is not None:
            names.setdefault(event.memory_id, len(names))
    versions = [await store.versions(memory_id, scopes=[scope]) for memory_id in names]
    pending = await store.pending()
    lines, broken, _ = await store.broken_audit(ACTOR.tenant)
    usage = await store.usage(ACTOR.tenant, since=ManualClock().now(), scope=scope)
    await engine.close()
    return {
        "receipts": [_receipt(one, names) for one in receipts],
        "versions": [[_said(one, names) for one in each] for each in versions],
        "audit": [(event.action, names.get(event.memory_id or ""), event.version) for event in events],
        "chain": (lines, broken),
        "outbox": [(entry.action, names.get(entry.memory_id), entry.version) for entry in pending],
        "usage": {kind: used.rows for kind, used in usage.items()},
    }


def _receipt(receipt: WriteReceipt, names: dict[str, int]) -> tuple[Any, ...]:
    closed = [names[one] for one in (*receipt.superseded, *receipt.conflicts_with)]
    return (
        receipt.outcome,
        receipt.reason,
        names.get(receipt.memory_id or ""),
        receipt.version,
        closed,
        receipt.replayed,
    )


def _said(memory: Memory, names: dict[str, int]) -> tuple[Any, ...]:
    tied = [names[one] for one in (*memory.supersedes, *memory.conflicts_with)]
    content, marker, _ = memory.content.partition("[")  # what was redacted is marked by the secret of its file
    vector = bool(memory.vector) if marker else memory.vector
    return content, memory.key, memory.status, memory.version, vector, memory.trust, memory.data, tied


@settings(max_examples=12, deadline=None)
@given(st.lists(ITEMS, min_size=2, max_size=48))
def test_a_batch_leaves_what_the_same_writes_leave_one_by_one(items: list[Item]) -> None:
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        together = asyncio.run(left(Path(one), batched, items))
        singly = asyncio.run(left(Path(other), one_by_one, items))
    assert together == singly
    assert together["chain"][1] is None
