"""Erasure of a subject: everything of theirs, everything derived from it, and a receipt that can be verified.

It uses small transactions, so that a full disk needs little space; the first writes the tombstone, and another call
continues after an interruption. It is complete only if a scan of the store finds nothing. The receipt has counts, and
the identifiers and hashes by which a scan recognises remains.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

from mnemic.errors import InvalidInput, StoreFailed, StoreFull
from mnemic.maintenance.bulk_import import import_prefix, written_prefix
from mnemic.maintenance.personal_keys import end_keys
from mnemic.maintenance.subject_data import PAGE, conversation, leave, written_elsewhere
from mnemic.ports import Clock, Keyring, RecordStore, SessionStore
from mnemic.ports.projections import ErasureScan
from mnemic.ports.record_store import VacuumStatus
from mnemic.types import Actor, Level, Memory, Scope, Status, Where, aware, checked_identifier, checked_name
from mnemic.types.scope import new_id
from mnemic.unit_of_work import ForgottenRequests, Mutation, Unit, apply, commit
from mnemic.write.derived_memories import derived_from
from mnemic.write.limiter import ENDED, consent_prefix, subject_token, tombstone, waiting_prefix
from mnemic.write.missing_vectors import left_prefix
from mnemic.write.outbox import OutboxConsumer, drain
from mnemic.write.ratings import ratings_mark
from mnemic.write.tokenisation import sweep, token_prefix
from mnemic.write.turn_log import forget_turns, turn_prefix

FORMAT = "mnemic-erasure/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReceipt:
    """Counts of an erasure, and the witnesses by which a scan recognises remains.

    `removed_at`: time after which a server that keeps removed rows must have vacuumed; tables that it has not vacuumed
    since are counted under `unvacuumed` in `traces`. None: there is no such server, or the rows were sealed and their
    key is destroyed.

    `subject` is a keyed hash. `memory_ids` and `fingerprints` (keyed hashes too) reveal nothing about content; `traces`
    are the finds of the final scan, by place: none, if `complete`. `kept`: places where the name of the subject stays,
    but none of their statements; None in older receipts.
    """

    receipt_id: str
    tenant: str
    subject: str
    at: datetime
    counts: Mapping[str, int]
    traces: Mapping[str, int]
    memory_ids: tuple[str, ...] = field(default=(), repr=False)
    fingerprints: tuple[str, ...] = field(default=(), repr=False)
    blocks_relearning: bool = False
    removed_at: datetime | None = None
    kept: tuple[str, ...] | None = None

    @property
    def complete(self) -> bool:
        """True if the final scan found nothing any more."""
        return not any(self.traces.values())

    def as_dict(self) -> dict[str, Any]:
        """Return the receipt as JSON data, for keeping outside the store."""
        return {
            "format": FORMAT,
            "receipt_id": self.receipt_id,
            "tenant": self.tenant,
            "subject": self.subject,
            "at": self.at.isoformat(),
            "complete": self.complete,
            "blocks_relearning": self.blocks_relearning,
            "counts": dict(self.counts),
            "traces": dict(self.traces),
            "memory_ids": list(self.memory_ids),
            "fingerprints": list(self.fingerprints),
            "removed_at": None if self.removed_at is None else self.removed_at.isoformat(),
            "kept": None if self.kept is None else list(self.kept),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ErasureReceipt:
        """Return the receipt of `as_dict`. Raises InvalidInput (`erasure_receipt`)."""
        try:
            if data["format"] != FORMAT:
                raise InvalidInput("erasure_receipt", hint=f"expected {FORMAT}")
            removed_at, kept = data.get("removed_at"), data.get("kept")
            return cls(
                receipt_id=str(data["receipt_id"]),
                tenant=checked_identifier(data["tenant"], "tenant"),
                subject=str(data["subject"]),
                at=datetime.fromisoformat(data["at"]),
                counts=dict(data["counts"]),
                traces=dict(data["traces"]),
                memory_ids=tuple(map(str, data["memory_ids"])),
                fingerprints=tuple(map(str, data["fingerprints"])),
                blocks_relearning=bool(data["blocks_relearning"]),
                removed_at=None if removed_at is None else aware(datetime.fromisoformat(removed_at), "removed_at"),
                kept=None if kept is None else tuple(map(str, kept)),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput("erasure_receipt", hint="not a receipt of an erasure") from error


BATCH = 256
"""Memories removed in one transaction; fewer if the disk has no space for that."""

MAX_ROUNDS = 100
"""Maximum rounds in which an erasure looks for concurrent writes."""

NAME_KEPT = ("audit", "scope")
"""Places where the name of an erased user stays: as the actor of past lines of the audit log, which is append-only, and
as the owner of an empty scope (decision 0048).
"""


_MARKS_OF_A_USER = (
    consent_prefix, ratings_mark, token_prefix, import_prefix, written_prefix, waiting_prefix, left_prefix, turn_prefix
)  # fmt: skip
"""Prefixes of marks, by the user's token."""


