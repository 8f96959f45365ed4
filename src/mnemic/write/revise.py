"""Correcting a memory in place: the same memory_id, one version on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from mnemic.errors import InvalidInput, MemoryNotFound, VersionConflict
from mnemic.policy.expiry_rule import ttl_of
from mnemic.ports import Reads, RecordStore
from mnemic.reason_codes import KEY_NEEDS_REVIEW, UNCHANGED
from mnemic.types import (
    ATTACHMENT,
    FILE_BYTES,
    SHARED,
    Actor,
    AuditEvent,
    Candidate,
    Memory,
    Origin,
    Outcome,
    Scope,
    Source,
    Status,
)
from mnemic.types.writes import AUDIT_END
from mnemic.unit_of_work import Mutation, Unit
from mnemic.write.commit import Settled, pass_gate, receipt_of, unchanged_line, write_decision
from mnemic.write.decide import check_proposed, pending
from mnemic.write.draft import Draft
from mnemic.write.missing_vectors import leave, require_present
from mnemic.write.tokenisation import keep

if TYPE_CHECKING:
    from mnemic.requests import Correction


def candidate_of(known: Memory) -> Candidate:
    """Return the candidate that would restate `known`, without its lifetime."""
    return Candidate(
        content=known.content,
        key=known.key,
        kind=known.kind,
        level=known.scope.level,
        category=known.category,
        context=known.context,
        data=known.data,
        confidence=known.confidence,
        source=known.source,
        occurred_at=known.occurred_at,
        valid_from=known.valid_from,
        valid_to=known.valid_to,
    )


def revision_of(known: Memory, content: str, origin: Origin, actor: Actor) -> Candidate:
    """Return the candidate that replaces the text of `known` by `content`. The old quote supports no other words."""
    if content == known.content:
        return replace(candidate_of(known), source=replace(known.source, origin=origin))
    file = known.source.ref if known.category == ATTACHMENT else None
    source = Source(origin=origin, ref=file, session=actor.session, speaker=known.source.speaker)
    return replace(candidate_of(known), content=content, source=source)


def with_bytes(revised: Candidate, known: Memory) -> Candidate:
    """Return a correction with the bytes of the file that `known` is about, if its data leaves them out, as a list
    does; data in which they are null removes them.
    """
    if revised.category != ATTACHMENT or FILE_BYTES not in known.data or FILE_BYTES in revised.data:
        return revised
    return replace(revised, data={**revised.data, FILE_BYTES: known.data[FILE_BYTES]})


_SAID = ("content", "key", "category", "context", "data", "confidence", "occurred_at", "valid_from", "valid_to")
"""Fields that a correction may change. Kind, scope, author and history stay."""


def changes_of(request: Correction) -> dict[str, Any]:
    """Return the changes of a request other than the content, as fields of a candidate. Raises InvalidInput (`ttl`)."""
    names = ("key", "category", "data", "context", "ttl", "confidence", "occurred_at", "valid_from", "valid_to")
    given = {name: getattr(request, name) for name in names} | {"ttl": ttl_of(request.ttl)}
    empty = {"key": None, "category": None, "context": ""}
    return {name: empty.get(name) if value == "" else value for name, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Revision:
    """Memory to be corrected, and the version it must still be at."""

    memory_id: str
    scopes: tuple[Scope, ...]
    expected_version: int | None
    pending_id: str

    def check_memory(self, memory: Memory | None) -> Memory:
        """`memory` if it may be corrected. Raises MemoryNotFound, VersionConflict."""
        if memory is None or memory.status is not Status.ACTIVE:
            raise MemoryNotFound
        if self.expected_version is not None and memory.version != self.expected_version:
            raise VersionConflict(hint=f"it is at version {memory.version}")
        return memory

    async def write(self, unit: Unit, draft: Draft) -> Settled:
        """Write the next version, if trust allows, no other memory states the same already, and the draft's gate has no
        objection.
        """
        return await pass_gate(unit, draft, await self._write(unit, draft))

    async def _write(self, unit: Unit, draft: Draft) -> Settled:
        tx = unit.reads
        known = self.check_memory(await tx.get(self.memory_id, scopes=self.scopes))
        if draft.candidate.ttl is None and all(
            getattr(draft.candidate, name) == getattr(known, name) for name in _SAID
        ):
            await unit.apply(unchanged_line(draft, known, reason=UNCHANGED))
            return Settled(receipt_of(Outcome.REFRESHED, known, "unchanged"), "unchanged", draft.timer)
        # Vectors of two embedders cannot be compared, so a vector of the earlier one must not be stored.
        await require_present(tx, draft)
        if draft.trust < known.trust and not _may_ask(draft):
            return Settled(receipt_of(Outcome.BLOCKED, known, "lower_trust"), "lower_trust", draft.timer)
        # Two live memories must not have the same content: the next `add` of it could refresh only one of them.
        twin = await tx.find_fingerprint(known.scope, draft.fingerprint)
        if twin is not None and twin.memory_id != known.memory_id:
            raise InvalidInput("content:duplicate", hint="another memory already says this")
        if draft.candidate.key != known.key:
            await self._require_free(tx, draft)
        if (reason := _review_reason(draft, known)) is not None:
            waiting = pending(draft, [known], self.pending_id, reason)
            return await write_decision(unit, draft, await check_proposed(tx, draft, waiting), draft.timer)
        candidate = draft.candidate
        memory = known.next_version(
            draft.now,
            **{name: getattr(candidate, name) for name in _SAID},
            source=candidate.source,
            trust=draft.trust,
            expires_at=draft.keeping(known) if candidate.ttl is None else draft.expires_at,
            fingerprint=draft.fingerprint,
            vector=draft.vector,
            agent=draft.actor.agent,
            author=draft.actor.user,
        )
        await unit.apply(Mutation.for_memory(memory, "revised", actor=draft.actor, at=draft.now))
        if memory.vector is None:
            await leave(unit, draft, memory)
        await keep(unit, draft)
        receipt = receipt_of(Outcome.SUPERSEDED, memory, "revised")
        receipt = replace(receipt, degraded=() if memory.vector else ("vector",))
        return Settled(receipt, "revised", draft.timer, tuple(unit.changes))

    async def _require_free(self, tx: Reads, draft: Draft) -> None:
        """Raise InvalidInput (`key:taken`) if another memory has the new key of this one, unless the values of the key
        accumulate.
        """
        key = draft.candidate.key
        if key is None or draft.policy.rule(key).on_change == "accumulate":
            return
        if any(one.memory_id != self.memory_id for one in await tx.find_key(draft.scope, key)):
            raise InvalidInput("key:taken", hint="another memory already has this key: correct or forget that one")


def _may_ask(draft: Draft) -> bool:
    """Return True if a person corrects a shared memory in their own words: then others review it."""
    return draft.scope.level in SHARED and draft.candidate.source.origin is Origin.USER_STATED


def _review_reason(draft: Draft, known: Memory) -> str | None:
    """Return the reason why a person must review the correction: the rule of its kind, the rule of its key, or an
    approval by others of the memory that it corrects.
    """
    key = draft.candidate.key
    reviewed = key is not None and draft.policy.rule(key).on_change == "review"
    lower = "lower_trust" if draft.trust < known.trust else None
    return draft.review_reason or (KEY_NEEDS_REVIEW if reviewed else lower)


T = TypeVar("T")
PAGE = 500
LINES_READ = 5_000
"""Lines that one search through the audit looks at, so that its cost is bounded."""


async def latest(
    store: RecordStore,
    tenant: str,
    pick: Callable[[AuditEvent], T | None],
    *,
    before: int | None = None,
    limit: int = 50,
) -> tuple[list[T], int | None]:
    """Return the newest `limit` lines of the audit that `pick` accepts, newest first, and the sequence before which the
    next page begins (`before`); None at the end. A page may be short without being the last.
    """
    found: list[T] = []
    end, read = AUDIT_END if before is None else before, 0
    while read < LINES_READ and (lines := await store.audit(tenant, before=end, limit=PAGE)):
        for event in reversed(lines):
            end, read = event.sequence, read + 1
            picked = pick(event)
            found += [] if picked is None else [picked]
            if len(found) == limit:
                return found, end if end > 1 else None
    return found, end if read >= LINES_READ and end > 1 else None


@dataclass(frozen=True, slots=True)
class AuditedWriter:
    """An actor who changes memories at one moment."""

    actor: Actor
    now: datetime

    async def change(
        self, unit: Unit, memory: Memory, action: str, *, detail: dict[str, Any] | None = None, **changes: Any
    ) -> Memory:
        """Write the next version of `memory` with an audit line, and notify the projections, which contain active
        memories only. Raises VersionConflict.
        """
        changed = memory.next_version(self.now, **changes)
        await unit.apply(
            Mutation.for_memory(changed, action, actor=self.actor, at=self.now, detail=detail, was=memory.status)
        )
        return changed
