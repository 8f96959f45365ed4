"""Reading again: recorded messages are read by today's reader, and memory is brought to what this one would hold.

The messages are read in their order into a store of their own, and what lies there in the end is compared with what is
remembered: memories to add, to label anew, to end and to reopen. What a person has added, corrected or decided stays as
it is, and nothing is added of words whose memory a person has forgotten. An application is one change, which
`undo_reread` takes back.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mnemic.errors import InvalidInput, KeyNotAllowed, ModelFailed
from mnemic.extract.grounding import says_again
from mnemic.extract.messages import recorded_message
from mnemic.language.text.normalise import canonical_value
from mnemic.policy.limits import Limits
from mnemic.retrieve.export import accepted_memories
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.types import Actor, AuditEvent, Candidate, Cost, Kind, Level, Memory, Message, Status, Where
from mnemic.types.json_forms import Serialisable
from mnemic.types.search import MESSAGE_CATEGORY
from mnemic.unit_of_work import Mutation, Unit, commit
from mnemic.write.prepare import fingerprint_of
from mnemic.write.revise import AuditedWriter, latest

if TYPE_CHECKING:
    from mnemic.engine import MemoryEngine
    from mnemic.extract import Extractor
    from mnemic.ports import RecordStore

ACTION = "reread"
"""Action of the audit line that names what an application changed."""
AT_ONCE = 12
"""Messages read in one call of a model."""
BESIDE = timedelta(minutes=5)
"""Time around a forgotten memory's first writing in which the message lies that it was read in."""
_OF_READING = frozenset({"created", "refreshed", "superseded", "linked"})
"""Actions of audit lines about what was said, first or again, with labels or an end by later words."""
_PRESENT = frozenset({Status.ACTIVE, Status.SUPERSEDED, Status.REJECTED, Status.PENDING_REVIEW, Status.EXPIRED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One memory that today's reading holds otherwise. `change`: added, relabelled, ended or reopened; `memory_id` None
    for one that is not there yet; `by`: the words that end it.
    """

    change: str
    content: str
    memory_id: str | None = None
    key: str | None = None
    category: str | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RereadReport(Serialisable):
    """Result of reading again: the messages that were read, those left for the next call, the differences, those that
    a person's corrections keep from being applied, the cost, and the run that `undo_reread` takes back (None: nothing
    was changed).
    """

    messages: int
    left: int = 0
    differences: tuple[Difference, ...] = ()
    protected: int = 0
    cost: Cost = Cost()
    run_id: str | None = None
    errors: tuple[str, ...] = ()


async def reread(
    engine: MemoryEngine,
    *,
    actor: Actor,
    since: datetime | None = None,
    extractor: Extractor | None = None,
    progress: str | Path | RecordStore | None = None,
    limit: int | None = None,
    dry_run: bool = True,
) -> RereadReport:
    """Read the actor's recorded messages again, those said from `since` on, with the engine's reader or `extractor`.

    `progress` is a store, or names a file, that keeps what was read, so that a later call goes on where this one was
    stopped, by an error or after `limit` messages; nothing is applied before all are read. Raises InvalidInput,
    StoreFailed.
    """
    if limit is not None and (type(limit) is not int or limit < 1):
        raise InvalidInput("limit", hint="a whole number from 1")
    where = Where(scopes=tuple(actor.scopes([Level.USER])), statuses=_PRESENT)
    present = [one async for one in accepted_memories(engine.store, where)]
    words = [one for one in present if one.category == MESSAGE_CATEGORY and one.status is Status.ACTIVE]
    words = sorted((one for one in words if since is None or one.happened_at >= since), key=_saying_order)
    facts = [one for one in present if one.kind is Kind.LONG_TERM]
    replay = _build_replay(engine, extractor, progress)
    await replay.store.open(engine.embedder.space)
    try:
        report = await _read_messages(replay, actor, words, [one for one in facts if _is_earlier(one, since)], limit)
        where = replace(where, kinds=frozenset({Kind.LONG_TERM}))
        found = [one async for one in accepted_memories(replay.store, where)]
    finally:
        await replay.store.close()
    if report.left:
        return report
    touched, changed = await _touched(engine, actor)
    plan = _compare(facts, found, words, touched, changed)
    report = replace(report, differences=tuple(one for one, _ in plan.steps), protected=plan.protected)
    return report if dry_run or not plan.steps else await _apply(engine, actor, report, plan)


async def undo_reread(engine: MemoryEngine, run_id: str, *, actor: Actor) -> int:
    """Take back the application `run_id` of this actor; return the number of memories that are as they were before.
    Memories that have changed since stay. Raises InvalidInput (`reread:unknown`), StoreFailed.
    """

    def named(event: AuditEvent) -> AuditEvent | None:
        mine = event.action == ACTION and event.actor == actor.user
        return event if mine and event.detail.get("run") == run_id else None

    lines, before = await latest(engine.store, actor.tenant, named, limit=1)
    while not lines and before is not None:
        lines, before = await latest(engine.store, actor.tenant, named, before=before, limit=1)
    if not lines:
        raise InvalidInput("reread:unknown", hint="no such run is in the audit")
    written: Any = lines[0].detail["versions"]
    scopes = actor.scopes([Level.USER])
    steward = AuditedWriter(actor, engine.clock.now())
    earlier = {memory_id: await engine.store.versions(memory_id, scopes=scopes) for memory_id, _ in written}

    async def work(unit: Unit) -> int:
        done = 0
        # What was ended last is reopened first: a key holds one active memory.
        for memory_id, version in reversed(written):
            now = await unit.reads.get(memory_id, scopes=scopes)
            if now is None or now.version != version:
                continue
            was = next((one for one in earlier[memory_id] if one.version == version - 1), None)
            labels: dict[str, Any] = {"status": Status.REJECTED} if was is None else _state_of(was)
            await steward.change(unit, now, "reread_undone", detail={"run": run_id}, **labels)
            done += 1
        return done

    return await commit(engine.store, work)


class Readings:
    """What this process has read of users' messages in readings that were stopped, or only shown: for an hour after the
    last call, and of at most as many users as `MOST`.
    """

    MOST, KEPT = 32, timedelta(hours=1)

    def __init__(self) -> None:
        self._stores: dict[tuple[str, str, datetime | None], tuple[InProcessStore, asyncio.Lock, datetime]] = {}

    async def reread(
        self, engine: MemoryEngine, *, actor: Actor, since: datetime | None, limit: int | None, dry_run: bool
    ) -> RereadReport:
        """Go on with the actor's reading from `since` on, as `reread` does. Raises InvalidInput, StoreFailed."""
        now, place = engine.clock.now(), (actor.tenant, actor.user, since)
        self._stores = {one: kept for one, kept in self._stores.items() if now - kept[2] < self.KEPT}
        known = self._stores.pop(place) if place in self._stores else (InProcessStore(), asyncio.Lock(), now)
        store, lock = known[:2]
        self._stores[place] = store, lock, now
        while len(self._stores) > self.MOST:
            del self._stores[next(iter(self._stores))]
        async with lock:
            report = await reread(engine, actor=actor, since=since, progress=store, limit=limit, dry_run=dry_run)
        if not report.left and not dry_run:
            self._stores.pop(place, None)
        return report

    def drop(self, tenant: str, user: str) -> None:
        """Drop what was read of a user, who is erased."""
        self._stores = {one: kept for one, kept in self._stores.items() if one[:2] != (tenant, user)}


@dataclass(frozen=True, slots=True)
class _Forgotten:
    """A forgotten memory that was read in a message: when it was written, and where its words stood."""

    at: datetime
    span: Sequence[int] | None


@dataclass(frozen=True, slots=True)
class _Plan:
    """The differences, each with the memory of the reading, or the present one, that it is about."""

    steps: Sequence[tuple[Difference, Memory]]
    protected: int


def _build_replay(
    engine: MemoryEngine, extractor: Extractor | None, progress: str | Path | RecordStore | None
) -> MemoryEngine:
    """Return an engine on a store of its own, which reads as `engine` does."""
    store: RecordStore
    if progress is None:
        store = InProcessStore()
    else:
        store = SqliteStore(progress) if isinstance(progress, str | Path) else progress
    gateway = engine.gateway
    view = type(engine)(
        store=store,
        embedder=engine.embedder,
        clock=engine.clock,
        policy=gateway.policy,
        grant=gateway.grant,
        budget=gateway.budget,
        limits=Limits(),
        extractor=extractor or engine.extractor,
    )
    view._pipeline.use(engine.embedder)
    return view


async def _read_messages(
    replay: MemoryEngine, actor: Actor, words: Sequence[Memory], earlier: Sequence[Memory], limit: int | None
) -> RereadReport:
    """Read the messages that `replay` has not read yet."""
    where = Where(scopes=tuple(actor.scopes([Level.USER])), statuses=_PRESENT)
    known = [one async for one in accepted_memories(replay.store, where)]
    if not known:
        await _copy_earlier(replay, actor, earlier)
    read = {(one.content, one.happened_at) for one in known if one.category == MESSAGE_CATEGORY}
    waiting = [one for one in words if (one.content, one.happened_at) not in read]
    cost, errors, done = Cost(), list[str](), 0
    for part in _by_session(waiting[:limit]):
        messages = [_message_of(one) for one in part]
        for report in await replay.capture_many(messages, actor=actor):
            if report is not None:
                cost += report.cost
                errors += report.errors if report.status == "ok" else [report.stop_reason]
        if any(one.startswith(("extract:model: llm_", "llm_")) for one in errors):
            # A reading without the model would undo what the model had found.
            break
        await replay.record(messages, actor=actor)
        done += len(part)
    left = len(waiting) - done
    return RereadReport(messages=len(words) - left, left=left, cost=cost, errors=tuple(dict.fromkeys(errors)))


async def _copy_earlier(replay: MemoryEngine, actor: Actor, earlier: Sequence[Memory]) -> None:
    """Put what was remembered before the first message into the store of the replay."""

    async def work(unit: Unit) -> None:
        for one in earlier:
            first = replace(one, version=1, supersedes=(), conflicts_with=())
            await unit.apply(Mutation.for_memory(first, "created", actor=actor, at=one.created_at))

    await commit(replay.store, work)


def _by_session(words: Sequence[Memory]) -> list[list[Memory]]:
    parts = []
    for _, group in groupby(words, key=lambda one: one.source.session):
        turns = list(group)
        parts += [turns[start : start + AT_ONCE] for start in range(0, len(turns), AT_ONCE)]
    return parts


def _message_of(one: Memory) -> Message:
    said = recorded_message(one)
    return said if said.sent_at is not None else replace(said, sent_at=one.happened_at)


def _saying_order(one: Memory) -> tuple[datetime, str]:
    return one.happened_at, one.memory_id


def _is_earlier(one: Memory, since: datetime | None) -> bool:
    return since is not None and one.happened_at < since and one.status is Status.ACTIVE


async def _touched(engine: MemoryEngine, actor: Actor) -> tuple[list[_Forgotten], frozenset[str]]:
    """Return what the actor has forgotten of what was read in messages, and the memories that were changed by other
    than reading what was said.
    """
    lines: list[AuditEvent] = []
    after = 0
    while page := await engine.store.audit(actor.tenant, after=after):
        lines += page
        after = page[-1].sequence
    gone: dict[str | None, Any] = {
        one.memory_id: one.detail["span"] for one in lines if one.action == "forgotten" and "span" in one.detail
    }
    changed = frozenset(one.memory_id for one in lines if one.memory_id and one.action not in _OF_READING)
    made = [one for one in lines if one.action == "created" and one.memory_id in gone]
    return [_Forgotten(one.at, gone[one.memory_id]) for one in made], changed


def _compare(
    facts: Sequence[Memory],
    found: Sequence[Memory],
    words: Sequence[Memory],
    touched: Sequence[_Forgotten],
    changed: Collection[str],
) -> _Plan:
    by_words: dict[str, list[Memory]] = {}
    for one in facts:
        by_words.setdefault(_canonical(one), []).append(one)
    holds = {_canonical(one) for one in found if one.status is Status.ACTIVE}
    steps, protected, done = list[tuple[Difference, Memory]](), 0, set[str]()
    for read in sorted(found, key=lambda one: one.status is Status.ACTIVE):
        same = by_words.get(_canonical(read), [])
        step = _step(read, same, facts, found, holds)
        if step is None:
            continue
        difference, memory = step
        if difference.memory_id is None:
            stays = _is_forgotten(read, words, touched) or not all(
                _is_as_read(one, facts, changed) for one in _holders(read, facts)
            )
        else:
            stays = not _is_as_read(memory, facts, changed)
        if stays:
            protected += 1
        elif memory.memory_id not in done:
            done.add(memory.memory_id)
            steps.append(step)
    return _Plan(steps, protected)


def _step(
    read: Memory, same: Sequence[Memory], facts: Sequence[Memory], found: Sequence[Memory], holds: set[str]
) -> tuple[Difference, Memory] | None:
    """Return what is to be done for a memory of the reading, and with which memory."""
    active = next((one for one in same if one.status is Status.ACTIVE), None)
    if read.status is Status.SUPERSEDED:
        if active is None or _canonical(read) in holds:
            return None
        by = next((one.content for one in found if read.memory_id in one.supersedes), None)
        return _difference("ended", active, by=by), active
    if read.status is not Status.ACTIVE:
        return None
    if active is None:
        over = next((one for one in same if one.status is Status.SUPERSEDED), None)
        ended = {_canonical(one) for one in found if one.status is Status.SUPERSEDED} - holds
        taken = any(_canonical(one) not in ended for one in _holders(read, facts))
        if over is not None:
            return None if taken else (_difference("reopened", over), over)
        return None if same or taken else (replace(_difference("added", read), memory_id=None), read)
    labels = {name: getattr(read, name) or getattr(active, name) for name in ("key", "category")}
    if labels == {"key": active.key, "category": active.category}:
        return None
    return replace(_difference("relabelled", active), **labels), active


def _holders(read: Memory, facts: Sequence[Memory]) -> list[Memory]:
    """Return the present memories that hold the key of one that is read."""
    return [one for one in facts if read.key is not None and one.key == read.key and one.status is Status.ACTIVE]


def _difference(change: str, memory: Memory, **more: Any) -> Difference:
    labels = {"key": memory.key, "category": memory.category}
    return Difference(change=change, content=memory.content, memory_id=memory.memory_id, **labels, **more)


def _is_as_read(memory: Memory, facts: Sequence[Memory], changed: Collection[str]) -> bool:
    """Return True if nobody but a reader has written, changed or ended the memory."""
    by = [one for one in facts if memory.memory_id in one.supersedes]
    read = [memory, *by]
    return memory.memory_id not in changed and all(one.source.quote is not None for one in read)


def _is_forgotten(read: Memory, words: Sequence[Memory], touched: Sequence[_Forgotten]) -> bool:
    """Return True if a memory is read in words of which a person has forgotten the memory, or in their repetition; also
    in a message that was forgotten since it was read.
    """
    if read.source.quote is None:
        return False
    said = [one for one in words if read.source.quote in one.content]
    return not said or any(
        abs(one.created_at - gone.at) <= BESIDE and says_again(one.content, read.source.span, gone.span)
        for one in said
        for gone in touched
    )


def _canonical(one: Memory) -> str:
    return canonical_value(one.content)


def _state_of(was: Memory) -> dict[str, Any]:
    names = ("status", "valid_to", "key", "category", "fingerprint", "expires_at")
    return {name: getattr(was, name) for name in names}


async def _apply(engine: MemoryEngine, actor: Actor, report: RereadReport, plan: _Plan) -> RereadReport:
    run_id = uuid.uuid4().hex
    written: list[tuple[str, int]] = []
    errors = list(report.errors)
    added = [memory for step, memory in plan.steps if step.memory_id is None]
    with suppress(ModelFailed):
        for start, one in enumerate(added):
            try:
                receipt = await engine.add(_candidate(one), actor=actor, idempotency_key=f"{ACTION}:{run_id}:{start}")
            except KeyNotAllowed as refused:
                errors.append(refused.reason)
                continue
            if receipt.stored and receipt.memory_id is not None and receipt.version is not None:
                written.append((receipt.memory_id, receipt.version))
                ended = await engine.store.get_many(receipt.superseded, scopes=actor.scopes([Level.USER]))
                written += [(other.memory_id, other.version) for other in ended.values()]
            elif receipt.reason is not None:
                errors.append(receipt.reason)
    steward = AuditedWriter(actor, engine.clock.now())
    secret = await engine.store.secret(actor.tenant)
    changes = [(step, memory) for step, memory in plan.steps if step.memory_id is not None]

    async def work(unit: Unit) -> list[tuple[str, int]]:
        done = []
        for step, memory in changes:
            now = await unit.reads.get(memory.memory_id, scopes=[memory.scope])
            # What has changed since it was compared is left to the next reading.
            if now is not None and now.version == memory.version:
                new = _changed_fields(step, now, steward.now, secret)
                changed = await steward.change(unit, now, ACTION, detail={"run": run_id, "change": step.change}, **new)
                done.append((changed.memory_id, changed.version))
        detail: Mapping[str, Any] = {"run": run_id, "versions": [list(one) for one in (*written, *done)]}
        await unit.apply(Mutation.line(ACTION, actor=actor, at=steward.now, detail=detail))
        return done

    written += await commit(engine.store, work)
    await engine._pipeline.publisher.catch_up()
    return replace(report, run_id=run_id, errors=tuple(dict.fromkeys(errors)))


def _changed_fields(step: Difference, memory: Memory, now: datetime, secret: bytes) -> dict[str, Any]:
    if step.change == "ended":
        return {"status": Status.SUPERSEDED, "valid_to": memory.valid_to or now}
    if step.change == "reopened":
        return {"status": Status.ACTIVE, "valid_to": None}
    labelled = replace(_candidate(memory), key=step.key, category=step.category)
    fingerprint = fingerprint_of(secret, memory.scope, labelled)
    return {"key": step.key, "category": step.category, "fingerprint": fingerprint}


def _candidate(one: Memory) -> Candidate:
    names = ("content", "key", "category", "context", "data", "confidence", "source", "occurred_at", "valid_from")
    fields = {name: getattr(one, name) for name in names}
    return Candidate(**fields, valid_to=one.valid_to, level=one.scope.level)


__all__: Sequence[str] = ("Difference", "Readings", "RereadReport", "reread", "undo_reread")
