"""Background capture: a chat turn records its messages and stores what rules read in them; a language model reads them
afterwards, and what it adds, labels and ends comes on top.

Recorded messages wait in the store until they are read, so a crash loses nothing: messages that were read but not yet
removed from the queue are read again, without effect. Several turns of a session are read in one call of the model, and
small talk in none. What a person has corrected or forgotten in the meantime stays so. Once read, a user's message is
stored if it would have been recorded next to a capture (`is_recorded`): mere questions, other people's words, and
statements that policy or consent exclude are forgotten.

An entry of the queue is a mark with the message's memory_id in its name; the message is an episodic memory like any
other, redacted, sealed and erased with the rest. One reader at a time has a lease on a tenant's queue, which expires.
"""

from __future__ import annotations

import asyncio
import json
import logging
import weakref
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import groupby
from typing import Protocol

from mnemic.dispatch import Watchers
from mnemic.dispatch.gateway import MemoryGateway
from mnemic.errors import MemoryNotFound, MnemicError, StoreFailed
from mnemic.extract import Extraction, Extractor, is_users_own
from mnemic.extract.grounding import says_again
from mnemic.extract.message_context import WINDOW_TURNS
from mnemic.extract.messages import is_recorded, recorded_message
from mnemic.extract.model_extractor import windows
from mnemic.language.questions.small_talk import is_small_talk
from mnemic.language.sentences.extraction_filter import has_nothing_to_keep
from mnemic.language.text.normalise import canonical_value
from mnemic.ports import Clock, RecordStore
from mnemic.reason_codes import CONSENT_REQUIRED
from mnemic.requests import Run
from mnemic.runtime.event_loop_thread import Portal, run_on
from mnemic.types import Actor, Candidate, Level, Memory, Message, Outcome, Status, WriteReceipt
from mnemic.types.scope import new_id, time_of_id
from mnemic.types.trace import RunReport, RunStatus
from mnemic.unit_of_work import Mutation, Unit, apply, commit
from mnemic.write.limiter import WAITING, apply_of_user, refuse_if_erased_since, subject_token, waiting_prefix

LEASE = timedelta(minutes=5)
_READER = "waiting-reader"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedMessage:
    """Message that waits for capture: the mark's `name`, its speaker, and the recorded message. `context`: it was
    recorded only to be read before another, and is forgotten then. `tries`: times that it could not be read while
    others could; it rests until `rests_until`. `doubts`: times that neither it nor another could be read. `written`:
    the memories that rules have read in it, each with the place of its words in the message; None if they have not
    read it yet.
    """

    name: str
    actor: Actor
    memory_id: str
    context: bool = False
    tries: int = 0
    doubts: int = 0
    rests_until: datetime | None = None
    written: Mapping[str, Sequence[int] | None] | None = None


async def enqueue(
    store: RecordStore, memory_ids: Sequence[str], *, actor: Actor, context: Collection[str] = ()
) -> None:
    """Leave recorded messages of the actor's for an extractor, durably; those in `context` are only read before the
    others; nothing of a user who was erased meanwhile. Raises StoreFailed.
    """
    token = await subject_token(store, actor.tenant, actor.user)
    prefix = waiting_prefix(token)
    author = {"user": actor.user, "agent": actor.agent, "workspace": actor.workspace}
    marks = {prefix + one: json.dumps(author | ({"context": True} if one in context else {})) for one in memory_ids}
    await apply_of_user(store, actor.tenant, token, marks)


async def waiting(store: RecordStore, tenant: str) -> list[QueuedMessage]:
    """Return the tenant's queue: each user's messages together, in their order."""
    found = []
    for name, value in sorted((await store.marks(tenant, WAITING)).items()):
        data = json.loads(value)
        actor = Actor(tenant=tenant, user=data["user"], agent=data["agent"], workspace=data["workspace"])
        rests_until = None if data.get("rests_until") is None else datetime.fromisoformat(data["rests_until"])
        found.append(
            QueuedMessage(
                name=name,
                actor=actor,
                memory_id=name.rpartition("/")[2],
                context=data.get("context", False),
                tries=data.get("tries", 0),
                doubts=data.get("doubts", 0),
                rests_until=rests_until,
                written=data.get("written"),
            )
        )
    return found


