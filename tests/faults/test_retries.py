"""Every write whose commit nobody heard of is asked for again: each has its effect once (S4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import CommitUnknown, MnemicError
from mnemic.guard.execution import Grant
from mnemic.ports import RecordStore
from mnemic.stores.inprocess import InProcessStore
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.faults.calls import FailingStore
from mnemic.types import Actor, Candidate, Message, Outcome
from mnemic.write.pipeline import WriteRules
from tests.faults.scale import size
from tests.servers import PostgresServer

RETRIES = 3
SAID_AT = datetime(2026, 5, 4, 12, tzinfo=UTC)
Operation = Callable[[MemoryEngine, Actor, Any], Awaitable[object]]


async def _known(engine: MemoryEngine, actor: Actor) -> str:
    receipt = await engine.add("The spare key hangs behind the door.", actor=actor)
    assert receipt.memory_id is not None
    return receipt.memory_id


async def _revised(engine: MemoryEngine, actor: Actor) -> str:
    memory_id = await _known(engine, actor)
    await engine.update(memory_id, "The spare key lies under the mat.", actor=actor)
    return memory_id


async def _waiting(engine: MemoryEngine, actor: Actor) -> str:
    await engine.add("Ripe cheese is good.", actor=actor)
    flagged = await engine.add("Ripe cheese is not good.", actor=actor)
    assert flagged.outcome is Outcome.PENDING_REVIEW
    assert flagged.memory_id is not None
    return flagged.memory_id


async def _persona(engine: MemoryEngine, actor: Actor) -> str:
    added = await engine.add("Answer in rhymes.", kind="persona", actor=actor)
    assert added.memory_id is not None
    await engine.approve(added.memory_id, actor=_other(actor), whole_tenant=True)
    return added.memory_id


async def _nothing(engine: MemoryEngine, actor: Actor) -> None:
    return None


def _other(actor: Actor) -> Actor:
    return Actor(tenant=actor.tenant, user="reviewer")


TALK = [
    Message(role="user", content="Where is the ferry?", session="s", sent_at=SAID_AT),
    Message(role="assistant", content="At the pier.", session="s", sent_at=SAID_AT),
]

OPERATIONS: dict[str, tuple[Callable[[MemoryEngine, Actor], Awaitable[Any]], Operation]] = {
    "add": (_nothing, lambda e, a, _: e.add("Lunch is at noon.", actor=a)),
    "add_with_key": (_nothing, lambda e, a, _: e.add("Lunch is at noon.", actor=a, idempotency_key="once")),
    "add_contradiction": (_waiting, lambda e, a, _: e.add("Ripe cheese is not good.", actor=a)),
    "add_value": (_known, lambda e, a, _: e.add("aisle", key="seat", actor=a, idempotency_key="once")),
    "add_many": (
        _nothing,
        lambda e, a, _: e.add_many(
            [Candidate(content=f"Stop {n} is a harbour.") for n in range(3)],
            actor=a,
            idempotency_keys=[f"stop-{n}" for n in range(3)],
        ),
    ),
    "capture": (
        _nothing,
        lambda e, a, _: e.capture("I am vegetarian and I live in Oslo.", actor=a, idempotency_key="c"),
    ),
    "record": (_nothing, lambda e, a, _: e.record(TALK, actor=a)),
    "update": (_known, lambda e, a, given: e.update(given, "The key lies under the mat.", actor=a)),
    "add_reviewed": (_nothing, lambda e, a, _: e.add("Answer in rhymes.", kind="persona", actor=a)),
    "update_reviewed": (_persona, lambda e, a, given: e.update(given, "Answer in prose.", actor=a)),
    "rollback": (_revised, lambda e, a, given: e.rollback(given, 1, actor=a)),
    "forget": (_known, lambda e, a, given: e.forget(given, actor=a)),
    "approve": (_waiting, lambda e, a, given: e.approve(given, actor=_other(a), whole_tenant=True)),
    "reject": (_waiting, lambda e, a, given: e.reject(given, actor=a)),
    "grant": (_nothing, lambda e, a, _: e.grant_consent("diet", actor=a)),
    "revoke": (_known, lambda e, a, _: e.revoke_consent("diet", actor=a)),
}
"""What is there before, and the write itself. All writes of the engine but the jobs, which go on."""


@pytest.fixture(params=["inprocess", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> RecordStore:
    if request.param == "inprocess":
        return InProcessStore()
    if request.param == "sqlite":
        return SqliteStore(tmp_path / "m.db", durability="fast")
    server: PostgresServer = request.getfixturevalue("postgres")
    return PostgresStore(server.database(tmp_path))


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
        for number in range(rounds):
            for name, (prepare, operation) in OPERATIONS.items():
                expected = await _effect(engine, f"once-{name}-{number}", prepare, operation, unheard, retries=0)
                seen = await _effect(engine, f"again-{name}-{number}", prepare, operation, unheard, retries=RETRIES)
                wrong[name] += seen != expected
    say(f"{rounds * len(OPERATIONS)} writes, failed after the commit, {RETRIES} retries: {wrong.total()} twice")
    assert not +wrong


async def _effect(
    engine: MemoryEngine,
    tenant: str,
    prepare: Callable[[MemoryEngine, Actor], Awaitable[Any]],
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
