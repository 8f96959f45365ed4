"""Permanent deletion of memories."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from mnemic.errors import InvalidInput, MemoryNotFound, WriteBlocked
from mnemic.ports import Clock, RecordStore
from mnemic.reason_codes import LOWER_TRUST
from mnemic.types import SHARED, Actor, ForgetResult, Memory, Origin, Scope, Trust, subject_of
from mnemic.types.memory_kinds import TRUST
from mnemic.unit_of_work import Unit, commit
from mnemic.write.derived_memories import delete_memories, derived_from, remove
from mnemic.write.limiter import subject_token
from mnemic.write.tokenisation import markers, sweep
from mnemic.write.turn_log import forget_turns

MAX_FORGOTTEN = 1000
"""Memories that are forgotten by one filter at a time."""


async def forget(store: RecordStore, clock: Clock, memory_id: str, *, actor: Actor, scopes: tuple[Scope, ...]) -> None:
    """Delete the memory with all its versions and index entries, memories derived from it, and sealed values that
    nothing else names; the audit log records the deletion without content.

    Raises MemoryNotFound if no memory of `scopes` has this id, WriteBlocked (`write_blocked:lower_trust`) if the actor
    has less trust than the memory.
    """

    async def work(unit: Unit) -> Memory:
        memory = await unit.reads.get(memory_id, scopes=scopes)
        if memory is None:
            raise MemoryNotFound()
        if _word(memory, actor) < memory.trust:
            raise WriteBlocked(LOWER_TRUST)
        await remove(unit, memory, by=actor, now=clock.now())
        return memory

    memory = await commit(store, work)
    # Others may have been shown a shared memory.
    token = "" if memory.scope.level in SHARED else await subject_token(store, actor.tenant, memory.scope.owner)
    forget_shown = partial(forget_turns, store, actor.tenant, token=token)
    derived, _ = await asyncio.gather(derived_from(store, memory.scope, [memory_id]), forget_shown([memory_id]))
    if derived:
        await delete_memories(store, derived, by=actor, now=clock.now())
        await forget_shown([one.memory_id for one in derived])
    gone = [memory, *derived]
    # Earlier versions are gone, too: what they named is not known any more.
    if any(one.version > 1 for one in gone) or markers(gone):
        await sweep(store, actor.tenant, subject_of(memory.scope, memory.author))


async def forget_matching(
    engine: Any, actor: Actor, bounds: Mapping[str, Any], *, limit: int, dry_run: bool
) -> ForgetResult:
    """Delete the newest `limit` memories that meet the bounds of `MemoryEngine.list`, each by `MemoryEngine.forget`.
    Raises InvalidInput (`filter:empty`, `limit`).
    """
    if all(bound is None for bound in bounds.values()):
        raise InvalidInput("filter:empty", hint="name what to forget; `privacy.erase` deletes everything of a user")
    if type(limit) is not int or not 1 <= limit <= MAX_FORGOTTEN:
        raise InvalidInput("limit", hint=f"1 to {MAX_FORGOTTEN}")
    found = await engine.list(actor=actor, limit=limit + 1, **bounds)
    wanted, more = [one.memory_id for one in found[:limit]], len(found) > limit
    if dry_run:
        return ForgetResult(memory_ids=tuple(wanted), more=more, dry_run=True)
    gone, refused = [], []
    for memory_id in wanted:
        try:
            await engine.forget(memory_id, actor=actor)
        except WriteBlocked:
            refused.append(memory_id)
        except MemoryNotFound:
            continue  # deleted with a memory that it was derived from
        else:
            gone.append(memory_id)
    return ForgetResult(memory_ids=tuple(gone), refused=tuple(refused), more=more)


def require_person(actor: Actor) -> None:
    """Raise WriteBlocked (`write_blocked:lower_trust`) if the actor's words do not come from a person, but from a
    model, a tool or a document: consent and erasure are a person's own.
    """
    if TRUST[actor.channel] < Trust.HIGH:
        raise WriteBlocked(LOWER_TRUST)


def _word(memory: Memory, actor: Actor) -> Trust:
    """Return the actor's trust for deleting the memory: at shared levels lower for everybody but its author and the
    operator, as for a statement there.
    """
    trust = TRUST[actor.channel]
    if memory.scope.level in SHARED and actor.channel is not Origin.OPERATOR and memory.author != actor.user:
        return min(trust, Trust.MEDIUM)
    return trust
