"""The commit: one lightweight transaction if it writes one partition, a decided change if it writes several.

The rows that a transaction has read must be unchanged at its commit. The lightweight transaction's condition checks its
own partition. For marks of the tenant outside its scopes (consents, erasures) the writer announces itself and reads
them again; a process that changes a mark visits the announced partitions, so that a writer that missed the change is
refused. So does a process that switches the vector space, which changes every scope with memories anyway.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from mnemic.errors import CommitUnknown, MnemicError
from mnemic.stores.cassandra.connection import pause, some_at_once
from mnemic.stores.cassandra.encoding import pack_row, sortable_key, unpack_row
from mnemic.stores.cassandra.partitions import Head, Known, Partitions, Written, in_batches, redo_of
from mnemic.stores.cassandra.routing import (
    EVERYWHERE,
    JOURNAL,
    LANE,
    NAMES,
    PASSING,
    Partition,
    of_tenant,
    partition_of,
    width_of,
)
from mnemic.stores.cassandra.tenant_totals import with_lines
from mnemic.stores.cassandra.transaction_view import PartitionChanged, UnansweredTransaction, View, marks_under
from mnemic.stores.row_store_adapter.tables import MARK, REQUEST, SPACE

WRITERS, OF_SHARED = 8, 64
"""Number of writers that a partition records, so that a commit without an answer can be looked up. A partition that all
scopes of a tenant, or all tenants, share records more: more writers commit before the look-up.
"""


_AT_ONCE = 16
_MAX_PASSED = 10_000
_MAX_AHEAD = 10_000
_AHEAD_FOR = 2.0
"""Seconds for which what was read ahead of a write counts."""

_Note = tuple[str, tuple[object, ...]]


class Commits:
    """Commits of one process."""

    def __init__(self, partitions: Partitions) -> None:
        self._partitions = partitions
        self._link = partitions.link
        self._ahead: OrderedDict[Partition, int | None] = OrderedDict()
        """The versions at which scopes were listed for a commit that is expected (`_list`)."""
        self._read_ahead: WeakKeyDictionary[Any, tuple[Partition, float]] = WeakKeyDictionary()
        """The scope that a task has read ahead of its write, and when."""
        self._passed: OrderedDict[str, str] = OrderedDict()
        """The changes of tenants' marks of which this process knows that they were passed over."""

    async def commit(self, view: View) -> bool:
        """Apply the changes of a view, all or none; return False if it lost a race. Raises CommitUnknown."""
        for home, head in list(view.heads.items()):
            await self._pass_before(home, head)
        with_lines(view)
        view.list_changes()
        passing = _note_passing(view)
        written = [home for home, changes in view.changes.items() if changes]
        others = {home for home in view.heads if home not in written and home != EVERYWHERE}
        if EVERYWHERE in view.heads and EVERYWHERE not in written and any(map(partial(_begins, view), written)):
            others.add(EVERYWHERE)
        if not written:
            # A read of one partition whose last answer confirmed the version needs no second look: all of it was one
            # moment.
            read, scopes = others, {home for home in others if home.level not in ("", "audit")}
            if len(scopes) == 1 and not any(home.level for home in others - scopes):
                others = scopes  # marks read beside a scope need not be of the same moment
            sure = len(others) == 1 and all(view.heads[home].sure for home in others)
            return self._keep_answers(view, read) if sure or await self.holds(view, others) else False
        # Directory entries come before the commit: an entry for a partition that stays empty does no harm, a partition
        # without an entry could not be erased.
        await self._prepare(view, written)
        beside = {EVERYWHERE, *(of_tenant(home.tenant) for home in written)}
        rows = {home: written_rows(view, home) for home in written}
        single = len(written) == 1 and len(in_batches(rows[written[0]])) == 1
        # One partition and one batch: a single lightweight transaction decides and writes.
        if single and others <= beside and not _switches_space(view):
            made = await self._at_once(view, written[0], rows[written[0]], others)
        else:
            made = await self._commit_over_partitions(view, rows, others)
        if made:
            self._keep_answers(view, others)
            for tenant, token in passing.items():
                await self._pass_over(tenant, token, written)
        return made

    def _keep_answers(self, view: View, homes: Collection[Partition]) -> bool:
        """Cache the answers about partitions with confirmed versions; return True."""
        self._partitions.answers.keep({asked: answer for asked, answer in view.answers.items() if asked[0] in homes})
        return True

    async def holds(self, view: View, homes: Collection[Partition]) -> bool:
        """Check whether the answers read from these partitions are still valid."""
        states = await asyncio.gather(*(self._partitions.state(home) for home in homes))
        return all(
            state[0] == view.heads[home].version and state[2] is None for home, state in zip(homes, states, strict=True)
        )

    async def _prepare(self, view: View, written: Collection[Partition]) -> None:
        """List new partitions, and those with lines to be collected, in the directory."""
        notes: list[_Note] = []
        for home in written:
            head = view.heads[home]
            lines = any(table == JOURNAL and row is not None for (table, _), row in view.changes[home].items())
            if self._ahead.get(home, -1) != head.version:
                notes += self._notes_of(home, head, lines=lines)
        await self._link.write(notes)

    async def _list(self, home: Partition, head: Head) -> None:
        """List a scope for a commit that is expected on top of this version, beside other questions. Whoever removes
        the note meanwhile changes the version.
        """
        if self._ahead.get(home, -1) != head.version and (notes := self._notes_of(home, head, lines=True)):
            await self._link.write(notes)
            self._ahead[home] = head.version
            self._ahead.move_to_end(home)
            while len(self._ahead) > _MAX_AHEAD:
                self._ahead.popitem(last=False)

    def _notes_of(self, home: Partition, head: Head, *, lines: bool) -> list[_Note]:
        """Return what lists a partition that is new, or that has the first `lines` to be collected."""
        notes: list[_Note] = []
        # Who changes a mark gives a scope a version before its first row.
        if not head.small and home.level != "audit" and home != EVERYWHERE:
            notes.append(("list", (*self._partitions.shard(home.tenant), home.level, home.owner)))
        before = head.small.get((NAMES[LANE], sortable_key(home[width_of(LANE) :])))
        if lines and (before is None or _is_collected(before)):
            place = (*self._partitions.shard(home.tenant), home.level, home.owner)
            notes.append(("note", (*place, secrets.token_hex(8))))
        return notes

    async def _at_once(self, view: View, home: Partition, rows: list[Written], others: Collection[Partition]) -> bool:
        """Commit by one lightweight transaction on one partition."""
        if others and not self._proves(home, view, others):
            await self._partitions.announce(home)
            if not await self.holds(view, others):
                return False
        head, name, asked = view.heads[home], secrets.token_hex(6), time.monotonic()
        step = (_next(head), _writers(home, head, name), *self._partitions.key(home), head.version, None)
        statements = [("step", step), *self._partitions.rows(home, rows)]

        async def is_settled() -> bool:
            attempt = UnansweredTransaction(home, head.version or 0, name)
            made = await self.was_made(attempt)
            view.unanswered = attempt if made is None else None
            return made is True

        def note_refusal(answer: Sequence[Any]) -> None:
            # A majority has the version in a refusal, as after a serial read.
            *_, version, _ = answer
            self._partitions.confirm(home, version)

        try:
            made = await self._link.change(statements, settled=is_settled, refused=note_refusal)
        except MnemicError:
            self._partitions.unlearn(home)
            raise
        if made:
            self._partitions.confirm(home, _next(head))
            self._partitions.learn(home, _head_after(view, home, rows, step[1]), asked, follows=head.version)
        else:
            self._partitions.unlearn(home)
        return made

    def _proves(self, home: Partition, view: View, others: Collection[Partition]) -> bool:
        """Check whether the version of a scope proves by itself that what was read beside it is as of now."""
        known = self._partitions.known_at(home, view.heads[home].version)
        if known is None or not self._partitions.is_announced(home):
            return False
        beside = {other: known.everywhere if other == EVERYWHERE else known.tenant for other in others}
        return all(head is not None and view.heads[other].version == head.version for other, head in beside.items())

    def read_ahead(self, home: Partition) -> Awaitable[object]:
        """Read what `prepare` is about to read for this task."""
        self._read_ahead[asyncio.current_task()] = home, time.monotonic()
        return self._look(home)

    async def _look(self, home: Partition, *, hasty: bool = False) -> Head:
        """Return the head of a scope, while this process is announced there."""
        partitions = self._partitions
        _, head = await asyncio.gather(
            partitions.announce(home, soon=True), partitions.head(home, writes=True, hasty=hasty)
        )
        return head

    async def prepare(self, home: Partition, path: str | None = None, *, hasty: bool = False) -> Known:
        """Return what a write to a scope begins with: the head of the scope as of now, in one question. With it the
        marks under a path are read and cached, if those beside the scope are known. A `hasty` caller confirms the head
        beside what it reads next (`confirm`).
        """
        partitions = self._partitions
        before = partitions.find_known(home)
        beside = None if before is None or not partitions.is_announced(home) else before.tenant
        if (ahead := self._taken_ahead(home, before)) is not None:
            return ahead
        head, _ = await asyncio.gather(
            self._look(home, hasty=hasty), self._cache_marks(of_tenant(home.tenant), beside, path)
        )
        if before is not None and before.head.version != head.version:
            # Another process has written there, and may have written the first mark of this user: they are asked for.
            partitions.forget_beside(of_tenant(home.tenant))
        return partitions.known_at(home, head.version) or Known(head, time.monotonic())

    def _taken_ahead(self, home: Partition, known: Known | None) -> Known | None:
        """Return what is known of a scope if this task has read that ahead; once."""
        read, asked = self._read_ahead.pop(asyncio.current_task(), (None, 0.0))
        fresh = read == home and known is not None and known.asked >= asked > time.monotonic() - _AHEAD_FOR
        return known if fresh and known is not None and self._partitions.is_announced(home) else None

    async def confirm(self, home: Partition, known: Known) -> None:
        """Confirm the head of a scope, unless it is. Raises PartitionChanged."""
        if not known.head.confirmed:
            head = await self._partitions.head(home, now=True, writes=True, serial=True)
            if head.version != known.head.version:
                raise PartitionChanged

    async def prepare_beside(
        self, home: Partition, known: Known, path: str | None = None, request: str | None = None
    ) -> Known:
        """Return these heads with those of the tenant and of the store, in one question, or in none if they are known.
        With them the marks under a path, and the answer given before under an idempotency key, are read and cached, and
        the scope is listed where its next commit must be.
        """
        tenant, head, writes = of_tenant(home.tenant), known.head, partial(self._partitions.head, now=True, writes=True)
        of_marks, everywhere, *_ = await asyncio.gather(
            self._marks_and_head(tenant, path) if known.tenant is None else _ready_head(known.tenant),
            writes(EVERYWHERE) if known.everywhere is None else _ready_head(known.everywhere),
            # An answer without rows names no version: the key is looked for after the scope was read, never before.
            self._cache_request(home, head, request),
            self._list(home, head),
        )
        self._partitions.bind(home, head.version, tenant=of_marks, everywhere=everywhere)
        return known._replace(tenant=of_marks, everywhere=everywhere)

    async def _marks_and_head(self, tenant: Partition, path: str | None) -> Head:
        """Return the head of a tenant's rows outside its scopes, and cache its marks under a path."""
        before, last = self._partitions.confirmed_version(tenant), self._partitions.last_beside(tenant)
        head, answers, passed = await self._marks_beside(tenant, before, path, last, hasty=last is not None)
        if not head.confirmed:
            # Another process has changed marks: what that makes necessary is asked at once.
            before = head.version
            head, answers, passed = await self._marks_beside(tenant, before, path, head, changed=True)
        if passed is not None and passed == _token_of(head):
            self._note_passed(tenant.tenant, passed)
        # An answer without rows names no version. It is of this one only if this one was there before the question.
        self._keep(tenant, head, {one: rows for one, rows in answers.items() if rows or head.version == before})
        return head

    async def _marks_beside(
        self,
        tenant: Partition,
        version: int | None,
        path: str | None,
        last: Head | None,
        *,
        hasty: bool = False,
        changed: bool = False,
    ) -> tuple[Head, dict[tuple[Any, ...], list[Any]], str | None]:
        """Return the head of a tenant's rows outside its scopes, the answers about marks that are not cached at this
        version, and if it is new to this process the last change of marks that was passed over, all at once.
        """
        new = changed or last is None
        head, answers, passed = await asyncio.gather(
            self._partitions.head(tenant, now=True, writes=True, hasty=hasty, serial=new),
            self._ask_all(tenant, self._uncached_questions(tenant, version, path, last), serial=changed),
            self._passed_by_now(tenant.tenant) if new else _no_token(),
        )
        return head, answers, passed

    async def _cache_marks(self, tenant: Partition, head: Head | None, path: str | None) -> None:
        """Cache the marks under a path as of a known version, unless they are cached."""
        if head is not None and head.version is not None:
            self._keep(
                tenant, head, await self._ask_all(tenant, self._uncached_questions(tenant, head.version, path, head))
            )

    async def _cache_request(self, home: Partition, head: Head, request: str | None) -> None:
        key = (home.tenant, request or "")
        if request is not None and head.version is not None and partition_of(REQUEST, key) == home:
            question = (NAMES[REQUEST], sortable_key(key[width_of(REQUEST) :]))
            self._keep(home, head, await self._ask_all(home, [question], serial=not head.confirmed))

    def _uncached_questions(
        self, tenant: Partition, version: int | None, path: str | None, head: Head | None
    ) -> list[tuple[Any, ...]]:
        """Return the questions about marks that a write of somebody with this path asks, and whose answers at this
        version are not cached, but for those about marks that the tenant did not have at its last head.
        """
        if path is None or not path.endswith("/"):
            return []
        answers = self._partitions.answers
        asked = {marks_under(path): path} | {(NAMES[MARK], sortable_key((one,))): one for one in answers.singles()}
        return [
            question
            for question, name in asked.items()
            if (head is None or head.may_have_mark(name)) and answers.find((tenant, version or 0, question)) is None
        ]

    async def _ask_all(
        self, home: Partition, questions: Sequence[tuple[Any, ...]], *, serial: bool = False
    ) -> dict[tuple[Any, ...], list[Any]]:
        async def ask(name: str, *rest: Any) -> list[Any]:
            if len(rest) == 1:
                return await self._partitions.get(home, name, rest, serial=serial)
            *span, reverse = rest
            return await self._partitions.scan(home, name, *span, reverse=reverse, serial=serial)

        answers = await asyncio.gather(*(ask(*question) for question in questions))
        return dict(zip(questions, answers, strict=True))

    def _keep(self, home: Partition, head: Head, answers: Mapping[tuple[Any, ...], list[Any]]) -> None:
        """Cache those of these answers that are of the version of a head."""
        if head.version is not None:
            kept = {
                (home, head.version, question): [(key, stored) for key, stored, _, _ in rows]
                for question, rows in answers.items()
                if all(version == head.version and pending is None for _, _, version, pending in rows)
            }
            self._partitions.answers.keep(kept)

    async def was_made(self, unanswered: UnansweredTransaction) -> bool | None:
        """Check whether a transaction without an answer was made; None while it may still be. Raises CommitUnknown."""
        version, writers, _ = await self._partitions.state(unanswered.home, serial=True)
        if unanswered.name in (writers or "").split(","):
            return True
        if (version or 0) == unanswered.version:
            return None
        # The partition keeps the names of its last writers only, so after more than that ours may have been pushed out.
        if (version or 0) - unanswered.version > _remembered_version(unanswered.home):
            raise CommitUnknown(hint="too many others have written since")
        return False  # its condition requires an outdated version

    async def _pass_before(self, home: Partition, head: Head) -> None:
        """Pass over a change of marks that was read, if its process has not done that. Otherwise a caller who finds the
        mark set would take it for known to every writer.
        """
        token = _token_of(head)
        if token is None or self._passed.get(home.tenant) == token:
            return
        for _ in range(2):
            if await self._passed_by_now(home.tenant) == token:
                self._note_passed(home.tenant, token)
                return
            await pause(0.1, 0.2)  # its process may be about to end that
        await self._pass_over(home.tenant, token, ())

    async def _pass_over(self, tenant: str, token: str, written: Collection[Partition]) -> None:
        """Change the version of every announced partition, so that earlier readers of the marks begin again."""
        key = self._partitions.key(of_tenant(tenant))
        found = {Partition(tenant, *row) for row in await self._link.ask("announced", key[:1])}
        # Each version must be changed by this process: a writer that has changed it may know the marks as they were.
        passes = (partial(self.overtake, home) for home in sorted(found - set(written)))
        await some_at_once(passes, most=_AT_ONCE)
        await self._link.write([("passed", (self._passed_name(tenant), token))])
        self._note_passed(tenant, token)

    async def _passed_by_now(self, tenant: str) -> str | None:
        """Return the last change of a tenant's marks that was passed over."""
        found = await self._link.ask("known", (self._passed_name(tenant),))
        return found[0][0] if found else None

    def _passed_name(self, tenant: str) -> str:
        return f"passed\x1f{self._partitions.key(of_tenant(tenant))[0]}"

    def _note_passed(self, tenant: str, token: str) -> None:
        self._passed[tenant] = token
        self._passed.move_to_end(tenant)
        while len(self._passed) > _MAX_PASSED:
            self._passed.popitem(last=False)

    async def _refuse_first_writes(self, view: View, locked: Collection[Partition]) -> set[Partition] | None:
        """Change the versions of scopes without memories, so that no writer who knows the previous vector space begins
        there; return those scopes, or None if one has memories meanwhile that this switch has not seen.
        """
        found: set[Partition] = set()
        for tenant in await self._partitions.tenants():
            announced = await self._link.ask("announced", self._partitions.key(of_tenant(tenant))[:1])
            found.update(await self._partitions.partitions_of_tenant(tenant))
            found.update(Partition(tenant, *row) for row in announced)
        begun = sorted(home for home in found.difference(locked) if home.level not in ("", "audit"))
        passed = await some_at_once((partial(self._refuse_first_write, home) for home in begun), most=_AT_ONCE)
        return set(begun) if all(passed) else None

    async def _refuse_first_write(self, home: Partition) -> bool:
        head = await self._partitions.head(home)
        return not head.counts_changes and await self._bump(home, head)

    async def _bump(self, home: Partition, head: Head) -> bool:
        writers, asked = _writers(home, head, secrets.token_hex(6)), time.monotonic()
        step = (_next(head), writers, *self._partitions.key(home), head.version, None)
        self._partitions.unlearn(home)
        made = await self._link.change([("step", step)], settled=None)
        if made:
            self._partitions.confirm(home, _next(head))
            # Not what is known beside it: that has changed.
            self._partitions.learn(home, replace(head, version=_next(head), writers=writers), asked)
        return made

    async def overtake(self, home: Partition) -> None:
        """Change the version of an unlocked partition: readers of an earlier version can no longer commit."""
        known = self._partitions.find_known(home)
        head = await self._partitions.head(home) if known is None else known.head
        while not await self._bump(home, head):
            await pause(0.0, 0.02)
            head = await self._partitions.head(home)

    async def _commit_over_partitions(
        self, view: View, rows: dict[Partition, list[Written]], others: Collection[Partition]
    ) -> bool:
        """Commit over several partitions: lock each, validate the reads again, decide, write, unlock."""
        for home in rows:
            self._partitions.unlearn(home)
        change = secrets.token_hex(12)
        redo = {
            home: redo_of(_next(view.heads[home]), _writers(home, view.heads[home], change[:12]), written)
            for home, written in rows.items()
        }
        # The redo log comes first. Once the decision is "committed", any process can finish the change from it.
        await self._link.write([("redo", (change, self._partitions.part(home), each)) for home, each in redo.items()])

        async def begin() -> bool:
            return await self._partitions.decision(change) == "open"

        if not await self._link.change([("begin", (change,))], settled=begin):
            return False
        locked: list[Partition] = []
        committed = False
        try:
            # In a fixed order, so that two changes over the same partitions cannot hold each other up forever.
            for home in sorted(rows):
                if not await self._hold(home, change, view.heads[home].version):
                    break
                locked.append(home)
            else:
                passed = await self._refuse_first_writes(view, locked) if _switches_space(view) else set()
                # Check after all partitions are locked: from here on no row that was read can change before the
                # decision.
                committed = (
                    passed is not None
                    and await self.holds(view, set(others) - passed)
                    and await self._partitions.decide(change, "committed")
                )
        finally:
            if not committed:
                committed = not await self._give_up(change, locked)
        if committed:
            await self._complete(change, redo)
        return committed

    async def _complete(self, change: str, redo: Mapping[Partition, bytes]) -> None:
        """Write the rows of a committed change. A failure does not undo it, so the caller must not get an error: the
        process that finds a locked partition completes it.
        """
        # After the decision the order does not matter.
        made = await asyncio.gather(
            *(self._partitions.make(home, change, each) for home, each in redo.items()), return_exceptions=True
        )
        for each in made:
            if isinstance(each, BaseException) and not isinstance(each, MnemicError):
                raise each
        # A refused last step proves nothing while nodes join or leave. The record of a change that still locks a
        # partition is kept for the process that finds it there: without the recorded decision the change would be
        # rolled back and its rows lost.
        if all(each is True for each in made):
            with suppress(MnemicError):  # `tidy` removes it later
                await self._partitions.forget(change)

    async def _hold(self, home: Partition, change: str, version: int | None) -> bool:
        key = self._partitions.key(home)

        async def is_locked() -> bool:
            return bool((await self._partitions.state(home, serial=True))[2] == change)

        return await self._link.change([("hold", (change, *key, version, None))], settled=is_locked)

    async def _give_up(self, change: str, locked: Collection[Partition]) -> bool:
        """Abort a change; return False if it is committed, because its decision arrived after the look-up."""
        if not await self._partitions.decide(change, "aborted"):
            return await self._partitions.decision(change) != "committed"
        for home in locked:
            await self._link.change([("release", (*self._partitions.key(home), change))], settled=None)
        return True