@dataclass(slots=True)
class _Erasure:
    """State of a running erasure. `block` None: only some memories are erased; there is no tombstone and consents stay.
    `subject`: all requests of this user are deleted. `told`: projections have copies, and receive every erased memory.
    """

    store: RecordStore
    clock: Clock
    actor: Actor
    token: str
    block: bool | None
    now: datetime
    receipt_id: str
    feeds: Sequence[OutboxConsumer] = ()
    subject: str | None = None
    has_projections: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    memory_ids: set[str] = field(default_factory=set)
    fingerprints: set[str] = field(default_factory=set)
    sessions: set[str] = field(default_factory=set)

    async def take(self, memories: Collection[Memory]) -> None:
        """Remove these memories, batch by batch; a batch that is too much for the disk is halved."""
        waiting, size = list(memories), BATCH
        while waiting:
            batch = waiting[:size]
            try:
                self.counts["memories"] += await commit(self.store, partial(self._remove, batch))
            # A removal needs space too (its log); a smaller batch needs less.
            except StoreFull:
                if size == 1:
                    raise
                size //= 2
                continue
            waiting = waiting[size:]

    async def note(self, memory: Memory) -> None:
        """Record the identifiers and hashes of the memory in all its versions, for the final scan."""
        self.memory_ids.add(memory.memory_id)
        versions = [memory]
        if memory.version > 1:
            versions = await self.store.versions(memory.memory_id, scopes=[memory.scope])
        self.fingerprints |= {one.fingerprint for one in versions if one.fingerprint}
        self.sessions |= {one.source.session for one in versions if one.source.session}
        self.counts["versions"] += len(versions)

    async def _remove(self, batch: list[Memory], unit: Unit) -> int:
        gone = 0
        for memory in batch:
            removal = Mutation.removal(memory, None, actor=self.actor, at=self.now, silent=not self.has_projections)
            gone += await unit.apply(removal)
        await unit.apply(self._line("erasing", {"memories": gone}))
        return gone

    async def begin(self) -> None:
        """Write the tombstone; then remove the consents, the sealed values and the requests that name erased memories,
        which could not be identified later.
        """
        whole = self.block is not None
        if whole:
            await commit(self.store, self._bar)
        names = await self.marks_left() if whole else []

        async def work(unit: Unit) -> int:
            await unit.apply(Mutation(tenant=self.actor.tenant, marks=dict.fromkeys(names)))
            return await self._forget_requests(unit)

        self.counts["requests"] = await commit(self.store, work)
        for count, prefix in (("consents", consent_prefix), ("vault", token_prefix), ("turns", turn_prefix)):
            self.counts[count] = sum(name.startswith(prefix(self.token)) for name in names)

    async def marks_left(self) -> list[str]:
        """Return the names of all marks of the user but the tombstone."""
        return [
            name
            for prefix in _MARKS_OF_A_USER
            for name in await self.store.marks(self.actor.tenant, prefix(self.token))
        ]

    async def _bar(self, unit: Unit) -> None:
        """Write the tombstone, once every write of the user that did not find it is committed."""
        # Alone in its transaction, so that other writes of the user wait only for this.
        await unit.reads.find_mark(self.actor.tenant, tombstone(self.token), lock="exclusive")
        # The time at which those writes are over: what was read before is barred, also from what was written meanwhile.
        said = json.dumps({"block": self.block, "at": self.clock.now().isoformat()})
        await unit.apply(Mutation(tenant=self.actor.tenant, marks={tombstone(self.token): said}))

    async def _forget_requests(self, unit: Unit) -> int:
        return await unit.disown(self.actor.tenant, ForgottenRequests(memory_ids=self.memory_ids, owner=self.subject))

    async def run(self, memories: list[Memory]) -> None:
        """Erase these memories, and everything attached to them."""
        self.has_projections = bool(self.feeds or await self.store.projections())
        for memory in memories:
            await self.note(memory)
        await self.begin()
        await self.take(memories)

    async def follow(self, find: Callable[[], Awaitable[list[Memory]]]) -> None:
        """Erase memories written during the erasure, until there are none."""
        # Writers are not blocked during an erasure, so memories may arrive while it runs. Writes that passed before the
        # tombstone are committed by now, and later ones are stopped if it blocks.
        for _ in range(MAX_ROUNDS):
            late = await find()
            if not late:
                break
            for memory in late:
                await self.note(memory)
            await commit(self.store, self._forget_requests)
            await self.take(late)
        await self.finish()

    async def finish(self) -> None:
        """Delete the turns, of any user, that showed erased memories, and write the last line of the audit."""
        self.counts["turns"] += await forget_turns(self.store, self.actor.tenant, self.memory_ids)
        await apply(self.store, self._line("erased", dict(self.counts)))

    def _line(self, action: str, detail: Mapping[str, int]) -> Mutation:
        fields: dict[str, Any] = {"subject": self.token, "receipt": self.receipt_id, **detail}
        return Mutation.line(action, actor=self.actor, at=self.now, detail=fields)


