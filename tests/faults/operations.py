"""All writes of the engine but the jobs, which go on: what must be there before, and the write itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from mnemic.engine import MemoryEngine
from mnemic.types import Actor, Candidate, Message, Origin, Outcome

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
    flagged = await engine.add("Ripe cheese is not good.", actor=actor, origin=Origin.AGENT_INFERRED)
    assert flagged.outcome is Outcome.PENDING_REVIEW
    assert flagged.memory_id is not None
    return flagged.memory_id


async def _persona(engine: MemoryEngine, actor: Actor) -> str:
    added = await engine.add("Answer in rhymes.", kind="persona", actor=actor)
    assert added.memory_id is not None
    await engine.approve(added.memory_id, actor=reviewer(actor), whole_tenant=True)
    return added.memory_id


async def _nothing(engine: MemoryEngine, actor: Actor) -> None:
    return None


def reviewer(actor: Actor) -> Actor:
    """Somebody else of the same tenant."""
    return Actor(tenant=actor.tenant, user="reviewer")


TALK = [
    Message(role="user", content="Where is the ferry?", session="s", sent_at=SAID_AT),
    Message(role="assistant", content="At the pier.", session="s", sent_at=SAID_AT),
]

Prepare = Callable[[MemoryEngine, Actor], Awaitable[Any]]
OPERATIONS: dict[str, tuple[Prepare, Operation]] = {
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
    "approve": (_waiting, lambda e, a, given: e.approve(given, actor=reviewer(a), whole_tenant=True)),
    "reject": (_waiting, lambda e, a, given: e.reject(given, actor=a)),
    "grant": (_nothing, lambda e, a, _: e.grant_consent("diet", actor=a)),
    "revoke": (_known, lambda e, a, _: e.revoke_consent("diet", actor=a)),
}