async def set_aside(store: RecordStore, tenant: str, entries: Sequence[QueuedMessage], until: datetime) -> None:
    """Count one more failed try of entries, which rest until then; those that were erased meanwhile stay gone."""
    tried = {one.name: {"tries": one.tries + 1, "rests_until": until.isoformat()} for one in entries}
    await _change(store, tenant, tried)


async def doubt(store: RecordStore, tenant: str, entries: Sequence[QueuedMessage]) -> None:
    """Count one more doubt of entries, so that others are tried first; those that were erased meanwhile stay gone."""
    await _change(store, tenant, {one.name: {"doubts": one.doubts + 1} for one in entries})


async def note_written(store: RecordStore, entry: QueuedMessage, memory_ids: Sequence[str]) -> None:
    """Note the memories that rules have read in a waiting message, unless it was erased meanwhile. The places of their
    words are noted because they tell, once a memory is forgotten, which words it was read in.
    """
    found = await store.get_many(memory_ids, scopes=entry.actor.scopes([Level.USER]))
    places = {one: found[one].source.span if one in found else None for one in memory_ids}
    await _change(store, entry.actor.tenant, {entry.name: {"written": places}})


async def _change(store: RecordStore, tenant: str, fields: Mapping[str, Mapping[str, object]]) -> None:
    async def work(unit: Unit) -> None:
        for name, changed in fields.items():
            known = await unit.reads.find_mark(tenant, name)
            if known is not None:
                await unit.apply(Mutation(tenant=tenant, marks={name: json.dumps(json.loads(known) | {**changed})}))

    await commit(store, work)


async def messages_of(store: RecordStore, entries: Sequence[QueuedMessage]) -> dict[str, Message]:
    """Return the messages of the entries of one user, by memory_id; those that were forgotten since are left out."""
    if not entries:
        return {}
    scopes = entries[0].actor.scopes([Level.USER])
    found = await store.get_many([one.memory_id for one in entries], scopes=scopes)
    return {memory_id: recorded_message(memory) for memory_id, memory in found.items()}


async def take_out(store: RecordStore, tenant: str, entries: Sequence[QueuedMessage]) -> None:
    """Remove entries from the queue, once they are read."""
    await apply(store, Mutation(tenant=tenant, marks=dict.fromkeys(one.name for one in entries)))


@dataclass(slots=True)
class Lease:
    """Lease on a tenant's queue."""

    store: RecordStore
    clock: Clock
    tenant: str
    holder: str = ""

    async def take(self) -> bool:
        """Take it for five minutes from now; return True if it could be had, or was had already."""
        self.holder = self.holder or new_id(self.clock.now())

        async def work(unit: Unit) -> bool:
            now = self.clock.now()
            known = await unit.reads.find_mark(self.tenant, _READER)
            lease = {} if known is None else json.loads(known)
            if lease and lease["by"] != self.holder and datetime.fromisoformat(lease["until"]) > now:
                return False
            mark = json.dumps({"by": self.holder, "until": (now + LEASE).isoformat()})
            await unit.apply(Mutation(tenant=self.tenant, marks={_READER: mark}))
            return True

        return await commit(self.store, work)

    async def give_back(self) -> None:
        """Return the lease, so that others may read."""
        await apply(self.store, Mutation(tenant=self.tenant, marks={_READER: None}))


logger = logging.getLogger("mnemic.engine.background_capture")

PASSING = ("store_", "commit_", "embedder_", "llm_timeout", "llm_unavailable", "max_seconds")
"""Prefixes of the reasons of failures that may be over at the next try."""
OF_MODEL = "extract:model: "
"""Prefix of the error of a run whose message only the rules could read."""
CONSENT = f"{CONSENT_REQUIRED}:"
"""Prefix of the reason for omitting facts that the user has not consented to."""
MAX_TRIES = 8
"""Failed tries, while other messages could be read, after which a message is given up."""
FIRST_REST, LONGEST_REST = timedelta(minutes=1), timedelta(hours=6)
"""Rest of a message after its first failure, doubled with each, and the longest."""
_OUTAGE = 2
"""Failures in a row, of an early and of the newest window, that mean an outage."""