async def erase(
    store: RecordStore,
    clock: Clock,
    subject: str,
    *,
    actor: Actor,
    block: bool = False,
    sessions: SessionStore | None = None,
    keyring: Keyring | None = None,
    feeds: Sequence[OutboxConsumer] = (),
) -> ErasureReceipt:
    """Erase the user `subject` of the actor's tenant: their API keys (see `end_keys`), their scope, their memories in
    shared scopes, and memories merged from those; versions, index entries, vectors, requests, outbox entries, consents,
    sealed values, open sessions and data in projections; finally their data key, without which no copy of their sealed
    data can be read. A projection that cannot be reached now leaves traces in the outbox until it has been drained.

    With `block` nothing about them is ever stored again. The audit log records the erasure. Raises InvalidInput,
    StoreFailed; another call continues.
    """
    checked_name(subject, "subject")
    now = clock.now()
    token = await subject_token(store, actor.tenant, subject)
    erasure = _Erasure(store, clock, actor, token, block, now, new_id(now), feeds, subject)
    own = Scope(tenant=actor.tenant, level=Level.USER, owner=subject)

    async def everything() -> list[Memory]:
        return [memory async for page in _pages(store, own) for memory in page] + await _elsewhere(erasure, own)

    # First, so that nothing is written with them meanwhile.
    erasure.counts["api_keys"] = await end_keys(store, subject, token, actor=actor, at=now)
    await erasure.run(await everything())
    await erasure.follow(everything)
    spoken = 0 if sessions is None else await _leave_conversations(erasure, sessions, subject)
    if keyring is not None:
        # Last: once the key is gone, sealed data can no longer be read to find further data to erase.
        erasure.counts["keys"] = int(await asyncio.to_thread(keyring.destroy, own))
    receipt = await _proven(erasure)
    return replace(receipt, traces={**receipt.traces, "sessions": spoken, "marks": len(await erasure.marks_left())})


async def _leave_conversations(erasure: _Erasure, sessions: SessionStore, subject: str) -> int:
    """Remove the subject from the open conversations that they speak in or their memories came from; return the number
    of those that still contain words of theirs.
    """
    tenant = erasure.actor.tenant
    named = {place for one in erasure.sessions if (place := conversation(tenant, one)) is not None}
    places = named | set(await sessions.spoken_in(tenant, subject))
    for place in places:
        await leave(sessions, place, subject)
    erasure.counts["sessions"] = len(places)
    return len(await sessions.spoken_in(tenant, subject))


async def bar_tenant(store: RecordStore, clock: Clock, tenant: str) -> None:
    """Refuse from now on what is written in the tenant of words that were read before. Raises StoreFailed."""

    async def work(unit: Unit) -> None:
        await unit.reads.find_mark(tenant, ENDED, lock="exclusive")
        said = json.dumps({"block": False, "at": clock.now().isoformat()})
        await unit.apply(Mutation(tenant=tenant, marks={ENDED: said}))

    await commit(store, work)


