"""Partitions as they are stored: their state and rows, the lists of them, and a cache of what a write reads."""

from __future__ import annotations

import asyncio
import secrets
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from mnemic.errors import StoreBusy, StoreUnavailable
from mnemic.ports.record_store import moment_began
from mnemic.stores.cassandra.connection import Connection, pause, some_at_once
from mnemic.stores.cassandra.encoding import pack_row, sortable_key, unpack_row
from mnemic.stores.cassandra.routing import MARKED, NAMES, Partition, bit_of_path, of_tenant
from mnemic.stores.row_store_adapter.tables import MARK, PLACE, REQUEST, SCOPE

REPEATED = frozenset({MARK, REQUEST})
"""Tables from which one write reads the same rows more than once."""

KEPT_SECONDS = 10.0
"""Seconds for which an answer is used. It is correct while its partition has the same version; the limit is for an
answer that lacked a row, as may happen for a moment while nodes join or leave.
"""

_MOST = 4096
_MOST_SINGLES = 4
_MAX_BYTES = 4096
"""Maximum bytes of a cached answer: those that a write needs are short."""

Question = tuple[Partition, int, tuple[Any, ...]]
"""A partition, its version, and the query."""

Answer = list[tuple[bytes, bytes]]
"""Keys and rows."""


class Answers:
    """LRU cache of short answers, each about one version of a partition. Rows change with the version only, so if the
    version was read again, the cached answer equals that of the servers.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._singles: dict[str, None] = {}
        self._known: OrderedDict[Question, tuple[float, Answer]] = OrderedDict()

    def note_single(self, name: str) -> None:
        """Note that a write asks for this one mark."""
        self._singles[name] = None
        while len(self._singles) > _MOST_SINGLES:
            del self._singles[next(iter(self._singles))]

    def singles(self) -> list[str]:
        """Return the marks that writes have asked for one by one: the next one asks for them, of its tenant."""
        return list(self._singles)

    def find(self, question: Question) -> Answer | None:
        """Return the cached answer, if there is one."""
        at, answer = self._known.get(question, (-KEPT_SECONDS, []))
        return answer if self._clock() - at < KEPT_SECONDS else None

    def keep(self, answers: Mapping[Question, Answer]) -> None:
        """Cache answers if their partitions had the same version afterwards: an empty answer does not name its version.
        A cached one retains its time.
        """
        now = self._clock()
        for question, answer in answers.items():
            if self.find(question) is None and sum(len(key) + len(row) for key, row in answer) <= _MAX_BYTES:
                self._known[question] = now, answer
            if question in self._known:
                self._known.move_to_end(question)
        while len(self._known) > _MOST:
            self._known.popitem(last=False)


SHARDS = 16
"""Partitions over which the lists of partitions are spread."""

_AT_ONCE = 16
_MAX_CONFIRMED = 10_000
_MAX_KNOWN = 10_000
_LAST = 8

_NOTHING = -1
"""A version that no partition has."""

_ANNOUNCED_FOR = 120.0
"""Seconds for which this process relies on an announcement. The server keeps one for four minutes."""

LEASE = 2.0
"""Seconds after which any process may abort an undecided change over several partitions."""

BATCH_BYTES = 24 * 1024
"""Bytes of one lightweight transaction; servers refuse batches of 50 KiB."""

Written = tuple[str, bytes, bytes | None]
"""Name of a table, key, and the row that has it now; None if it was removed."""


@dataclass(slots=True)
class Head:
    """The state of a partition and its small rows. `version` is None if nothing was ever written.

    `sure`: the last answer had this version, so all answers before it had the same. `confirmed`: a majority has all of
    this version (`Partitions.head`).
    """

    version: int | None
    writers: str
    small: dict[tuple[str, bytes], bytes] = field(default_factory=dict)
    sure: bool = True
    confirmed: bool = True

    def may_have_mark(self, name: str) -> bool:
        """Check whether a tenant may have a mark under the path of this one."""
        stored = self.small.get((NAMES[MARKED], b""))
        return stored is not None and bool(int.from_bytes(unpack_row(stored)[0], "big") & bit_of_path(name))

    @property
    def counts_changes(self) -> bool:
        """Return True if memories were ever written there: who switches the vector space changes such scopes."""
        return (NAMES[SCOPE], b"") in self.small


class Known(NamedTuple):
    """The last head of a scope that this process has read or written, and the time at which it asked for it.

    `tenant` and `everywhere` are the heads of the tenant's rows outside its scopes and of the rows of no tenant, read
    after that of the scope: who changes the marks of a tenant, or the vector space, changes the versions of the scopes
    afterwards. So they are as current as the scope is; those of the tenant as long as the scope is announced
    (`mnemic.stores.cassandra.commit`).
    """

    head: Head
    asked: float
    tenant: Head | None = None
    everywhere: Head | None = None


class Partitions:
    """Partitions of one installation in the keyspace of `link`."""

    def __init__(self, link: Connection, prefix: str) -> None:
        self.link = link
        self.answers = Answers()
        self._prefix = prefix
        self._confirmed: OrderedDict[Partition, int | None] = OrderedDict()
        self._shared: set[Partition] = set()
        """Those in which the last look has found what another process had written."""
        self._known: OrderedDict[Partition, Known] = OrderedDict()
        self._announced: OrderedDict[Partition, float] = OrderedDict()
        self._beside: OrderedDict[Partition, tuple[float, Head]] = OrderedDict()
        """The last heads of rows outside scopes, which may have changed since, and when they were asked for."""

    def key(self, home: Partition) -> tuple[str, str, str]:
        """Return the key of a partition as it is stored."""
        return self._prefix + home.tenant, home.level, home.owner

    def part(self, home: Partition) -> str:
        """Return the name of a partition in a change."""
        return "\x1f".join(self.key(home))

    def shard(self, tenant: str) -> tuple[int, str]:
        """Return the list that contains a tenant."""
        stored = self._prefix + tenant
        return zlib.crc32(stored.encode("utf-8", "surrogatepass")) % SHARDS, stored

    async def head(
        self, home: Partition, *, now: bool = False, writes: bool = False, hasty: bool = False, serial: bool = False
    ) -> Head:
        """Return the state of a partition and its small rows, once no change over several partitions locks it; with
        `now` not as of the beginning of the call. Who `writes` waits for one answer, where a reader asks again only if
        the first answer makes that necessary.

        A version that this process has neither committed nor confirmed is read serially: a commit that is still under
        way, or whose coordinator was lost, may be on one replica alone, and reads repair its version on others without
        its rows. Once a serial read has shown it, a majority has all of it. A `hasty` caller gets the head before that,
        not `confirmed`, and reads on serially while it confirms the version: `serial` asks for nothing else.
        """
        since = None if now else moment_began()
        if since is not None and (head := self._since(home, since)) is not None:
            return replace(head)  # a copy: who reads on notes in it whether it is sure
        began = time.monotonic()
        known = home in self._confirmed
        serial = serial or not known or (writes and home in self._shared)
        while True:
            asked = time.monotonic()
            head, pending = await self._head(home, serial=serial, both=not known and (writes or not home.level))
            if pending is not None:
                await self.settle(home, pending, began)
            elif serial or self._confirmed.get(home, -1) == head.version:
                if known and self._confirmed.get(home, head.version) != head.version:
                    self._shared.add(home)
                else:
                    self._shared.discard(home)
                self.confirm(home, head.version)
                self.learn(home, head, asked)
                if not home.level:
                    self._note_beside(home, head, asked)
                return head
            elif hasty:
                return replace(head, confirmed=False)
            else:
                serial = True

    def _note_beside(self, home: Partition, head: Head, asked: float) -> None:
        self._beside[home] = asked, replace(head)
        self._beside.move_to_end(home)
        while len(self._beside) > _MAX_KNOWN:
            self._beside.popitem(last=False)

    def forget_beside(self, home: Partition) -> None:
        """Forget the last head of rows outside scopes: another process has changed what depends on it."""
        self._beside.pop(home, None)

    def last_beside(self, home: Partition) -> Head | None:
        """Return the head of rows outside scopes as this process has read it last."""
        return self._beside[home][1] if home in self._beside else None

    def _since(self, home: Partition, since: float) -> Head | None:
        """Return the head of a partition as this process has read it since a moment: of a tenant's rows outside its
        scopes also as it knows it beside one of the scopes read last.
        """
        if home.level:
            known = self._known.get(home)
            return None if known is None or known.asked < since else known.head
        asked, head = self._beside.get(home, (0.0, None))
        if head is not None and asked >= since:
            return head
        for scope in islice(reversed(self._known), _LAST):
            known = self._known[scope]
            as_known = known.tenant if scope.tenant == home.tenant and self.is_announced(scope) else None
            if as_known is not None and known.asked >= since:
                return as_known
        return None

    async def _head(self, home: Partition, *, serial: bool, both: bool) -> tuple[Head, Any]:
        """Return the state of a partition with its small rows, and the change that locks it. With `both`, state and
        rows are asked for at once, for a partition that may be empty.
        """
        key = self.key(home)
        rows, state = await asyncio.gather(
            self.link.ask("small", key, serial=serial), self.state(home) if both else _nothing()
        )
        if rows:
            return _head_of(rows)
        # An empty answer does not name its version. A majority without one has seen no commit that was acknowledged.
        if (state or await self.state(home))[0::2] == (None, None):
            return Head(None, ""), None
        # Rows that are read again after the state cannot be older than the version; otherwise rows from before a commit
        # would pass for its own.
        version, writers, pending = await self.state(home, serial=serial)
        if rows := await self.link.ask("small", key, serial=serial):
            return _head_of(rows)
        return Head(version, writers or "", sure=False), pending

    def find_known(self, home: Partition) -> Known | None:
        """Return what this process knows of a scope."""
        return self._known.get(home)

    def known_at(self, home: Partition, version: int | None) -> Known | None:
        """Return what this process knows of a scope, if that is of this version."""
        known = self._known.get(home)
        return known if known is not None and known.head.version == version else None

    def knows_marks(self, home: Partition) -> bool:
        """Check whether this process knows the marks beside a scope, unless the scope has changed."""
        known = self._known.get(home)
        return known is not None and known.tenant is not None and self.is_announced(home)

    def learn(self, home: Partition, head: Head, asked: float, *, follows: int | None = _NOTHING) -> None:
        """Record the head of a scope, asked for at this time. What is known beside it stays if the version is the same,
        or if this process has written it on top of the version `follows`.
        """
        known = self._known.get(home)
        if home.level in ("", "audit") or (known is not None and _number(known.head) > _number(head)):
            return
        asked_last, tenant, everywhere = asked, None, None
        if known is not None and known.head.version in (head.version, follows):
            asked_last, tenant = max(asked, known.asked), known.tenant
            everywhere = self.everywhere_beside(home, known)
        self._known[home] = Known(replace(head, sure=True), asked_last, tenant, everywhere)
        self._known.move_to_end(home)
        while len(self._known) > _MAX_KNOWN:
            self._known.popitem(last=False)

    def bind(
        self, home: Partition, version: int | None, *, everywhere: Head | None, tenant: Head | None = None
    ) -> None:
        """Record heads that were read after that of a scope at this version."""
        known = self.known_at(home, version)
        if known is not None:
            self._known[home] = known._replace(everywhere=everywhere, tenant=tenant or known.tenant)

    def everywhere_beside(self, home: Partition, known: Known) -> Head | None:
        """Return the head of the rows of no tenant that is known beside a scope, if that is as current as the scope: a
        switch of the vector space changes scopes with memories, and those that are announced.
        """
        return known.everywhere if known.head.counts_changes or self.is_announced(home) else None

    def unlearn(self, home: Partition) -> None:
        """Forget what is known of a partition: somebody else has written there."""
        if home.level:
            self._known.pop(home, None)
            return
        for scope in list(islice(reversed(self._known), _LAST)):
            if scope.tenant == home.tenant:
                self._known[scope] = self._known[scope]._replace(tenant=None)

    def is_announced(self, home: Partition) -> bool:
        """Check whether this process is announced as a writer of a scope."""
        return time.monotonic() - self._announced.get(home, -_ANNOUNCED_FOR) < _ANNOUNCED_FOR

    async def announce(self, home: Partition, *, soon: bool = False) -> None:
        """Announce this process as a writer of a scope, unless it is announced; with `soon` also if that ends soon."""
        before = self.is_announced(home)
        now = time.monotonic()
        if before and not (soon and now - self._announced[home] > _ANNOUNCED_FOR / 2):
            return
        if not before:
            # Who has changed a mark or the vector space meanwhile did not find this scope.
            known = self._known.get(home)
            if known is not None:
                self._known[home] = known._replace(tenant=None, everywhere=self.everywhere_beside(home, known))
        await self.link.write([("announce", (*self.key(home), secrets.token_hex(8)))])
        self._announced[home] = now
        self._announced.move_to_end(home)
        # Bounded: an announcement that is forgotten here is just written again.
        while len(self._announced) > _MAX_KNOWN:
            self._announced.popitem(last=False)

    def confirm(self, home: Partition, version: int | None) -> None:
        """Record that a majority of the replicas has this version of a partition."""
        self._confirmed[home] = version
        self._confirmed.move_to_end(home)
        while len(self._confirmed) > _MAX_CONFIRMED:
            self._shared.discard(self._confirmed.popitem(last=False)[0])

    def confirmed_version(self, home: Partition) -> int | None:
        """Return the last version of a partition that this process knows to be stored."""
        return self._confirmed.get(home)

    async def state(self, home: Partition, *, serial: bool = False) -> tuple[Any, Any, Any]:
        """Return version, last writers and the holder of a partition."""
        found = await self.link.ask("state", self.key(home), serial=serial)
        return found[0] if found else (None, None, None)

    async def get(self, home: Partition, name: str, keys: Sequence[bytes], *, serial: bool = False) -> list[Any]:
        """Return rows by their keys, each with key, value, version and holder."""
        return await self.link.ask("get", (*self.key(home), name, list(keys)), serial=serial)

    async def claim(self, home: Partition, memory_id: str) -> bool:
        """Claim an identifier for a memory of a scope; return False if another scope of the tenant has or claims it."""
        stored, level, owner = self.key(home)
        if not await self.link.change([("claim", (stored, memory_id, level, owner))], settled=None):
            found = await self.link.ask("claimed", (stored, memory_id), serial=True)
            if found and found[0] != (level, owner):
                return False
        others = [
            other
            for other in await self.partitions_of_tenant(home.tenant)
            if other not in (home, of_tenant(home.tenant))
        ]
        key = [sortable_key((memory_id,))]
        asks = (partial(self.get, other, NAMES[PLACE], key) for other in others)
        return not any(await some_at_once(asks, most=_AT_ONCE))

    async def scan(
        self, home: Partition, name: str, first: bytes, end: bytes, limit: int, *, reverse: bool, serial: bool = False
    ) -> list[Any]:
        """Return the rows of a range of keys."""
        values = (*self.key(home), name, first, end, limit)
        return await self.link.ask("scan_back" if reverse else "scan", values, serial=serial)

    async def repair(self, home: Partition, name: str) -> bool:
        """Read a table from every replica, which gives each its missing rows; return False if one is away."""
        try:
            await self.link.ask("whole", (*self.key(home), name), of_all=True)
        except (StoreBusy, StoreUnavailable):
            return False
        return True

    async def tenants(self) -> list[str]:
        """Return all tenants."""
        found = await asyncio.gather(*(self.link.ask("tenants", (shard,)) for shard in range(SHARDS)))
        named = {row[0] for rows in found for row in rows if row[0].startswith(self._prefix)}
        return sorted(name[len(self._prefix) :] for name in named)

    async def partitions_of_tenant(self, tenant: str) -> list[Partition]:
        """Return the partitions of a tenant that have ever been written to, except its audit."""
        return [Partition(tenant, *row) for row in await self.link.ask("listed", self.shard(tenant))]

    async def partitions_to_collect(self, tenant: str | None) -> dict[Partition, list[str]]:
        """Return the partitions with journals to be collected, and the notes that list them."""
        if tenant is not None:
            rows = await self.link.ask("noted_of", self.shard(tenant))
        else:
            found = await asyncio.gather(*(self.link.ask("noted", (shard,)) for shard in range(SHARDS)))
            rows = [row for some in found for row in some if row[0].startswith(self._prefix)]
        notes: dict[Partition, list[str]] = {}
        for stored, level, owner, note in rows:
            notes.setdefault(Partition(stored[len(self._prefix) :], level, owner), []).append(note)
        return notes

    async def unnote(self, home: Partition, notes: Sequence[str]) -> None:
        """Remove notes of a partition that was collected."""
        place = (*self.shard(home.tenant), home.level, home.owner)
        await self.link.write([("unnote", (beyond_clocks(), *place, note)) for note in notes])

    async def settle(self, home: Partition, change: str, began: float) -> None:
        """Complete a change that locks a partition: apply it if it is committed, roll it back if it is not decided in
        time. `began` is the time at which it was first seen.
        """
        state = await self.decision(change)
        if state == "open" and time.monotonic() - began < LEASE:
            await pause(0.01, 0.05)
        elif state == "open":
            await self.decide(change, "aborted")
        elif state == "committed":
            redo = await self.link.ask("redone", (change, self.part(home)))
            if redo:
                await self.make(home, change, redo[0][0])
        # A change is forgotten after every partition was let go of, so an answer without its decision is most likely
        # wrong: while nodes join or leave, a majority may lack it for a moment. Letting go would lose the rows of a
        # committed change; only a refusal that is accepted proves that nothing was decided.
        elif state == "aborted" or await self.link.change([("refuse", (change,))], settled=None):
            await self.link.change([("release", (*self.key(home), change))], settled=None)

    async def sweep(self, age: float = 3600.0) -> int:
        """Finish the changes that ended processes left unfinished more than `age` seconds ago, and remove their
        leftovers; return their number. No running process takes so long for one.
        """
        left: dict[str, list[tuple[str, int]]] = {}
        for change, part, written in await self.link.ask("left", ()):
            if part.startswith(self._prefix) and written is not None:
                left.setdefault(change, []).append((part, written))
        before = time.time() - age
        old = [change for change, parts in left.items() if max(written for _, written in parts) / 1e6 <= before]
        for change in old:
            for part, _ in left[change]:
                stored, level, owner = part.split("\x1f")
                await self.head(Partition(stored[len(self._prefix) :], level, owner))
            await self.forget(change)
        return len(old)

    async def forget(self, change: str) -> None:
        """Remove a finished change."""
        await self.link.write([("forget", (beyond_clocks(), change))])

    async def decision(self, change: str) -> str | None:
        """Return the state of a change: open, committed or aborted; None if there is none (any more)."""
        found = await self.link.ask("decided", (change,), serial=True)
        return found[0][0] if found else None

    async def decide(self, change: str, state: str) -> bool:
        """Decide an open change; return True if this decision is the recorded one."""

        async def is_settled() -> bool:
            return await self.decision(change) == state

        return await self.link.change([("decide", (state, change))], settled=is_settled)

    async def make(self, home: Partition, change: str, redo: bytes) -> bool:
        """Write a committed change's rows in one partition, and unlock it. Return True if the change no longer locks
        it, also if another process has finished it there.
        """
        version, writers, *flat = unpack_row(redo)
        written: list[Written] = list(zip(flat[::3], flat[1::3], flat[2::3], strict=True))
        *parts, last = in_batches(written)
        key = self.key(home)
        for part in parts:
            if not await self.link.change(
                [("while_locked", (change, *key, change)), *self.rows(home, part)], settled=None
            ):
                return await self._is_free(home, change)
        finish = [("finish", (version, writers, *key, change)), *self.rows(home, last)]
        self.unlearn(home)
        if await self.link.change(finish, settled=None):
            self.confirm(home, version)
            return True
        return await self._is_free(home, change)

    async def _is_free(self, home: Partition, change: str) -> bool:
        return bool((await self.state(home, serial=True))[2] != change)

    def rows(self, home: Partition, written: Sequence[Written]) -> list[tuple[str, tuple[Any, ...]]]:
        """Return the statements that write these rows."""
        key = self.key(home)
        return [
            ("remove", (*key, name, place)) if value is None else ("put", (*key, name, place, value))
            for name, place, value in written
        ]


def _head_of(rows: Sequence[Any]) -> tuple[Head, Any]:
    """Return the head in these small rows, and the change that locks the partition."""
    _, _, _, version, writers, pending = rows[0]
    return Head(version, writers or "", {(name, key): value for name, key, value, *_ in rows}), pending


async def _nothing() -> None:
    return None


def _number(head: Head) -> int:
    return head.version or 0


def beyond_clocks() -> int:
    """Return the timestamp for removing a value written once, by any clock: a day from now, in microseconds. Its name
    is never used again.
    """
    return time.time_ns() // 1000 + 86_400_000_000


def redo_of(version: int, writers: str, written: Sequence[Written]) -> bytes:
    """Return the rows that a change writes in one partition, as bytes."""
    return pack_row((version, writers, *(value for each in written for value in each)))


def in_batches(written: Sequence[Written]) -> list[list[Written]]:
    """Return the rows in batches of a size that servers accept; at least one batch."""
    batches: list[list[Written]] = [[]]
    size = 0
    for each in written:
        more = len(each[1]) + len(each[2] or b"") + 100
        if size + more > BATCH_BYTES and batches[-1]:
            batches.append([])
            size = 0
        batches[-1].append(each)
        size += more
    return batches
