"""View of a transaction or a snapshot: partitions as of one version each, with its own changes on top."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from mnemic.ports.database_backend import Row, RowReads, Table
from mnemic.stores.cassandra.connection import some_at_once
from mnemic.stores.cassandra.encoding import end_of, pack_row, sortable_key, unpack_row
from mnemic.stores.cassandra.partitions import REPEATED, Head, Known
from mnemic.stores.cassandra.routing import (
    AUDIT_BUCKET,
    AUDIT_END,
    CHANGED,
    EVERYWHERE,
    MARKED,
    NAMES,
    OF_MEMORY,
    SMALL,
    Partition,
    of_audit,
    of_tenant,
    partition_of,
    width_of,
    with_paths,
)
from mnemic.stores.row_store_adapter.tables import AUDIT, EARLIER, MARK, MEMORY, PLACE, SCOPE, TENANT
from mnemic.stores.store_verbs import Step, drive

if TYPE_CHECKING:
    from mnemic.stores.cassandra.partitions import Answer, Partitions, Question

T = TypeVar("T")

_MOST = 2**31 - 1
_AT_ONCE = 16
_MOST_LISTED = 8
"""Changed memories that a scope lists: every read of the scope brings the list along."""

_LOOKS_APART = 5
"""Maximum repetitions of unconfirmed reads while a partition keeps changing."""


class PartitionChanged(Exception):
    """A partition changed while it was read."""


class UnansweredTransaction(NamedTuple):
    """A lightweight transaction without an answer: its partition, the version that it expected, and its writer's name.

    It may still be made after the look-up, as long as no other transaction has changed that version.
    """

    home: Partition
    version: int
    name: str


@dataclass(frozen=True, slots=True)
class _Range:
    """The part of a table that a scan covers."""

    prefix: Row
    after: str | int | None
    before: str | int | None
    limit: int | None
    reverse: bool

    def holds(self, key: Row) -> bool:
        """Check whether a key is in it."""
        last = key[-1]
        return (
            key[: len(self.prefix)] == self.prefix
            and (self.after is None or last > self.after)
            and (self.before is None or last < self.before)
        )

    def bounds(self, width: int) -> tuple[bytes, bytes]:
        """Return the first key, and the one behind the last, without the columns that the partition determines."""
        prefix = self.prefix[width:]
        first = sortable_key(prefix) if self.after is None else sortable_key((*prefix, self.after)) + b"\x00"
        return first, end_of(prefix) if self.before is None else sortable_key((*prefix, self.before))

    def path(self) -> str | None:
        """Return the path of all marks that the caller of the scan wants (`mnemic.stores.row_store_adapter`), if it is
        one; None otherwise.
        """
        after, before = self.after, self.before
        return after if isinstance(after, str) and "/" in after and before == f"{after}0" else None

    def first(self, table: Table, rows: Sequence[Row]) -> list[Row]:
        """Return those of these rows that the scan covers, in its order."""
        return sorted(rows, key=table.key_of, reverse=self.reverse)[: self.limit]


def marks_under(path: str) -> tuple[Any, ...]:
    """Return the question for the marks under a path, as the port's `marks` asks it."""
    first, end = _Range(("",), path[:-1], path[:-1] + "0", None, False).bounds(width_of(MARK))
    return NAMES[MARK], first, end, _MOST, False