async def erase_key(
    store: RecordStore, clock: Clock, key: str, *, user: str, actor: Actor, feeds: Sequence[OutboxConsumer] = ()
) -> ErasureReceipt:
    """Erase the user's memories under one key, in every status and version, as after a revoked consent, and everything
    derived from them.
    """
    now = clock.now()
    token = await subject_token(store, actor.tenant, user)
    erasure = _Erasure(store, clock, actor, token, None, now, new_id(now), feeds)
    where = Where(
        scopes=(Scope(tenant=actor.tenant, level=Level.USER, owner=user),),
        keys=frozenset({key}),
        statuses=frozenset(Status),
    )

    async def everything() -> list[Memory]:
        keyed = await store.newest(where, limit=await store.count(where))
        named = {memory.memory_id for memory in keyed} | erasure.memory_ids
        return keyed + [one for one in await derived_from(store, where.scopes[0], named) if one not in keyed]

    await erasure.run(await everything())
    await erasure.follow(everything)
    erasure.counts["vault"] = await sweep(store, actor.tenant, where.scopes[0])
    return await _proven(erasure)


async def erase_left(
    store: RecordStore,
    clock: Clock,
    *,
    actor: Actor,
    sessions: SessionStore | None = None,
    feeds: Sequence[OutboxConsumer] = (),
) -> tuple[ErasureReceipt, set[Scope]]:
    """Erase every memory of the actor's tenant, in any scope: data of erased users left in shared ones; the open
    conversations, and what is stored by the name of any user, who need not have written anything. Returns the receipt,
    and the scopes that contained something.
    """
    now = clock.now()
    token = await subject_token(store, actor.tenant, f"tenant:{actor.tenant}")
    erasure = _Erasure(store, clock, actor, token, None, now, new_id(now), feeds)
    scopes: set[Scope] = set()

    async def everything() -> list[Memory]:
        found: list[Memory] = []
        while page := await store.scan(
            actor.tenant, statuses=list(Status), after=found[-1].memory_id if found else None, limit=PAGE
        ):
            found += page
        scopes.update(memory.scope for memory in found)
        return found

    await erasure.run(await everything())
    await erasure.follow(everything)
    marks = await _marks_of_users(store, actor.tenant)
    await apply(store, Mutation(tenant=actor.tenant, marks=dict.fromkeys(marks)))
    erasure.counts["marks"] = len(marks)
    spoken = 0
    if sessions is not None:
        places = await sessions.spoken_in(actor.tenant, None)
        for place in places:
            await sessions.clear(place)
        erasure.counts["sessions"] = len(places)
        spoken = len(await sessions.spoken_in(actor.tenant, None))
    receipt = await _proven(erasure)
    traces = {**receipt.traces, "sessions": spoken, "marks": len(await _marks_of_users(store, actor.tenant))}
    return replace(receipt, traces=traces), scopes


async def _marks_of_users(store: RecordStore, tenant: str) -> list[str]:
    """Return the names of the marks of all users of the tenant but the tombstones."""
    # The part before the user's token, which may be anybody's.
    prefixes = {prefix("").partition("/")[0] for prefix in _MARKS_OF_A_USER}
    names = [name for prefix in sorted(prefixes) for name in await store.marks(tenant, f"{prefix}/")]
    return [name for name in names if name != tombstone(name.split("/")[1])]


async def _proven(erasure: _Erasure) -> ErasureReceipt:
    """Scan for erased data; if the raw files still contain any, rewrite them and scan again."""
    store, tenant = erasure.store, erasure.actor.tenant
    erasure.counts["outbox"] = (await drain(store, erasure.feeds, about=erasure.memory_ids)).total
    await store.tidy()
    traces = await _scan(store, erasure.feeds, tenant, erasure.memory_ids, erasure.fingerprints)
    # Rewriting the whole file is expensive, so it happens only if a scan found something.
    if traces.get("bytes"):
        try:
            await store.tidy(whole=True)
            traces = await _scan(store, erasure.feeds, tenant, erasure.memory_ids, erasure.fingerprints)
        except StoreFailed:
            pass  # the receipt lists the rest; `verify` after the next `tidy` shows whether it is gone
    removed_at = await _vacuum_tables(erasure)
    traces |= await _count_unvacuumed(store, removed_at)
    return ErasureReceipt(
        receipt_id=erasure.receipt_id,
        tenant=tenant,
        subject=erasure.token,
        at=erasure.now,
        counts=dict(erasure.counts),
        traces=traces,
        memory_ids=tuple(sorted(erasure.memory_ids)),
        fingerprints=tuple(sorted(erasure.fingerprints)),
        blocks_relearning=bool(erasure.block),
        removed_at=removed_at,
        kept=() if erasure.block is None else NAME_KEPT,
    )


