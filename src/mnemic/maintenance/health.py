"""Health check of the memories: duplicates, contradictions, memories without content, and overdue reviews.

It changes nothing; a person decides about each finding.
"""

from __future__ import annotations

from asyncio import to_thread
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from mnemic.errors import StoreCorrupt
from mnemic.inject.injection_log import INJECTED, injected_in
from mnemic.language.comparison import How, compare
from mnemic.maintenance.reports import AuditReport
from mnemic.maintenance.subject_data import audit_of
from mnemic.ports import AuditLog, RecordStore
from mnemic.ports.keyring import SignatureFence, SigningKeyring
from mnemic.types import Memory, Status, Where
from mnemic.write.decide import known_of

PAGE = 500
NEIGHBOURS = 8
NEAR = 0.4
"""The cosine from which two memories are compared word by word."""
UNUSED_AFTER = timedelta(days=90)
WAITING_LONG = timedelta(days=30)
SHORTEST = 3
"""Minimum number of letters and digits; fewer are junk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """Findings by memory_id. `looked_at` of the tenant's active memories were examined, the newest; pairs name the
    older one first.

    `unused`: never put into a model's input, and older than 90 days; none if no injection was ever logged. `waiting` is
    for review, `oldest_waiting` how long the first of it waits.
    """

    looked_at: int = 0
    duplicates: tuple[tuple[str, str], ...] = ()
    contradictions: tuple[tuple[str, str], ...] = ()
    junk: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    without_vector: tuple[str, ...] = ()
    waiting: int = 0
    oldest_waiting: timedelta | None = None


@dataclass(slots=True)
class _Pairs:
    duplicates: set[tuple[str, str]] = field(default_factory=set)
    contradictions: set[tuple[str, str]] = field(default_factory=set)
    _judged: set[tuple[str, str]] = field(default_factory=set)

    def judge(self, one: Memory, other: Memory) -> None:
        """Compare two memories of one scope as the write path does, once."""
        pair = (min(one.memory_id, other.memory_id), max(one.memory_id, other.memory_id))
        alike = (one.kind, one.key, one.source.speaker) == (other.kind, other.key, other.source.speaker)
        if not alike or pair in self._judged:
            return
        self._judged.add(pair)
        older, newer = sorted((one, other), key=lambda memory: memory.memory_id)
        found = compare(known_of(older), newer.content)
        if found is not None and found.how is How.OPPOSED and one.key is None:
            self.contradictions.add(pair)
        elif found is not None and found.how is How.SAME:
            self.duplicates.add(pair)


async def examine(store: RecordStore, tenant: str, now: datetime, *, limit: int = 2000) -> Health:
    """Examine the `limit` newest active memories of the tenant; those with a cosine from `NEAR` on are compared word by
    word. Raises StoreFailed.
    """
    newest = await _newest(store, tenant, limit)
    pairs = _Pairs()
    for memory in newest:
        for other in await _near_duplicates(store, memory):
            pairs.judge(memory, other)
    oldest = await store.scan(tenant, statuses=[Status.PENDING_REVIEW], limit=1)
    used = await _injected_ids(store, tenant)
    return Health(
        looked_at=len(newest),
        duplicates=tuple(sorted(pairs.duplicates)),
        contradictions=tuple(sorted(pairs.contradictions)),
        junk=tuple(memory.memory_id for memory in newest if _is_junk(memory)),
        unused=tuple(_unused_findings(newest, used, now)),
        without_vector=tuple(memory.memory_id for memory in newest if memory.vector is None),
        waiting=await store.waiting(tenant),
        oldest_waiting=now - oldest[0].created_at if oldest else None,
    )


async def _newest(store: RecordStore, tenant: str, limit: int) -> list[Memory]:
    """Return the newest memories: walk all and return the last, as the port walks upwards and identifiers sort by
    creation.
    """
    kept: deque[Memory] = deque(maxlen=limit)
    after = None
    while page := await store.scan(tenant, statuses=[Status.ACTIVE], after=after, limit=PAGE):
        after = page[-1].memory_id
        kept.extend(page)
    return list(kept)


async def _near_duplicates(store: RecordStore, memory: Memory) -> list[Memory]:
    if memory.vector is None:
        return []
    scored = await store.nearest(Where(scopes=(memory.scope,)), memory.vector, limit=NEIGHBOURS)
    ids = [one.memory_id for one in scored if one.score >= NEAR and one.memory_id != memory.memory_id]
    return list((await store.get_many(ids, scopes=[memory.scope])).values())


def _is_junk(memory: Memory) -> bool:
    """Return True if it has no content: hardly a letter or digit, and no data."""
    said = sum(character.isalnum() for character in memory.content)
    return said < SHORTEST and memory.key is None and not memory.data


def _unused_findings(memories: list[Memory], used: set[str] | None, now: datetime) -> Iterator[str]:
    for memory in memories:
        if used is not None and memory.memory_id not in used and now - memory.created_at >= UNUSED_AFTER:
            yield memory.memory_id


async def _injected_ids(store: RecordStore, tenant: str) -> set[str] | None:
    """Return every memory that ever entered a model's input; None if injections were never logged."""
    found: set[str] = set()
    logged = False
    async for event in audit_of(store, tenant):
        logged = logged or event.action == INJECTED
        found.update(memory_id for memory_id, _ in injected_in(event))
    return found if logged else None


async def verify_lines(log: AuditLog, tenant: str, keyring: object) -> AuditReport:
    """Check every line. `keyring` has the signing key, and the first signed line; None: there is none."""
    lines, broken_at, last_hash = await log.broken_audit(tenant)
    signed: list[int] = []
    unsigned: list[int] = []
    with suppress(StoreCorrupt):  # an unreadable line counts as broken and is reported as such
        async for event in audit_of(log, tenant):
            (signed if event.signed else unsigned).append(event.sequence)
    since = min(signed, default=None)
    if isinstance(keyring, SignatureFence):
        since = await to_thread(keyring.signed_since, tenant, since)
    return AuditReport(
        lines=lines,
        broken_at=broken_at,
        last_hash=last_hash,
        signed=len(signed),
        signed_to=max(signed, default=0),
        signatures_checked=isinstance(keyring, SigningKeyring),
        unsigned_at=None if since is None else next((line for line in unsigned if line >= since), None),
    )


async def remember_signed(log: AuditLog, tenant: str, keyring: object) -> None:
    """Record in the key folder from which line on the tenant's audit is signed, so that removed signatures are noticed
    from then on. Raises KeyFailed, StoreFailed.
    """
    if not isinstance(keyring, SignatureFence) or await to_thread(keyring.signed_since, tenant, None) is not None:
        return
    async for event in audit_of(log, tenant):
        if event.signed:
            await to_thread(keyring.signed_since, tenant, event.sequence)
            return
