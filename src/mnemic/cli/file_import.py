"""Taking a file in: messages are recorded, and the user's statements in them are captured; memories are added.

What is taken in completely is skipped when its file, or a later export of the same conversation, is imported again. An
import that was broken off goes on where it ended (`mnemic.cli.file_import`).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import islice
from typing import Any

from mnemic.cli.terminal import Exit, exit_code_of_run
from mnemic.engine import MemoryEngine
from mnemic.engine.message_forms import capture_messages
from mnemic.errors import InvalidInput, MnemicError
from mnemic.extract import Extraction, is_users_own
from mnemic.extract.messages import in_parts, message_candidates
from mnemic.importers.file_readers.item import Item
from mnemic.maintenance.archive import Archived, ArchivedMemory
from mnemic.maintenance.background_capture import is_worth_a_call
from mnemic.maintenance.bulk_import import ImportNotes
from mnemic.reason_codes import (
    CONSENT_REQUIRED,
    INVALID_MEMORY_CANDIDATES,
    KEY_DENIED_EXECUTION,
    QUOTA_EXCEEDED,
    RETENTION_DENIED,
    SCOPE_DENIED_EXECUTION,
)
from mnemic.types import Actor, Candidate, Cost, Message, Outcome, WriteReceipt
from mnemic.types.trace import RunReport
from mnemic.unit_of_work import AnsweredRequest, Mutation, Unit, commit
from mnemic.write.limiter import refuse_if_erased_since
from mnemic.write.prepare import item_key, request_key

_DIGEST = hashlib.sha256(b"import").hexdigest()
"""Digest of every line: the key alone says what was done."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One item with content, and the name by which the ledger knows it."""

    item: Item
    name: str

    @property
    def content(self) -> Message | Candidate | Archived:
        """Content of the item."""
        assert self.item.content is not None
        return self.item.content

    @property
    def captures(self) -> bool:
        """True if statements are captured from it."""
        return isinstance(self.content, Message) and is_users_own(self.content)

    @property
    def capture_key(self) -> str:
        """Idempotency key of its capture."""
        return f"import-capture:{self.name}"

    @property
    def captured_line(self) -> str:
        """Key of the line which says that it is captured."""
        return f"import-captured:{self.name}"

    def record_key(self, part: int = 0) -> str:
        """Return the idempotency key under which it is stored, or this part of it."""
        return f"import:{self.name}" + (f":{part}" if part else "")


@dataclass(slots=True)
class EntryNames:
    """Names of the items of one file, in their order: the same text twice is two entries."""

    _seen: Counter[str] = field(default_factory=Counter)

    def entry_of_item(self, item: Item) -> Entry:
        """Return the entry of an item with content."""
        content: object = item.content
        if isinstance(content, Candidate):
            # A note that moved in its file is the same note.
            content = replace(content, source=replace(content.source, ref=None))
        if isinstance(content, ArchivedMemory):
            content = content.versions  # another export has another seal
        name = _digest(content, item.conversation)
        self._seen[name] += 1
        return Entry(item, name if self._seen[name] == 1 else f"{name}-{self._seen[name]}")