class TurnEngine(Protocol):
    """The parts of `MemoryEngine` that remembering uses."""

    @property
    def extractor(self) -> Extractor:
        """The extractor of the facts in messages."""

    @property
    def gateway(self) -> MemoryGateway:
        """The gateway that every write and every search passes."""

    async def run_turn(self, turn: Run, actor: Actor, *, read: Extraction | MnemicError | None = None) -> RunReport:
        """Run one turn with a message that is extracted already."""

    async def add_many(self, candidates: Sequence[Candidate], *, actor: Actor) -> Sequence[WriteReceipt]:
        """Remember many things."""


class CaptureEngine(TurnEngine, Protocol):
    """The further parts that a background reader works with."""

    store: RecordStore
    clock: Clock
    watchers: Watchers
    background_seconds: float

    async def record(self, messages: Sequence[Message], *, actor: Actor) -> Sequence[WriteReceipt]:
        """Store the messages themselves."""

    async def forget(self, memory_id: str, *, actor: Actor) -> None:
        """Delete a memory."""


class BackgroundCapture:
    """Captures for one engine in the background: once nothing has been put for `gathering_seconds` (None: the engine's
    `background_seconds`), or as many turns wait as are read in one call. `counts`: messages that were read, skipped as
    small talk or failed, by reason.
    """

    def __init__(self, engine: CaptureEngine, *, gathering_seconds: float | None = None) -> None:
        self._engine = engine
        self._gathering = engine.background_seconds if gathering_seconds is None else gathering_seconds
        self._task: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._portal: Portal | None = None
        self._tenants: set[str] = set()
        self._put_since, self._heard = 0, asyncio.Event()
        self.counts: Counter[str] = Counter()

    async def put(self, *messages: Message, actor: Actor, before: Sequence[Message] = ()) -> Sequence[WriteReceipt]:
        """Record `messages`, store what rules read in the user's own, and queue these for the model; durable on return,
        and read by the model in the background. Others' words in the turns `before` wait with them as their context,
        and are deleted once they are read.

        Raises StoreFailed; then they must be queued again. Messages recorded before are queued, too: a crash may have
        prevented that, and messages that were read already have no effect.
        """
        with refuse_if_erased_since(self._engine.clock.now()):
            return await self._put(messages, actor, before)

    async def _put(
        self, messages: Sequence[Message], actor: Actor, before: Sequence[Message]
    ) -> Sequence[WriteReceipt]:
        heard = [one for one in before if not is_users_own(one)]
        context = _created_ids(await self._engine.record(heard, actor=actor)) if heard else []
        receipts = await self._engine.record(messages, actor=actor)
        recorded = [one.memory_id for one in receipts if one.stored and one.memory_id]
        if recorded:
            await enqueue(self._engine.store, [*context, *recorded], actor=actor, context=context)
            await self._read_certain(recorded, actor, before)
            self._put_since += len(recorded)
            self._wake(actor.tenant)
        return receipts

    async def _read_certain(self, memory_ids: Sequence[str], actor: Actor, before: Sequence[Message]) -> None:
        """Store what rules read in recorded messages, and note it for the model's reading on top. A failure is left to
        that reading, which then does both.
        """
        from mnemic.engine.message_forms import captured_after  # the engine imports this module

        rules: Extractor | None = getattr(self._engine.extractor, "rules", None)
        if rules is None:
            return
        token = await subject_token(self._engine.store, actor.tenant, actor.user)
        entries = [QueuedMessage(name=waiting_prefix(token) + one, actor=actor, memory_id=one) for one in memory_ids]
        found, talk = await messages_of(self._engine.store, entries), list(before)
        for entry in entries:
            message = found.get(entry.memory_id)
            if message is None:
                continue
            if is_users_own(message):
                report = await captured_after(self._engine, message, talk, actor=actor, extractor=rules)
                if report.status is RunStatus.OK and not report.blocked and all(one.stored for one in report.receipts):
                    new = [one for one in report.receipts if one.outcome is not Outcome.REFRESHED]
                    ids = [one.memory_id for one in new if one.memory_id and one.level == Level.USER]
                    await note_written(self._engine.store, entry, ids)
            talk.append(message)

    async def read(self, tenant: str = "default") -> int:
        """Read the tenant's queue now; return the number of messages removed from it.

        Does nothing while another process reads it. Messages that fail for a temporary reason stay. Raises StoreFailed.
        """
        lease = Lease(self._engine.store, self._engine.clock, tenant)
        if not await lease.take():
            return 0
        done = 0
        try:
            for _, group in groupby(await waiting(self._engine.store, tenant), key=lambda one: one.actor):
                done += await self._read_user(list(group), lease)
        finally:
            with suppress(StoreFailed):  # the store is closed, and the lease expires
                await lease.give_back()
        return done

    async def wait_until_read(self) -> None:
        """Wait until the reader that was woken has finished."""
        while (task := self._task) is not None and not task.done():
            await run_on(task.get_loop(), partial(_wait_for, task))

    async def stop(self) -> None:
        """Stop the background reader; unread messages stay in the queue. May be called twice."""
        task, self._task = self._task, None
        if task is not None:
            await run_on(task.get_loop(), partial(_cancel, task))

    def _wake(self, tenant: str) -> None:
        self._tenants.add(tenant)
        if self._portal is None and self._loop not in (None, asyncio.get_running_loop()):
            # Synchronous frameworks start a loop for each turn, and the reader ends with it: it gets one that stays.
            self._portal = Portal()
            weakref.finalize(self, self._portal.close)
        if self._portal is None:
            self._start()
        else:
            self._portal.call(self._start_there)

    async def _start_there(self) -> None:
        self._start()

    def _start(self) -> None:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            if self._task is not None and self._loop is not None and self._loop.is_running():
                self._loop.call_soon_threadsafe(self._task.cancel)
            self._loop, self._task, self._heard = loop, None, asyncio.Event()
        self._heard.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="mnemic-background-capture")

    async def _run(self) -> None:
        while self._tenants:
            await self._wait_for_silence()
            tenant = self._tenants.pop()
            try:
                await self.read(tenant)
            except MnemicError as failure:
                self.counts[f"failed:{failure.reason}"] += 1
                logger.warning("reason=<%s> | background capture failed | it will be tried again", failure.reason)

    async def _wait_for_silence(self) -> None:
        """Wait until nothing more is put for a while, or as many turns wait as are read in one call."""
        while self._put_since < WINDOW_TURNS:
            self._heard.clear()
            try:
                async with asyncio.timeout(self._gathering):
                    await self._heard.wait()
            except TimeoutError:
                break
        self._put_since = 0

    async def _read_user(self, entries: list[QueuedMessage], lease: Lease) -> int:
        """Read one user's messages window by window, in order. One that fails for a passing reason is left, and the
        newest tried: if another can be read, the failure is the window's own, which rests while the queue goes on; if
        not, it may be an outage, and the queue stays as it is but for its order: the next time others come first.
        """
        store, tenant = self._engine.store, lease.tenant
        found = await messages_of(store, entries)
        gone = [one for one in entries if one.memory_id not in found]
        if gone:
            await take_out(store, tenant, gone)
        done, in_a_row = len(gone), 0
        failed: list[tuple[Sequence[QueuedMessage], str]] = []
        known = [one for one in entries if one.memory_id in found]
        parts = sorted(_parts(known, found, self._engine.clock.now()), key=_doubts)
        while parts and in_a_row < _OUTAGE and await lease.take():
            place = bisect_right(parts, _doubts(parts[0]), key=_doubts) - 1 if in_a_row else 0
            part = parts.pop(place)
            reason = await self._read_window(part, [found[one.memory_id] for one in part])
            if reason is None:
                in_a_row = 0
                await self._take_out(part, tenant)
                done += len(part)
                continue
            self.counts[f"failed:{reason}"] += 1
            in_a_row += 1
            if len(part) > 1 and not parts and done == len(gone):
                # Nothing else is there to tell an outage by: one of the window is tried alone.
                alone = min(reversed(part), key=lambda one: one.doubts)
                parts, part = [[alone]], [one for one in part if one is not alone]
            failed.append((part, reason))
        for part, reason in failed:
            if done > len(gone):
                done += await self._set_aside(part, reason, tenant)
            else:
                await doubt(store, tenant, part)
        return done

    async def _take_out(self, part: Sequence[QueuedMessage], tenant: str) -> None:
        for one in part:
            if one.context:
                await self._forget(one)
        await take_out(self._engine.store, tenant, part)

    async def _set_aside(self, part: Sequence[QueuedMessage], reason: str, tenant: str) -> int:
        """Let a window rest that fails while others can be read; return the number of messages that are given up, which
        stay recorded without being read.
        """
        # Several messages are tried one by one next: one of them may be the cause.
        tries = part[0].tries + 1
        rest = timedelta(0) if len(part) > 1 else min(LONGEST_REST, FIRST_REST * 2 ** (tries - 1))
        if tries < MAX_TRIES:
            await set_aside(self._engine.store, tenant, part, self._engine.clock.now() + rest)
            return 0
        self.counts[f"given_up:{reason}"] += len(part)
        logger.warning("reason=<%s>, messages=<%d> | capture given up | they stay recorded", reason, len(part))
        await self._take_out(part, tenant)
        return len(part)

    async def _read_window(self, part: Sequence[QueuedMessage], messages: Sequence[Message]) -> str | None:
        """Capture one window; the passing reason for which it is to be read again, or None."""
        if not any(is_users_own(one) and is_worth_a_call(one.content) for one in messages):
            self.counts["small_talk"] += len(messages)
            return None
        self._engine.watchers.charge_models(part[0].actor.tenant)
        # They are of the time at which they were put here: an erasure since then refuses what is learnt from them.
        with refuse_if_erased_since(min(time_of_id(one.memory_id) for one in part), anew=True):
            reports = await self._capture(part, messages)
        reason = next((why for one in reports if one is not None and (why := _passing(one)) is not None), None)
        if reason is None:
            for one, report in zip(part, reports, strict=True):
                if report is not None and not is_kept(report, known=bool(one.written)):
                    await self._forget(one)
            self.counts["read"] += len(messages)
        return reason

    async def _capture(self, part: Sequence[QueuedMessage], messages: Sequence[Message]) -> list[RunReport | None]:
        """Capture one window, on top of what rules have stored of it."""
        from mnemic.engine.extraction import read_messages, with_implied_changes  # as above

        engine, actor, reports = self._engine, part[0].actor, list[RunReport | None]()
        read = await read_messages(engine.gateway, engine.extractor, actor, messages)
        for entry, message, one in zip(part, messages, read, strict=True):
            written = None if entry.written is None else await self._memories(entry)
            if written is not None and isinstance(one, Extraction):
                one = _on_top(one, message.content, entry, written)
            found = await with_implied_changes(engine.gateway, engine.extractor, actor, message, one)
            if found is None:
                reports.append(None)
                continue
            if written and isinstance(one, Extraction) and isinstance(found, Extraction):
                found = _without_told(found, one, written)
            turn = Run(message=message, idempotency_key=f"waiting:{entry.memory_id}")
            reports.append(await engine.run_turn(turn, actor, read=found))
        return reports

    async def _memories(self, entry: QueuedMessage) -> Sequence[Memory]:
        """Return the memories that rules have read in a message and that are still there."""
        scopes = entry.actor.scopes([Level.USER])
        return list((await self._engine.store.get_many(list(entry.written or ()), scopes=scopes)).values())

    async def _forget(self, entry: QueuedMessage) -> None:
        with suppress(MemoryNotFound):  # another forgot it meanwhile
            await self._engine.forget(entry.memory_id, actor=entry.actor)


