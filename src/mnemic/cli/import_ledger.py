"""Ledger of the imports into a user's memory: which entries of files are taken in, so that none is taken in twice.

An entry is known by its content and its conversation, not by its place: a later export of the same chat has its
messages at other places. Lines of the ledger are stored answers (`remember_request`) under keys of the user. They
survive the memories that were made of an entry, so that what was forgotten does not come back, and are erased with the
user.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from mnemic.engine import MemoryEngine
from mnemic.extract import Extraction, is_users_own
from mnemic.importers.file_readers import Item
from mnemic.maintenance.archive import Archived, ArchivedMemory
from mnemic.types import Actor, Candidate, Message, Outcome
from mnemic.types.trace import RunReport
from mnemic.unit_of_work import AnsweredRequest, Mutation, Unit, commit
from mnemic.write.fingerprint import item_key, request_key

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