class View:
    """The port's `RowChange`. Its queries are steps that the driver of the work awaits."""

    def __init__(self, partitions: Partitions, *, recalls: bool = False, serial: bool = False) -> None:
        self.recalls = recalls
        """Take what this process knows of a scope without asking: the commit finds out whether it has changed."""
        self._serial = serial
        """Settle pending commits before each answer: the heads given to this view are not confirmed."""
        self._partitions = partitions
        self.heads: dict[Partition, Head] = {}
        self.changes: defaultdict[Partition, dict[tuple[Table, Row], Row | None]] = defaultdict(dict)
        self.homes: dict[Row, Partition] = {}
        """The partitions of memories, by tenant and identifier, as far as they are known."""
        self.answers: dict[Question, Answer] = {}
        """Answers about tables that are read repeatedly; they are cached once the versions are confirmed."""
        self.unanswered: UnansweredTransaction | None = None
        """The commit of this view, if no answer came."""

    async def get(self, table: Table, keys: Sequence[Row]) -> list[Row]:
        step: Step[list[Row]] = Step(partial(self._get, table, list(dict.fromkeys(keys))))
        return await step

    async def scan(
        self,
        table: Table,
        prefix: Row,
        *,
        after: str | int | None = None,
        before: str | int | None = None,
        limit: int | None = None,
        reverse: bool = False,
    ) -> list[Row]:
        step: Step[list[Row]] = Step(partial(self._scan, table, _Range(prefix, after, before, limit, reverse)))
        return await step

    async def scan_at(
        self,
        homes: Sequence[Partition],
        table: Table,
        *,
        after: str | None = None,
        limit: int | None = None,
        reverse: bool = False,
    ) -> list[Row]:
        """Return the rows that a table has in these partitions of one tenant, up to `limit` of each."""
        asks = [
            partial(self._scan_in, home, table, _Range((home.tenant,), after, None, limit, reverse)) for home in homes
        ]
        step: Step[list[list[Row]]] = Step(partial(some_at_once, asks, most=_AT_ONCE))
        return list(chain.from_iterable(await step))

    async def changed_since(self, place: Row, changes: int) -> list[str] | None:
        """Return the memories that have changed in a scope since this change count; None if they are not listed."""
        found = await self.get(CHANGED, [place])
        if not found or changes < found[0][3]:
            return None
        values = iter(unpack_row(found[0][4]))
        return list(
            dict.fromkeys(memory_id for count, memory_id in zip(values, values, strict=True) if count > changes)
        )

    async def get_changed(self, place: Row, memory_ids: Sequence[str]) -> tuple[list[Row], list[Row]]:
        home = Partition(*place)
        asks = [partial(self._get, MEMORY, [(*place, one) for one in memory_ids])]
        versions = (_Range((home.tenant, one), None, None, None, False) for one in memory_ids)
        asks += [partial(self._scan_in, home, EARLIER, each) for each in versions]
        step: Step[list[list[Row]]] = Step(partial(some_at_once, asks, most=_AT_ONCE))
        found, *answers = await step
        earlier = {one: rows for one, rows in zip(memory_ids, answers, strict=True) if rows}
        revised = {row[3] for row in found if row[4] > 1}
        # Answers of the same moment: one without rows is of this version only where the memory's row says that there
        # are no earlier ones.
        self.heads[home].sure = bool(found) and revised <= earlier.keys()
        return found, [row for one in revised & earlier.keys() for row in earlier[one]]

    async def earlier_in(self, place: Row) -> list[Row]:
        return await self.scan_at([Partition(*place)], EARLIER)

    def list_changes(self) -> None:
        """Add the memories that this view changes to the lists of their scopes."""
        for home, changes in self.changes.items():
            counted = changes.get((SCOPE, tuple(home)))
            if home.tenant and not home.level:
                self._list_paths(home, changes)
            if counted is None:
                continue
            count, before = counted[-1], self.small(CHANGED, tuple(home))
            floor, recent = (count - 1, ()) if before is None else (before[3], unpack_row(before[4]))
            listed = [*zip(recent[::2], recent[1::2], strict=True)]
            listed += sorted((count, key[3]) for table, key in changes if table == MEMORY)
            if len(listed) > _MOST_LISTED:
                floor = listed[-_MOST_LISTED - 1][0]
            row = (*home, floor, pack_row(tuple(value for one in listed if one[0] > floor for value in one)))
            changes[CHANGED, tuple(home)] = row

    def _list_paths(self, home: Partition, changes: dict[tuple[Table, Row], Row | None]) -> None:
        """Add the paths of new marks to the set of their tenant."""
        names = [key[1] for (table, key), row in changes.items() if table == MARK and row is not None]
        if any(not self.heads[home].may_have_mark(name) for name in names):
            before = self.small(MARKED, (home.tenant,))
            changes[MARKED, (home.tenant,)] = (home.tenant, with_paths(before[1] if before else b"", names))

    async def uncounted_scopes(self, tenant: str) -> list[Partition]:
        """Return the scopes of a tenant whose journals have lines to be collected, and those that this view changes."""
        step: Step[dict[Partition, list[str]]] = Step(partial(self._partitions.partitions_to_collect, tenant))
        mine = (home for home, changes in self.changes.items() if changes and home.tenant == tenant)
        return sorted(home for home in {*await step, *mine} if home.level not in ("", "audit"))

    async def put(self, table: Table, rows: Sequence[Row]) -> None:
        await Step(partial(self._change, table, [(table.key_of(row), row) for row in rows]))

    async def remove(self, table: Table, keys: Sequence[Row]) -> None:
        await Step(partial(self._change, table, [(key, None) for key in keys]))

    async def read_apart(self, work: Callable[[RowReads], Awaitable[T]]) -> T:
        """Return the results of reads that the commit does not confirm, with the changes of this view: concurrent
        changes of the rows read do not matter.
        """
        step: Step[T] = Step(partial(self._read_apart, work))
        return await step

    async def _read_apart(self, work: Callable[[RowReads], Awaitable[T]]) -> T:
        for _ in range(_LOOKS_APART):
            view = View(self._partitions)
            view.changes, view.homes = self.changes, dict(self.homes)
            with suppress(PartitionChanged):
                return await drive(work, view)
            for home in view.heads:
                self._partitions.unlearn(home)
        raise PartitionChanged

    async def _get(self, table: Table, keys: list[Row]) -> list[Row]:
        asked: defaultdict[Partition, list[Row]] = defaultdict(list)
        for key in keys:
            for home in await self._homes_of(table, key):
                asked[home].append(key)
        asks = (partial(self._get_in, home, table, some) for home, some in asked.items())
        return list(chain.from_iterable(await some_at_once(asks, most=_AT_ONCE)))

    async def _homes_of(self, table: Table, key: Row) -> Sequence[Partition]:
        """Return the partitions that may have rows of the table with keys that begin with `key`."""
        home = partition_of(table, key)
        if home is None and table in OF_MEMORY and len(key) >= 2:
            home = self.homes.get(key[:2])
        if home is not None:
            return [home]
        if not key:
            tenants = {*await self._partitions.tenants(), *(one.tenant for one in self.changes if one.tenant)}
            if table == TENANT:
                return [of_tenant(tenant) for tenant in tenants]
            return list(chain.from_iterable([await self._partitions_of_tenant(tenant) for tenant in tenants]))
        return await self._partitions_of_tenant(key[0])

    async def _partitions_of_tenant(self, tenant: str) -> list[Partition]:
        """Return all partitions of a tenant except those of its audit."""
        mine = {one for one in self.changes if one.tenant == tenant and one.level != "audit"}
        return sorted({*await self._partitions.partitions_of_tenant(tenant), of_tenant(tenant), *mine})

    async def head(self, home: Partition) -> Head:
        """Return the state of a partition as this view sees it."""
        known = self.heads.get(home) or self._recall(home)
        if known is None:
            bound = self._bound_to(home)
            known = await self._partitions.head(home)
            for scope in bound:
                self._partitions.bind(scope, self.heads[scope].version, everywhere=known)
        self.heads[home] = known
        return known

    def _bound_to(self, home: Partition) -> list[Partition]:
        """Return the scopes read so far whose versions prove what is now read of this partition."""
        if home != EVERYWHERE:
            return []
        announced = self._partitions.is_announced
        return [one for one, head in self.heads.items() if one.level and (head.counts_changes or announced(one))]

    def _recall(self, home: Partition) -> Head | None:
        """Return the head of a partition as this process knows it, if that is enough."""
        if home.level == "audit":
            return None
        if home.level:
            known = self._partitions.find_known(home) if self.recalls else None
            return None if known is None else replace(known.head, sure=False)
        for scope, head in self.heads.items():
            known = self._partitions.known_at(scope, head.version)
            beside = None if known is None else self._head_beside(scope, known, home)
            if beside is not None:
                return replace(beside, sure=False)
        return None

    def _head_beside(self, scope: Partition, known: Known, home: Partition) -> Head | None:
        """Return the head that is known beside that of a scope, if it is as current as that."""
        if home == EVERYWHERE:
            return self._partitions.everywhere_beside(scope, known)
        return known.tenant if scope.tenant == home.tenant and self._partitions.is_announced(scope) else None

    async def ask_heads(self, scopes: Sequence[Partition]) -> None:
        """Read the heads of these scopes at once, and those of their tenants that are not known beside them."""
        knows = self._partitions.knows_marks
        tenants = (of_tenant(scope.tenant) for scope in scopes if not knows(scope))
        wanted = [home for home in dict.fromkeys((*scopes, *tenants)) if home not in self.heads]
        step: Step[list[Head]] = Step(partial(some_at_once, [partial(self.head, one) for one in wanted], most=_AT_ONCE))
        await step

    async def _get_in(self, home: Partition, table: Table, keys: list[Row]) -> list[Row]:
        mine, width = self.changes.get(home, {}), width_of(table)
        if table == MARK:
            head = await self.head(home)
            keys = [key for key in keys if (table, key) in mine or head.may_have_mark(key[1])]
        changed = [mine[table, key] for key in keys if (table, key) in mine]
        rows = [row for row in changed if row is not None]
        if asked := [sortable_key(key[width:]) for key in keys if (table, key) not in mine]:
            head = await self.head(home)
            if table in SMALL:
                found = [(key, head.small[NAMES[table], key]) for key in asked if (NAMES[table], key) in head.small]
            # Nothing was ever written there, so no query is needed.
            elif head.version is None:
                found = []
            elif table == MARK and (under := self._under_known_path(home, head, keys)) is not None:
                found = under
            else:
                if table == MARK and len(keys) == 1:
                    self._partitions.answers.note_single(keys[0][1])
                get = partial(self._partitions.get, home, NAMES[table], asked, serial=self._serial)
                found = await self._ask_table(home, table, tuple(asked), get)
            rows += self._rows_of(home, table, found)
        return rows

    def _under_known_path(self, home: Partition, head: Head, keys: Sequence[Row]) -> Answer | None:
        """Return the rows of marks out of the marks under their path (`subject/ana/`), if those are known."""
        found: Answer = []
        for key in keys:
            name, place = key[1], sortable_key(key[width_of(MARK) :])
            ends = [at + 1 for at, letter in enumerate(name) if letter == "/"]
            known = (self._known_answer((home, head.version or 0, marks_under(name[:end]))) for end in ends)
            answer = next((answer for answer in known if answer is not None), None)
            if answer is None:
                return None
            found += [row for row in answer if row[0] == place]
        return found

    def _known_answer(self, question: Question) -> Answer | None:
        known = self.answers.get(question)
        return self._partitions.answers.find(question) if known is None else known

    async def _scan(self, table: Table, asked: _Range) -> list[Row]:
        if table == AUDIT:
            return await self._audit(asked)
        homes = await self._homes_of(table, asked.prefix)
        found = await some_at_once((partial(self._scan_in, home, table, asked) for home in homes), most=_AT_ONCE)
        return asked.first(table, list(chain.from_iterable(found)))

    async def _scan_in(self, home: Partition, table: Table, asked: _Range) -> list[Row]:
        head, mine = await self.head(home), self.changes.get(home, {})
        changed = {key: row for (name, key), row in mine.items() if name == table and asked.holds(key)}
        first, end = asked.bounds(width_of(table))
        if table in SMALL:
            name = NAMES[table]
            found = [(key, value) for (one, key), value in head.small.items() if one == name and first <= key < end]
        elif head.version is None or (table == MARK and (path := asked.path()) and not head.may_have_mark(path)):
            found = []
        else:
            limit = _MOST if asked.limit is None else asked.limit + len(changed)
            span = (first, end, limit, asked.reverse)
            name, serial = NAMES[table], self._serial
            scan = partial(self._partitions.scan, home, name, *span[:3], reverse=asked.reverse, serial=serial)
            found = await self._ask_table(home, table, span, scan)
        rows = {table.key_of(row): row for row in self._rows_of(home, table, found)}
        return asked.first(table, [row for row in (rows | changed).values() if row is not None])

    async def _audit(self, asked: _Range) -> list[Row]:
        """Return lines of an audit, bucket by bucket."""
        tenant = asked.prefix[0]
        end = await self._get(AUDIT_END, [(tenant,)])
        first = 1 + (asked.after if isinstance(asked.after, int) else 0)
        last = min(end[0][1] if end else 0, (asked.before - 1) if isinstance(asked.before, int) else _MOST)
        buckets = range(first // AUDIT_BUCKET, last // AUDIT_BUCKET + 1) if first <= last else range(0)
        found: list[Row] = []
        for bucket in reversed(buckets) if asked.reverse else buckets:
            found += await self._scan_in(of_audit(tenant, bucket * AUDIT_BUCKET), AUDIT, asked)
            if asked.limit is not None and len(found) >= asked.limit:
                break
        return asked.first(AUDIT, found)

    async def _ask_table(
        self, home: Partition, table: Table, what: tuple[Any, ...], ask: Callable[[], Awaitable[list[Any]]]
    ) -> Answer:
        """Return the keys and rows that `ask` finds in a table, or found before at the same version."""
        head = self.heads[home]
        if table not in REPEATED or head.version is None:
            return self._check_version(head, await ask())
        question = (home, head.version, (NAMES[table], *what))
        known = self._known_answer(question)
        if known is None:
            known = self._check_version(head, await ask())
        self.answers[question] = known
        return known

    def _check_version(
        self, head: Head, answer: Sequence[tuple[bytes, bytes, int, str | None]]
    ) -> list[tuple[bytes, bytes]]:
        """Return the keys and rows of an answer. Raises PartitionChanged if its version is not the one seen before."""
        if any(version != head.version or pending is not None for _, _, version, pending in answer):
            raise PartitionChanged
        head.sure = bool(answer)
        return [(key, stored) for key, stored, _, _ in answer]

    def _rows_of(self, home: Partition, table: Table, found: Sequence[tuple[bytes, bytes]]) -> list[Row]:
        rows = [(*home[: width_of(table)], *unpack_row(stored)) for _, stored in found]
        if table in (MEMORY, PLACE):
            self.homes |= {(home.tenant, row[table.key.index("memory_id")]): home for row in rows}
        return rows

    def small(self, table: Table, key: Row) -> Row | None:
        """Return a row of a small table in a partition that this view has read."""
        home = partition_of(table, key)
        assert home is not None
        if (table, key) in self.changes[home]:
            return self.changes[home][table, key]
        stored = self.heads[home].small.get((NAMES[table], sortable_key(key[width_of(table) :])))
        return None if stored is None else (*home[: width_of(table)], *unpack_row(stored))

    async def claim(self, home: Partition, memory_id: str) -> bool:
        """Claim an identifier that comes from elsewhere; return False if another scope of the tenant has it."""
        return await self._partitions.claim(home, memory_id)

    async def _change(self, table: Table, changes: Sequence[tuple[Row, Row | None]]) -> None:
        for key, row in changes:
            home = partition_of(table, key)
            if home is None and row is not None and table == PLACE:
                home = self.homes[key] = Partition(row[0], row[2], row[3])
            if home is None:
                home = await self._home_of(key)
            if home is None:
                continue
            if table == MEMORY:
                self.homes[key[0], key[3]] = home
            await self.head(home)
            self.changes[home][table, key] = row

    async def _home_of(self, key: Row) -> Partition | None:
        """Return the partition of a memory; None if there is none."""
        if key[:2] not in self.homes:
            await self._get(PLACE, [key[:2]])
        return self.homes.get(key[:2])
