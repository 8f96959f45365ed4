"""Take a memory away for good."""

from __future__ import annotations

from mnemic.errors import MemoryNotFound
from mnemic.maintain.derived import derived_from, remove, take_away
from mnemic.maintain.vault import sweep
from mnemic.ports import Clock, RecordStore
from mnemic.types import Actor, Memory, Scope, subject_of
from mnemic.unit_of_work import Unit, commit


async def forget(store: RecordStore, clock: Clock, memory_id: str, *, actor: Actor, scopes: tuple[Scope, ...]) -> None:
    """Delete the memory with all its versions and index entries, what was derived from it, and the sealed values that
    nothing else names; the audit keeps that it happened, not what it said.

    Raises MemoryNotFound where no memory of `scopes` has this id.
    """

    async def work(unit: Unit) -> Memory:
        memory = await unit.reads.get(memory_id, scopes=scopes)
        if memory is None:
            raise MemoryNotFound()
        await remove(unit, memory, by=actor, now=clock.now())
        return memory

    memory = await commit(store, work)
    derived = await derived_from(store, memory.scope, [memory_id])
    await take_away(store, derived, by=actor, now=clock.now())
    await sweep(store, actor.tenant, subject_of(memory.scope, memory.author))