def written_rows(view: View, home: Partition) -> list[Written]:
    """Return the rows that a view changes in a partition, as they are stored."""
    return [
        (NAMES[table], sortable_key(key[width_of(table) :]), None if row is None else pack_row(row[width_of(table) :]))
        for (table, key), row in view.changes[home].items()
    ]


def _begins(view: View, home: Partition) -> bool:
    """Check whether a scope has no memories before this view: a switch of the vector space changes it only if it is
    announced.
    """
    return home.level not in ("", "audit") and not view.heads[home].counts_changes


def _switches_space(view: View) -> bool:
    """Check whether a view replaces the vector space in use."""
    before = view.heads[EVERYWHERE].small if EVERYWHERE in view.changes else {}
    return (SPACE, ("present",)) in view.changes.get(EVERYWHERE, {}) and any(name == NAMES[SPACE] for name, _ in before)


def _note_passing(view: View) -> dict[str, str]:
    """Add to each change of a tenant's marks that it is to be passed over; return their names."""
    passing: dict[str, str] = {}
    for home, changes in view.changes.items():
        if not home.level and any(table == MARK for table, _ in changes):
            passing[home.tenant] = secrets.token_hex(6)
            changes[PASSING, (home.tenant,)] = (home.tenant, passing[home.tenant])
    return passing


def _token_of(head: Head) -> str | None:
    """Return the last change of marks, in the head of a tenant's rows outside its scopes."""
    stored = head.small.get((NAMES[PASSING], sortable_key(())))
    return None if stored is None else unpack_row(stored)[0]


async def _no_token() -> None:
    return None


async def _ready_head(head: Head) -> Head:
    return head


def _head_after(view: View, home: Partition, rows: Sequence[Written], writers: str) -> Head:
    """Return the head of a partition after these rows were written."""
    small = dict(view.heads[home].small)
    for name, key, value in rows:
        if name < "b" and value is None:
            small.pop((name, key), None)
        elif name < "b" and value is not None:
            small[name, key] = value
    return Head(_next(view.heads[home]), writers, small)


def _next(head: Head) -> int:
    return (head.version or 0) + 1


def _writers(home: Partition, head: Head, name: str) -> str:
    return ",".join([name, *filter(None, head.writers.split(","))][: _remembered_version(home)])


def _remembered_version(home: Partition) -> int:
    return OF_SHARED if home.level in ("", "audit") else WRITERS


def _is_collected(lane: bytes) -> bool:
    last, _, collected, _ = unpack_row(lane)
    return bool(last == collected)