@dataclass(slots=True)
class ImportLedger:
    """Lines about the entries of one import; those that are noted are stored by `flush`."""

    engine: MemoryEngine
    actor: Actor
    _noted: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    async def lines(self, keys: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """Return what was stored under those of these keys that were used. Raises StoreFailed."""
        names = await self._names(keys)

        async def work(unit: Unit) -> dict[str, Mapping[str, Any]]:
            found = {key: await unit.reads.find_request(self.actor.tenant, name) for name, key in names.items()}
            return {key: json.loads(line[1]) for key, line in found.items() if line is not None}

        return await commit(self.engine.store, work) if keys else {}

    def note(self, key: str, **detail: Any) -> None:
        """Note that what a key stands for is done."""
        self._noted[key] = detail

    async def flush(self) -> None:
        """Store the lines that were noted since the last time. Raises StoreFailed."""
        if not self._noted:
            return
        names, at = await self._names(self._noted), self.engine.clock.now()

        async def work(unit: Unit) -> None:
            for name, key in names.items():
                # Another import of the same file may run beside this one.
                if await unit.reads.find_request(self.actor.tenant, name) is None:
                    said = json.dumps(self._noted[key])
                    line = AnsweredRequest(key=name, digest=_DIGEST, receipt=said, at=at)
                    await unit.apply(Mutation(tenant=self.actor.tenant, answered=line))

        await commit(self.engine.store, work)
        self._noted.clear()

    async def _names(self, keys: Sequence[str] | Mapping[str, object]) -> dict[str, str]:
        """Return each key by its stored name."""
        secret = await self.engine.gateway.pipeline.secret(self.actor.tenant)
        return {request_key(secret, self.actor.user, key): key for key in keys}


@dataclass(frozen=True, slots=True)
class LedgerOfCapture:
    """`CaptureLog` of some messages of an import, by the ledger's lines about them.

    A line is written before the next message that writes something: the state that a message is read in, should the
    import be broken off, is the same when it goes on.
    """

    ledger: ImportLedger
    entries: Sequence[Entry]
    lines: Mapping[str, Mapping[str, Any]]
    _proposed: dict[int, list[str]] = field(default_factory=dict)

    def is_finished(self, place: int) -> bool:
        """Return True for a message that states nothing of the user, and for one of which everything was captured; not
        if something was refused then.
        """
        if not self.entries[place].captures:
            return True
        line = self.lines.get(self.entries[place].captured_line)
        return line is not None and not line.get("proposed")

    async def remaining(self, place: int, found: Extraction) -> Extraction:
        """Return `found`, or what an earlier import proposed of it, if some of that was refused."""
        line = self.lines.get(self.entries[place].captured_line)
        if line is not None:
            again = frozenset(line["proposed"])
            found = replace(found, candidates=tuple(one for one in found.candidates if _item(one) in again))
        self._proposed[place] = [_item(one) for one in found.candidates]
        if found.candidates:
            await self.ledger.flush()
        return found

    def note(self, place: int, report: RunReport) -> None:
        """Note that a message is captured; not one that failed, which is captured when the import is repeated."""
        entry = self.entries[place]
        if report.status != "ok" or entry.captured_line in self.lines:
            return
        refused = report.blocked or any(one.outcome is Outcome.BLOCKED for one in report.receipts)
        self.ledger.note(entry.captured_line, **({"proposed": self._proposed.get(place, [])} if refused else {}))


def _item(candidate: Candidate) -> str:
    return (item_key("", candidate) or "").rpartition(":")[2]


def _digest(*said: object) -> str:
    return hashlib.sha256("\x1e".join(map(_text, said)).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _text(value: object) -> str:
    """Return everything in a value as text, what `repr` leaves out included."""
    if is_dataclass(value):
        return "\x1f".join(f"{one.name}={_text(getattr(value, one.name))}" for one in fields(value))
    if isinstance(value, Mapping):
        return "\x1f".join(f"{name}={_text(value[name])}" for name in sorted(value))
    if isinstance(value, list | tuple):
        return "\x1d".join(map(_text, value))
    return repr(value)


BATCH = 32
NOD, LONGEST_WORDS = 4, 160
LISTED = 1000
"""Maximum number of facts learnt, and of statements left out, that a summary names one by one."""
KEYLESS = f"{INVALID_MEMORY_CANDIDATES}:missing_keys"
"""Reason of a policy that stores nothing without a key: the messages themselves are left out then."""
KEYLESS_HINT = (
    "the policy keeps nothing without a key, so the messages themselves are left out; keyless = true keeps them"
)
_DENIALS = (KEY_DENIED_EXECUTION, SCOPE_DENIED_EXECUTION, CONSENT_REQUIRED, QUOTA_EXCEEDED, RETENTION_DENIED, KEYLESS)

Progress = Callable[[int], None]


@dataclass(slots=True)
class Summary:
    """Results of importing a file so far. `refreshed` was there already; `left_out` are statements of messages that did
    not become facts, by reason; `failed` has a place and a reason each, `hints` the form expected at a place.
    `waiting`: how many of the captured await review. `learnt` names the facts that are new or changed, with the values
    that they replaced, and `passed_over` the statements that were left out. `import_id` takes the import back.
    """

    recorded: int = 0
    refreshed: int = 0
    captured: Counter[str] = field(default_factory=Counter)
    waiting: int = 0
    blocked: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    degraded: Counter[str] = field(default_factory=Counter)
    cost: Cost = Cost()
    failed: list[tuple[str, str]] = field(default_factory=list)
    hints: dict[str, str] = field(default_factory=dict)
    learnt: list[dict[str, Any]] = field(default_factory=list)
    passed_over: list[dict[str, str]] = field(default_factory=list)
    import_id: str | None = None
    stopped: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the summary as JSON data."""
        return {
            "recorded": self.recorded,
            "refreshed": self.refreshed,
            "captured": dict(self.captured),
            "blocked": dict(self.blocked),
            "left_out": dict(self.left_out),
            "skipped": dict(self.skipped),
            **({"waiting": self.waiting} if self.waiting else {}),
            **({"degraded": dict(self.degraded)} if self.degraded else {}),
            **({"cost": self.cost.as_dict()} if self.cost.calls else {}),
            "failed": [{"place": place, "reason": reason} for place, reason in self.failed],
            "learnt": self.learnt,
            "passed_over": self.passed_over,
            "import_id": self.import_id,
            "stopped": self.stopped,
        }

    def fail(self, place: str, reason: str) -> None:
        """Note an item that could not be imported. A failing store or model will not do better on the next line."""
        self.failed.append((place, reason))
        if exit_code_of_run(reason) is not Exit.REFUSED:
            self.stopped = self.stopped or reason

    def takes(self, item: Item, *, strict: bool) -> bool:
        """Return True for an item with content; count any other. Raises InvalidInput if it is `strict`."""
        if item.problem is not None:
            if strict:
                raise InvalidInput(item.problem.reason.partition(":")[2], hint=_hint(item.place, item.problem))
            self.fail(item.place, item.problem.reason)
            self.hints[item.place] = item.problem.hint or ""
        elif item.skipped is not None:
            self.skipped[item.skipped] += 1
        return item.content is not None

    def count(self, place: str, receipt: WriteReceipt) -> None:
        """Note how one write ended."""
        if receipt.replayed or receipt.was_duplicate:
            self.refreshed += 1
        elif receipt.stored:
            self.recorded += 1
        elif receipt.reason and receipt.reason.startswith(_DENIALS):
            self.blocked[f"{receipt.key or 'memory'}: {receipt.reason}"] += 1
        else:
            self.fail(place, receipt.reason or "blocked")


@dataclass(frozen=True, slots=True)
class _Part:
    """Content to store, its place in the file, and the key under which it is stored."""

    place: str
    key: str
    content: Candidate | Archived


@dataclass(slots=True, kw_only=True)
class Intake:
    """One import under way.

    `extract` captures the user's statements; `strict` stops at the first problem; `again` takes in what an earlier
    import has already taken in; `own` preserves origin, trust and author of an archive. Several with one `import_id`
    are taken back as one.
    """

    engine: MemoryEngine
    actor: Actor
    extract: bool = True
    strict: bool = False
    again: bool = False
    own: bool = False
    import_id: str = ""
    summary: Summary = field(default_factory=Summary)
    _notes: ImportNotes = field(init=False)
    _previous: Message | None = field(default=None, init=False)
    _names: EntryNames = field(default_factory=EntryNames, init=False)

    def __post_init__(self) -> None:
        self._notes = ImportNotes(self.engine, self.actor, self.import_id)

    def follow(self, items: Sequence[Item]) -> None:
        """Continue after these items, which were imported before: the last message is the context of the next."""
        for one in items:
            if one.content is not None:
                self._names.entry_of_item(one)
        said = [one.content for one in items if isinstance(one.content, Message)]
        self._previous = next((part for one in reversed(said) for part in reversed(list(in_parts(one)))), None)

    async def take(self, items: Iterator[Item], progress: Progress) -> Summary:
        """Take all items in, in order, unless the store or a model fails on the way: then `summary.stopped` is the
        reason.

        Items imported before an error stay imported.
        """
        # One import is one act: an erasure that begins meanwhile ends it for the words of the erased.
        with refuse_if_erased_since(self.engine.clock.now()):
            return await self._take_all(items, progress)

    async def _take_all(self, items: Iterator[Item], progress: Progress) -> Summary:
        seen = 0
        while self.summary.stopped is None and (batch := list(islice(items, BATCH))):
            await self._take(
                [self._names.entry_of_item(one) for one in batch if self.summary.takes(one, strict=self.strict)]
            )
            seen += len(batch)
            progress(seen)
        return self.summary

    async def _take(self, entries: Sequence[Entry]) -> None:
        """Take in what is new of these. What is captured first may be recorded later, never the reverse."""
        ledger = ImportLedger(self.engine, self.actor)
        parts = [part for entry in entries for part in self._parts(entry)]
        lines: Mapping[str, Any] = {}
        if not self.again:
            lines = await ledger.lines([one.key for one in parts] + [one.captured_line for one in entries])
        try:
            if self.extract:
                said = [one for one in entries if isinstance(one.content, Message)]
                await self._capture(said, None if self.again else LedgerOfCapture(ledger, said, lines))
            new = [one for one in parts if one.key not in lines]
            self.summary.refreshed += len(parts) - len(new)
            await self._record([one for one in new if isinstance(one.content, Candidate)])
            for one in new:
                if not isinstance(one.content, Candidate) and await self._restore(one.place, one.content):
                    ledger.note(one.key)
        finally:
            await ledger.flush()
            if await self._notes.flush():
                self.summary.import_id = self._notes.import_id

    def _parts(self, entry: Entry) -> Iterator[_Part]:
        """Yield what is stored of an entry: of a message that is too long for one memory, its parts."""
        content = entry.content
        if not isinstance(content, Message):
            yield _Part(entry.item.place, entry.record_key(), content)
            return
        if is_nod(content):
            self.summary.skipped["small_talk"] += 1
            self._previous = content
            return
        for number, part in enumerate(in_parts(content)):
            said = [self._previous, part] if self._previous is not None else [part]
            yield _Part(entry.item.place, entry.record_key(number), message_candidates(said)[-1])
            self._previous = part

    async def _record(self, parts: Sequence[_Part]) -> None:
        receipts = await self.engine.add_many(
            [one.content for one in parts if isinstance(one.content, Candidate)],
            actor=self.actor,
            idempotency_keys=[None if self.again else one.key for one in parts],
        )
        await self._notes.note(receipts)
        for one, receipt in zip(parts, receipts, strict=True):
            if self.strict and receipt.outcome is Outcome.BLOCKED:
                raise InvalidInput("import", hint=f"{one.place}: {receipt.reason}")
            self.summary.count(one.place, receipt)

    async def _restore(self, place: str, line: Archived) -> bool:
        """Bring a memory or a consent back; return True if it is there."""
        try:
            receipt = await self.engine.restore(line, actor=self.actor, own=self.own)
        except MnemicError as problem:
            if self.strict:
                raise
            self.summary.fail(place, problem.reason)
            return False
        if self.strict and receipt.outcome is Outcome.BLOCKED:
            raise InvalidInput("import", hint=f"{place}: {receipt.reason}")
        await self._notes.note([receipt])
        self.summary.count(place, receipt)
        return receipt.outcome is not Outcome.BLOCKED

    async def _capture(self, entries: Sequence[Entry], log: LedgerOfCapture | None) -> None:
        if log is not None and all(map(log.is_finished, range(len(entries)))):
            return
        said = [one.content for one in entries if isinstance(one.content, Message)]
        keys = None if log is None else [one.capture_key for one in entries]
        reports = await capture_messages(self.engine, said, actor=self.actor, idempotency_keys=keys, log=log)
        made = [receipt for report in reports if report is not None for receipt in report.receipts]
        await self._notes.note(made)
        await self._list_learnt(made)
        for one, report in zip(entries, reports, strict=True):
            if report is not None:
                self._count(one.item.place, one.content, report)

    async def _list_learnt(self, receipts: Sequence[WriteReceipt]) -> None:
        """Name the facts that captures stored or changed."""
        new = [one for one in receipts if one.stored and not one.replayed and not one.was_duplicate]
        new = new[: max(0, LISTED - len(self.summary.learnt))]
        ids = [memory_id for one in new for memory_id in (one.memory_id, *one.superseded) if memory_id is not None]
        known = await self.engine.store.get_many(ids, scopes=self.engine.reach(self.actor)) if ids else {}
        for one in new:
            if (memory := known.get(one.memory_id or "")) is None:
                continue
            was = [known[other].content for other in one.superseded if other in known]
            self.summary.learnt.append(
                {
                    "change": "waits" if one.was_flagged else "changed" if was else "new",
                    "memory_id": memory.memory_id,
                    "key": memory.key,
                    "content": memory.content,
                    "was": was,
                }
            )

    def _count(self, place: str, said: object, report: RunReport) -> None:
        self.summary.cost += report.cost
        self.summary.degraded.update(error for error in report.errors if error.startswith("extract:"))
        self.summary.captured.update(captured_in(report))
        self.summary.waiting += sum(
            one.outcome is Outcome.PENDING_REVIEW and not one.replayed for one in report.receipts
        )
        for blocked in report.blocked:
            self.summary.blocked[f"{blocked.key or 'memory'}: {blocked.reason}"] += 1
        words = said.content if isinstance(said, Message) else ""
        left = [(one.reason, words if one.span is None else words[slice(*one.span)]) for one in report.skipped]
        left = [(reason, part) for reason, part in left if not part or any(map(str.isalnum, part))]  # ")" of ";)"
        self.summary.left_out.update(reason for reason, _ in left)
        for reason, part in left[: max(0, LISTED - len(self.summary.passed_over))]:
            self.summary.passed_over.append({"place": place, "reason": reason, "words": part[:LONGEST_WORDS]})
        if report.status != "ok":
            self.summary.fail(place, report.stop_reason)


def is_nod(message: Message) -> bool:
    """Return True for an assistant's "Noted.": it is the context of what follows, and not worth a memory."""
    said = message.content
    return message.role == "assistant" and len(said.split()) <= NOD and "?" not in said and not is_worth_a_call(said)


def captured_in(report: RunReport) -> Iterator[str]:
    """Yield the key of each memory that a capture made, or `without_key`: how an import and its dry run count."""
    for receipt in report.receipts:
        if receipt.stored and not receipt.replayed and not receipt.was_duplicate:
            yield receipt.key or "without_key"


def _hint(place: str, problem: InvalidInput) -> str:
    hint = problem.hint or problem.reason
    return hint if hint.startswith(place) else f"{place}: {hint}"