def _parts(
    entries: Sequence[QueuedMessage], found: Mapping[str, Message], now: datetime
) -> Iterator[Sequence[QueuedMessage]]:
    """Yield what is read in one call: neighbours together, and then those that have failed before, each alone, unless
    they rest.
    """
    untried = [one for one in entries if not one.tries]
    for places in windows([found[one.memory_id] for one in untried]):
        yield untried[places.start : places.stop]
    for one in entries:
        if one.tries and (one.rests_until is None or one.rests_until <= now):
            yield [one]


def _doubts(part: Sequence[QueuedMessage]) -> int:
    return max(one.doubts for one in part)


def _created_ids(receipts: Sequence[WriteReceipt]) -> list[str]:
    return [one.memory_id for one in receipts if one.outcome is Outcome.CREATED and one.memory_id]


def is_worth_a_call(text: str) -> bool:
    """Return True if a language model may find a fact in `text`."""
    return not (is_small_talk(text) or has_nothing_to_keep(text))


def _on_top(found: Extraction, text: str, entry: QueuedMessage, written: Sequence[Memory]) -> Extraction:
    """Return what a model adds to what rules have `written` of a message, and what it labels or ends. Nothing of words
    whose memory a person has corrected, rejected or forgotten, nor of those that were overtaken since.
    """
    held = {one.memory_id: one for one in written}
    touched = [
        (held.get(memory_id), place)
        for memory_id, place in (entry.written or {}).items()
        if memory_id not in held or not _is_as_read(held[memory_id])
    ]
    certain = {id(one) for one in found.certain}
    kept = []
    for one in found.candidates:
        beside = [memory for memory in written if _touch(memory, one)]
        same = [memory for memory in beside if memory.key == one.key and _says(memory) == canonical_value(one.content)]
        if any(memory.status is not Status.ACTIVE for memory in beside):
            continue
        if any(_is_of(one, memory, place, text) for memory, place in touched):
            continue
        if id(one) in certain and not any(one.replaces or _is_labelled(one, memory) for memory in same):
            continue
        kept.append(one)
    return replace(found, candidates=tuple(kept), certain=())


