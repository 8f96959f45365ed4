"""Batches overlap: one is settled, the next embedded, one more prepared; in order, and none further ahead, with the
outcome of one by one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import aclosing
from functools import partial
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.engine import MemoryEngine
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Memory, WriteReceipt
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
