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
from mnemic.ports import Clock, RecordStore
from mnemic.types import Actor, Candidate, Scope, WriteReceipt, checked_identifier
from mnemic.types.scope import new_id
from mnemic.write.limiter import apply_of_user, refuse_if_erased_since, subject_token

KEPT = 20
"""Maximum number of imports per user whose progress is stored, and of those that can be taken back; the oldest is
dropped.
"""


class NotedEngine(Protocol):
    """The part of the engine that notes of an import need."""

    store: RecordStore
    clock: Clock

    def reach(self, actor: Actor) -> Sequence[Scope]:
        """Return the scopes that the actor sees."""


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
    with refuse_if_erased_since(engine.clock.now()):
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


@dataclass(slots=True)
class ImportNotes:
    """Notes of what one import writes, for `undo_import`."""

    engine: NotedEngine
    actor: Actor
    import_id: str = ""
    _begun: datetime = field(init=False)
    _written: list[tuple[str, int]] = field(default_factory=list)
    _is_known: bool = False

    def __post_init__(self) -> None:
        self._begun = self.engine.clock.now()
        self.import_id = self.import_id or new_id(self._begun)

    async def note(self, receipts: Sequence[WriteReceipt]) -> None:
        """Note the memories that these writes made, changed or ended. Raises StoreFailed."""
        new = [one for one in receipts if one.stored and not one.replayed]
        ids = list(dict.fromkeys(name for one in new for name in (one.memory_id, *one.superseded) if name is not None))
        found = await self.engine.store.get_many(ids, scopes=self.engine.reach(self.actor)) if ids else {}
        # A statement heard again may have changed nothing.
        self._written += [(one.memory_id, one.version) for one in found.values() if one.updated_at >= self._begun]

    async def flush(self) -> bool:
        """Store what was noted since the last time; return True if anything was noted so far. Raises StoreFailed."""
        if not self._written:
            return self._is_known
        store, tenant = self.engine.store, self.actor.tenant
        token = await subject_token(store, tenant, self.actor.user)
        prefix = written_prefix(token)
        marks: dict[str, str | None] = {}
        if not self._is_known:
            marks = _oldest(await store.marks(tenant, prefix), prefix, self.import_id)
        # Parts of one import may arrive at the same time.
        name = f"{prefix}{self.import_id}/{new_id(self.engine.clock.now())}"
        marks[name] = json.dumps({"begun": self._begun.isoformat(), "written": self._written})
        await apply_of_user(store, tenant, token, marks)
        self._written, self._is_known = [], True
        return True


def written_prefix(token: str) -> str:
    """Return the prefix of the names of the marks about what imports of a user wrote."""
    return f"imported/{token}/"


def _oldest(marks: Mapping[str, str], prefix: str, import_id: str) -> dict[str, str | None]:
    """Return changes that drop the notes of the oldest imports, so that there is room for one more."""
    begun: dict[str, str] = {}
    for name, value in marks.items():
        of = name.removeprefix(prefix).partition("/")[0]
        begun[of] = min(begun.get(of, "9999"), json.loads(value)["begun"])
    begun.pop(import_id, None)
    dropped = sorted(begun, key=lambda one: begun[one], reverse=True)[KEPT - 1 :]
    return {name: None for name in marks if name.removeprefix(prefix).partition("/")[0] in dropped}
