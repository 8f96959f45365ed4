"""Resumable bulk import.

Memories arrive in parts, in order. The progress is stored next to the memories; each memory carries an idempotency key
made of the import and its position, so that a repeated part changes nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from mnemic.errors import EmbedderFailed, InvalidInput, MemoryNotFound, StoreFailed, error_behind
from mnemic.maintenance.import_undo import ImportNotes, NotedEngine
from mnemic.types import Actor, Candidate, WriteReceipt, checked_identifier
from mnemic.write.consent import subject_token
from mnemic.write.limiter import apply_of_user, words_read

KEPT = 20
"""Maximum number of imports per user whose progress is stored; the oldest is dropped."""


class ImportEngine(NotedEngine, Protocol):
    """The part of the engine that an import needs."""

    async def add_many(
        self, candidates: Sequence[Candidate], *, actor: Actor, idempotency_keys: Sequence[str | None] | None = None
    ) -> Sequence[WriteReceipt]:
        """Remember many things."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportProgress:
    """Progress of an import: the number of memories `taken`, and the outcomes."""

    import_id: str
    taken: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)
    updated_at: datetime | None = None


def import_prefix(token: str) -> str:
    """Return the prefix of the names of the marks of a user's imports."""
    return f"import/{token}/"


async def import_progress(engine: ImportEngine, actor: Actor, import_id: str) -> ImportProgress:
    """Return the progress of the import. Raises MemoryNotFound for an unknown one."""
    known = (await _known_progress(engine, actor)).get(checked_identifier(import_id, "import_id"))
    if known is None:
        raise MemoryNotFound("import")
    return known


async def take_part(
    engine: ImportEngine, actor: Actor, import_id: str, at: int, candidates: Sequence[Candidate]
) -> tuple[ImportProgress, list[WriteReceipt]]:
    """Import the part that begins with memory number `at` (from 0); memories that were imported before are skipped.
    Returns the progress, and a receipt for each new memory of this part. If the store or the embedder fails, `taken`
    ends before the first affected memory: the next part begins with that one.

    Raises InvalidInput (`invalid_input:import:gap`) for a part that does not follow the previous one.
    """
    with words_read(engine.clock.now()):
        return await _taken(engine, actor, import_id, at, candidates)


async def _taken(
    engine: ImportEngine, actor: Actor, import_id: str, at: int, candidates: Sequence[Candidate]
) -> tuple[ImportProgress, list[WriteReceipt]]:
    known = await _known_progress(engine, actor)
    progress = known.get(checked_identifier(import_id, "import_id"), ImportProgress(import_id=import_id))
    if at > progress.taken:
        raise InvalidInput("import:gap", hint=f"the next part begins at {progress.taken}")
    fresh = candidates[progress.taken - at :]
    notes = ImportNotes(engine, actor, import_id)
    receipts = await engine.add_many(
        fresh,
        actor=actor,
        idempotency_keys=[f"import:{import_id}:{progress.taken + place}" for place in range(len(fresh))],
    )
    await notes.note(receipts)
    await notes.flush()
    final = _final(receipts)
    counted = Counter(progress.outcomes) + Counter(receipt.outcome.value for receipt in receipts[:final])
    done = ImportProgress(
        import_id=import_id,
        taken=progress.taken + final,
        outcomes=dict(counted),
        updated_at=engine.clock.now(),
    )
    await _keep(engine, actor, done, known)
    return done, list(receipts)


def _final(receipts: Sequence[WriteReceipt]) -> int:
    """Return the number of receipts, from the first on, that are final: a failed write may succeed later."""
    failed = (StoreFailed, EmbedderFailed)
    return next(
        (n for n, one in enumerate(receipts) if issubclass(error_behind(one.reason or ""), failed)), len(receipts)
    )


async def _known_progress(engine: ImportEngine, actor: Actor) -> dict[str, ImportProgress]:
    prefix = import_prefix(await subject_token(engine.store, actor.tenant, actor.user))
    marks = await engine.store.marks(actor.tenant, prefix)
    return {name.removeprefix(prefix): _read(name.removeprefix(prefix), value) for name, value in marks.items()}


async def _keep(engine: ImportEngine, actor: Actor, done: ImportProgress, known: Mapping[str, ImportProgress]) -> None:
    token = await subject_token(engine.store, actor.tenant, actor.user)
    prefix = import_prefix(token)
    said = {"taken": done.taken, "outcomes": dict(done.outcomes), "updated_at": engine.clock.now().isoformat()}
    others = sorted((one.updated_at, name) for name, one in known.items() if one.updated_at and name != done.import_id)

    marks: dict[str, str | None] = {prefix + name: None for _, name in others[: max(0, len(others) - KEPT + 1)]}
    await apply_of_user(engine.store, actor.tenant, token, marks | {prefix + done.import_id: json.dumps(said)})


def _read(import_id: str, value: str) -> ImportProgress:
    said = json.loads(value)
    return ImportProgress(
        import_id=import_id,
        taken=said["taken"],
        outcomes=said["outcomes"],
        updated_at=datetime.fromisoformat(said["updated_at"]),
    )