async def _vacuum_tables(erasure: _Erasure) -> datetime | None:
    """Have the server free the removed rows, unless they were sealed; return the time before that."""
    sealed = "content" in erasure.store.capabilities.sealed and erasure.counts["keys"] > 0
    return await erasure.store.vacuum() if isinstance(erasure.store, VacuumStatus) and not sealed else None


async def _count_unvacuumed(store: RecordStore, removed_at: datetime | None) -> dict[str, int]:
    if removed_at is None or not isinstance(store, VacuumStatus):
        return {}
    return {"unvacuumed": await store.count_unvacuumed(removed_at)}


async def verify(
    store: RecordStore, receipt: ErasureReceipt, *, feeds: Sequence[OutboxConsumer] = ()
) -> dict[str, int]:
    """Scan for the data that the receipt lists as erased and return the number of finds by place: all zero if the
    receipt is right. Projections that support it are included, under their names. Raises StoreFailed.
    """
    found = await _scan(store, feeds, receipt.tenant, receipt.memory_ids, receipt.fingerprints)
    return found | await _count_unvacuumed(store, receipt.removed_at)


async def _scan(
    store: RecordStore,
    feeds: Sequence[OutboxConsumer],
    tenant: str,
    memory_ids: Collection[str],
    fingerprints: Collection[str],
) -> dict[str, int]:
    found = dict(await store.traces(tenant, memory_ids, fingerprints))
    for feed in feeds:
        if isinstance(feed.projection, ErasureScan):
            found[feed.name] = await _left_in(feed.projection, tenant, memory_ids)
    return found


async def _left_in(copy: ErasureScan, tenant: str, memory_ids: Collection[str]) -> int:
    """Count the remains in a copy; an unreachable one counts as still having all of them."""
    try:
        return await copy.traces(tenant, memory_ids)
    except StoreFailed:
        # Unreachable must not look clean: the receipt then stays incomplete until a later verification.
        return len(memory_ids)


async def _pages(store: RecordStore, scope: Scope) -> AsyncIterator[list[Memory]]:
    """Yield all memories of a scope; damaged rows with the fields known without their body, so that they are erased
    too.
    """
    after = None
    while page := await store.scan(scope.tenant, statuses=list(Status), scope=scope, after=after, limit=PAGE):
        after = page[-1].memory_id
        yield page


async def _elsewhere(erasure: _Erasure, own: Scope) -> list[Memory]:
    """Find the subject's statements in shared scopes, and the memories derived from them there."""
    found: list[Memory] = []
    written: dict[Scope, dict[str, Memory]] = {}
    async for memory in written_elsewhere(erasure.store, own):
        written.setdefault(memory.scope, {})[memory.memory_id] = memory
    for place, memories in written.items():
        derived = await _derived_memories(erasure.store, place, memories)
        erasure.counts["derived"] += len(derived)
        found += [*memories.values(), *derived]
    return found


async def _derived_memories(store: RecordStore, scope: Scope, sources: Mapping[str, Memory]) -> list[Memory]:
    """Return the memories of the scope that were merged, directly or transitively, from `sources`. A new value of a key
    does not count unless it copies data from the old one.
    """
    gone = dict(sources)
    everything = [memory async for page in _pages(store, scope) for memory in page]
    found: dict[str, Memory] = {}
    grew = True
    while grew:
        grew = False
        for memory in everything:
            if memory.memory_id not in gone and made_of(memory, gone):
                gone[memory.memory_id] = found[memory.memory_id] = memory
                grew = True
    return list(found.values())


def made_of(memory: Memory, gone: Mapping[str, Memory]) -> bool:
    """Return True if the memory repeats content of those of `gone` that it replaced."""
    older = [gone[memory_id] for memory_id in memory.supersedes if memory_id in gone]
    if not older or memory.key is None:
        return bool(older)
    return any(
        memory.content == one.content or any(memory.data.get(name) == value for name, value in one.data.items())
        for one in older
    )