def _is_of(one: Candidate, memory: Memory | None, place: Sequence[int] | None, text: str) -> bool:
    """Return True if a candidate is read in the words of a memory that a person has touched, in their repetition, or
    holds its key. `memory` is None if it was forgotten; `place`: where its words stand in the message `text`.
    """
    return says_again(text, one.source.span, place) or (
        memory is not None and one.key is not None and one.key == memory.key
    )


def _without_told(found: Extraction, before: Extraction, written: Sequence[Memory]) -> Extraction:
    """Return the extraction without the changes implied by words that rules have stored."""
    given = {id(one) for one in before.candidates}
    kept = [one for one in found.candidates if id(one) in given or not any(_touch(memory, one) for memory in written)]
    return replace(found, candidates=tuple(kept))


def _is_as_read(memory: Memory) -> bool:
    return memory.status is not Status.REJECTED and memory.source.quote is not None


def _is_labelled(one: Candidate, memory: Memory) -> bool:
    return memory.version == 1 and (one.category, one.context) != (memory.category, memory.context)


def _says(memory: Memory) -> str:
    return canonical_value(memory.content)


def _touch(memory: Memory, one: Candidate) -> bool:
    mine, theirs = memory.source.span, one.source.span
    return mine is not None and theirs is not None and mine[0] < theirs[1] and theirs[0] < mine[1]


