"""Undo of an import: what it stored and learnt is forgotten, and what it changed is as it was before.

While an import runs, the memories that it writes are noted in marks of the user, version by version.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from mnemic.errors import InvalidInput, MemoryNotFound, MnemicError
from mnemic.maintenance.bulk_import import written_prefix
from mnemic.types import Actor, Memory, Status, checked_identifier
from mnemic.types.json_forms import Serialisable
from mnemic.unit_of_work import Mutation, Unit, apply, commit
from mnemic.write.limiter import subject_token
from mnemic.write.revise import AuditedWriter

if TYPE_CHECKING:
    from mnemic.engine import MemoryEngine


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportUndone(Serialisable):
    """Memories that an import made and that are forgotten now, those that are as they were before it, and those that
    stay because they have changed since.
    """

    forgotten: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    changed_since: tuple[str, ...] = ()


async def undo_import(engine: MemoryEngine, import_id: str, *, actor: Actor) -> ImportUndone:
    """Take back an import of this actor: forget what it made, and restore what it changed or ended. What has changed
    since stays. Raises InvalidInput (`import:unknown`), StoreFailed.
    """
    token = await subject_token(engine.store, actor.tenant, actor.user)
    prefix = f"{written_prefix(token)}{checked_identifier(import_id, 'import_id')}/"
    marks = await engine.store.marks(actor.tenant, prefix)
    if not marks:
        raise InvalidInput("import:unknown", hint="none of your last imports has this id; the id is shown at its end")
    parts = [json.loads(marks[name]) for name in sorted(marks)]
    written: dict[str, int] = {memory_id: version for part in parts for memory_id, version in part["written"]}
    begun = datetime.fromisoformat(parts[0]["begun"])
    forgotten, restored, changed = list[str](), list[str](), list[str]()
    before: list[tuple[Memory, Memory]] = []
    for memory_id, version in written.items():
        past = await engine.store.versions(memory_id, scopes=engine.reach(actor))
        if not past:
            continue
        earlier = [one for one in past if one.updated_at < begun]
        if past[-1].version != version:
            changed.append(memory_id)
        elif earlier:
            before.append((past[-1], earlier[-1]))
        else:
            # First: a key holds one active memory.
            with suppress(MemoryNotFound):
                await engine.forget(memory_id, actor=actor)
            forgotten.append(memory_id)
    for now, was in reversed(before):
        (restored if await _restore(engine, now, was, actor) else changed).append(now.memory_id)
    await apply(engine.store, Mutation(tenant=actor.tenant, marks=dict.fromkeys(marks)))
    return ImportUndone(forgotten=tuple(forgotten), restored=tuple(restored), changed_since=tuple(changed))


async def _restore(engine: MemoryEngine, now: Memory, was: Memory, actor: Actor) -> bool:
    """Bring a memory back to an earlier version; return False if another one says the same by now."""
    try:
        if (now.content, now.data, now.context) != (was.content, was.data, was.context):
            await engine.rollback(now.memory_id, was.version, actor=actor)
            return True
    except MnemicError:
        return False
    steward = AuditedWriter(actor, engine.clock.now())
    names = ("status", "valid_from", "valid_to", "occurred_at", "key", "category", "confidence", "expires_at")

    async def work(unit: Unit) -> bool:
        present = await unit.reads.get(now.memory_id, scopes=[now.scope])
        if present is None or present.version != now.version:
            return False
        opens = was.status is Status.ACTIVE and now.status is not Status.ACTIVE
        if opens and await unit.reads.find_fingerprint(now.scope, was.fingerprint) is not None:
            return False
        labels = {name: getattr(was, name) for name in names}
        await steward.change(unit, present, "import_undone", fingerprint=was.fingerprint, **labels)
        return True

    done = await commit(engine.store, work)
    await engine._pipeline.publisher.catch_up()
    return done
