"""Every write whose commit nobody heard of is asked for again: each has its effect once (S4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import CommitUnknown, MnemicError
from mnemic.policy.grant import Grant
from mnemic.ports import RecordStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor
from mnemic.write.draft import WriteRules
from tests.faults.failing_calls import FailingStore
from tests.faults.operations import OPERATIONS, Operation, Prepare
from tests.faults.scale import size
from tests.faults.stores import NAMES, store_named

RETRIES = 3


@pytest.fixture(params=NAMES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> RecordStore:
    return store_named(request, tmp_path, durability="fast")


async def test_no_write_has_its_effect_twice(store: RecordStore, say: Callable[[str], None]) -> None:
    rounds = size(2, 10_000 // len(OPERATIONS) + 1)
    unheard = FailingStore(store, CommitUnknown)
    engine = MemoryEngine(
        store=unheard,  # type: ignore[arg-type]
        embedder=WordEmbedder(),
        clock=ManualClock(),
        rules=WriteRules(conflict=0.5),
        grant=Grant(levels=frozenset({"user"})),
    )
    wrong: Counter[str] = Counter()
    async with engine:
        for name, (prepare, operation) in OPERATIONS.items():
            expected = await _effect(engine, f"once-{name}", prepare, operation, unheard, retries=0)
            for number in range(rounds):
                seen = await _effect(engine, f"again-{name}-{number}", prepare, operation, unheard, retries=RETRIES)
                wrong[name] += seen != expected
    say(f"{rounds * len(OPERATIONS)} writes, failed after the commit, {RETRIES} retries: {wrong.total()} twice")
    assert not +wrong


async def _effect(
    engine: MemoryEngine,
    tenant: str,
    prepare: Prepare,
    operation: Operation,
    unheard: FailingStore,
    *,
    retries: int,
) -> tuple[object, ...]:
    """Everything a tenant of its own shows after the write; its first commits succeed and are not heard of."""
    actor = Actor(tenant=tenant, user="ana")
    given = await prepare(engine, actor)
    for attempt in range(retries):
        unheard.deaf = attempt + 1  # that commit is made, and the caller is told that it failed
        with suppress(MnemicError):
            await operation(engine, actor, given)
    unheard.deaf = 0
    with suppress(MnemicError):
        await operation(engine, actor, given)
    memories = [memory async for memory in engine.export(actor=actor)]
    held = Counter((one["content"], one["status"], one["version"], one["kind"]) for one in memories)
    events = Counter(event.action for event in await engine.audit(actor=actor) if event.action != "refreshed")
    usage = await engine.store.usage(tenant, since=engine.clock.now() - timedelta(days=1))
    return held, events, await engine.consents(actor=actor), {kind: one.rows for kind, one in usage.items()}