def is_kept(report: RunReport, *, known: bool = False) -> bool:
    """Return True if the captured message itself is stored next to the facts found in it, of which some are `known`
    already. An unreadable one is stored, too.
    """
    if report.status is not RunStatus.OK:
        return True
    if any(one.reason.startswith(CONSENT) for one in report.blocked) or not all(one.stored for one in report.receipts):
        return False
    return is_recorded([one.reason for one in report.skipped], stored=known or bool(report.receipts))


async def read_waiting(engine: CaptureEngine, tenant: str, *, dry_run: bool = False) -> int:
    """Read the tenant's queue, as after a crash of its reader; return the number of messages read, or with `dry_run`
    waiting. Raises StoreFailed.
    """
    found = await waiting(engine.store, tenant)
    return len(found) if dry_run or not found else await BackgroundCapture(engine).read(tenant)


def _passing(report: RunReport) -> str | None:
    """Return the reason for which a message is to be read again, also where the rules have read it in the meantime."""
    reasons = [receipt.reason or "" for receipt in report.receipts if not receipt.stored]
    if report.status is not RunStatus.OK:
        reasons.append(report.stop_reason)
    reasons += [one.removeprefix(OF_MODEL) for one in report.errors if one.startswith(OF_MODEL)]
    return next((reason for reason in reasons if reason.startswith(PASSING)), None)


async def _wait_for(task: asyncio.Task[None]) -> None:
    await asyncio.wait([task])


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
