"""Resources of an open store: one thread that writes, a few that read, none of them the event loop's; the transactions
that wait for the writing thread share a commit; and the search indexes.
"""

from __future__ import annotations

import random
import secrets
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import apsw

from mnemic.errors import CommitUnknown, MnemicError, StoreBusy, StoreUnavailable
from mnemic.stores.codec import checked_secret, text_check
from mnemic.stores.encryption import Sealer
from mnemic.stores.sqlite.database_file import (
    BUSY_SECONDS,
    BusyHandler,
    DiskSpace,
    ReservedSpace,
    claim_space,
    connect,
    immediate,
    is_frozen,
    prepare,
    typed_error,
    typed_failures,
)
from mnemic.stores.sqlite.index_files import save as saved
from mnemic.stores.sqlite.index_files import sweep
from mnemic.stores.sqlite.indexes import Found, ScopeIndexes, best, find_near
from mnemic.stores.sqlite.maintenance import files_of
from mnemic.stores.sqlite.rows import HashedTerms, Rows, WrittenRow, fetch
from mnemic.stores.sqlite.threads import Answers, OneOfSeveral, Readers, Reply, Threads, reading
from mnemic.stores.sqlite.transaction import GroupState, SqliteTransaction, WriteFailed
from mnemic.stores.store_verbs import run_through
from mnemic.types import Deadline, Scope, Vector, VectorSpace

if TYPE_CHECKING:
    from mnemic.ports import Transaction
    from mnemic.stores.scope_index import ScopeIndex, Slot


MOST = 64
MAX_LOCK_SECONDS = 0.2
"""Longest time for which a group accepts further jobs: other processes wait for the same lock."""

Work: TypeAlias = "Callable[[Transaction], Awaitable[Any]]"


@dataclass(slots=True, eq=False)
class _Job:
    work: Work
    deadline: Deadline | None
    reply: Reply | OneOfSeveral
    result: Any = None
    error: BaseException | None = None

    def seconds_left(self) -> float:
        """Seconds it may wait for the lock. Raises StoreBusy if there are none left."""
        seconds = BUSY_SECONDS if self.deadline is None else self.deadline.remaining()
        if seconds <= 0:
            raise StoreBusy
        return seconds

    def answer(self) -> None:
        if self.error is not None:
            self.reply.set_exception(self.error)
        else:
            self.reply.set_result(self.result)


class GroupCommit:
    """Queue of transactions for the thread of `writer`, first in, first out."""

    def __init__(self, owner: OpenFile, writer: Threads) -> None:
        self._owner = owner
        self._writer = writer
        self._waiting: deque[_Job] = deque()

    def submit(self, work: Work, deadline: Deadline | None) -> Reply:
        """Return the reply with the result of `work`, once it is committed. Raises StoreUnavailable if the thread has
        ended, as it does with the process.
        """
        reply = Reply()
        self._waiting.append(_Job(work, deadline, reply))
        # One run per job, although a run may execute many: the later ones find an empty queue and return at once.
        self._writer.submit(self._run)
        return reply

    def submit_all(self, works: Sequence[Work], deadline: Deadline | None) -> Answers:
        """Return the answers to several jobs, each a separate transaction, in one hop to the thread and back."""
        several = Answers(len(works))
        self._waiting.extend([_Job(work, deadline, OneOfSeveral(several, n)) for n, work in enumerate(works)])
        self._writer.submit(self._run_all)
        return several

    def _run_all(self) -> None:
        """Run group after group until no job waits: several jobs have one run."""
        while self._waiting:
            self._run()

    def _run(self) -> None:
        """Run the first waiting job together with those queued after it; it may have been taken by an earlier group
        already.
        """
        first = self._next()
        if first is None:
            return
        # Nobody else waits, so a savepoint would only add cost.
        if not self._waiting:
            self._run_alone(first)
            return
        group: list[_Job] = []
        try:
            with typed_failures():
                self._owner.busy.wait(first.seconds_left())
                # Group commit: one lock, one sync for all members, which is most of what a small write costs.
                removed = self._together(first, group)
        except BaseException as error:  # noqa: BLE001  (the caller gets it)
            if group:
                self._run_apart(group, error)
            else:
                first.reply.set_exception(error)
            return
        for job in group:
            job.answer()
        # After the answers: emptying the log must not delay callers whose commit is done.
        self._owner.scrub(removed=removed)

    def _next(self) -> _Job | None:
        while self._waiting:
            job = self._waiting.popleft()
            if job.reply.begin():
                return job
        return None

    def _together(self, first: _Job, group: list[_Job]) -> bool:
        """Run the first job and the waiting ones until the group is full; return True if any of them removed data."""
        fresh = GroupState()
        removed = False
        until = time.monotonic() + MAX_LOCK_SECONDS
        with immediate(self._owner.writing):
            job: _Job | None = first
            while job is not None:
                group.append(job)
                removed |= self._member(job, fresh)
                full = len(group) >= MOST or time.monotonic() > until
                job = None if full else self._next()
            fresh.pending.write(self._owner.writing)
        self._owner.follow(fresh.written)
        return removed

    def _member(self, job: _Job, fresh: GroupState) -> bool:
        removed = False
        try:
            job.seconds_left()
            job.result, removed = self._owner.member(job.work, fresh)
        except (apsw.Error, WriteFailed):
            raise
        except Exception as error:  # noqa: BLE001  (the same)
            job.error = typed_error(error, self._owner.writing)
        return removed

    def _run_apart(self, group: list[_Job], error: BaseException) -> None:
        """Roll back the shared transaction. A commit in doubt is reported to all; otherwise each job runs alone."""
        for job in group:
            job.result = job.error = None
            # Running them again could write twice: whether the commit reached the disk is not known.
            if isinstance(error, CommitUnknown):
                job.error = CommitUnknown(hint=error.hint)
                job.answer()
            else:
                self._run_alone(job)

    def _run_alone(self, job: _Job) -> None:
        try:
            self._owner.busy.wait(job.seconds_left())
            job.result = self._owner.run_alone(job.work)
        except BaseException as error:  # noqa: BLE001  (the caller gets it)
            job.error = typed_error(error, self._owner.writing)
        job.answer()


_SECRET = "SELECT secret, checksum FROM tenant WHERE tenant = ?"  # noqa: S105
_SCRUB_SECONDS = 0.2
_SAVE_SECONDS = 1.0


class OpenFile:
    """Open state of one file. Writes run on the `writer` thread, `close` on any thread once nothing else runs."""

    def __init__(
        self,
        path: Path,
        space: VectorSpace | None,
        *,
        durability: str,
        index_bytes: int,
        readers: int,
        vfs: str | None,
        reserved: ReservedSpace,
        sealer: Sealer,
    ) -> None:
        self.busy = BusyHandler()
        self.writing = prepare(path, durability=durability, busy=self.busy, vfs=vfs)
        with ExitStack() as undo:
            undo.callback(self.writing.close)
            self.space = claim_space(self.writing, space)
            ((salt,),) = fetch(self.writing, "SELECT value FROM meta WHERE name = 'term_salt'")
            # State committed before the transaction: under the write lock nobody can add to it.
            self._committed = connect(path, durability=durability, vfs=vfs)
            undo.callback(self._committed.close)
            self.readers = Readers(lambda: connect(path, durability=durability, vfs=vfs), threads=readers)
            undo.pop_all()
        self.rows = Rows(HashedTerms(salt), sealer)
        self._index_bytes = index_bytes
        self._indexes: ScopeIndexes | None = None
        # Readers on several threads may make the first search at the same moment.
        self._making = threading.Lock()
        # One thread for all writes: SQLite has one writer per file, and a queue in the process is cheaper than lock
        # retries.
        self.writer = Threads("mnemic-write")
        self.groups = GroupCommit(self, self.writer)
        self._changes_before = 0
        self._unscrubbed = self._removing = False
        self._path = path
        self._identity = _identity(path)
        self._reserved = reserved
        if not is_frozen(path):
            reserved.load()

    def run_alone(self, work: Work) -> Any:
        """Run `work` to its end on this thread, and commit. On a full disk the reserved space makes room to empty the
        log into the file; work that removes data may use that space itself.
        """
        self.check_identity()
        self._removing = False
        try:
            return self._commit(work)
        except apsw.FullError:
            return self._room(removing=self._removing).again(lambda: self._commit(work))

    def _room(self, *, removing: bool = False) -> DiskSpace:
        return DiskSpace(self.writing, self._path, self._reserved, removing)

    def _commit(self, work: Work) -> Any:
        """Return the result of `work` in a committed transaction; data that it removed is no longer readable."""
        with immediate(self.writing):
            self._changes_before = self.writing.total_changes()
            result, removed = self._through(work, fresh := GroupState())
            fresh.pending.write(self.writing)
        if self._indexes is not None:
            self.follow(fresh.written)
        self.scrub(removed=removed)
        return result

    def follow(self, written: Sequence[WrittenRow]) -> None:
        """Give the committed rows to the search indexes that are loaded, which would read them again otherwise."""
        if self._indexes is not None and written:
            self._indexes.follow(written)

    def check_identity(self) -> None:
        """Raise StoreUnavailable (`replaced`) if the path no longer names the open file: writes would be lost."""
        if _identity(self._path) != self._identity:
            raise StoreUnavailable("replaced", hint="the file was deleted or replaced while it was open: open it again")

    def member(self, work: Work, fresh: GroupState) -> tuple[Any, bool]:
        """Run `work` to its end inside the transaction that a group has open."""
        if not fresh.changed:
            self.check_identity()
            self._changes_before = self.writing.total_changes()
        return self._through(work, fresh)

    def _through(self, work: Work, fresh: GroupState) -> tuple[Any, bool]:
        nearest, dimension = partial(self._find_near, fresh), self.space.dimension
        transaction = SqliteTransaction(self.writing, rows=self.rows, dimension=dimension, nearest=nearest, fresh=fresh)
        try:
            result = run_through(work, transaction)
            transaction.pass_on()
        except (apsw.Error, WriteFailed):
            raise  # of the whole group
        except Exception:
            transaction.undo()
            raise
        finally:
            # A handler with a reference to the transaction must not write into the next one.
            transaction.end()
            self._removing = transaction.removed
        return result, transaction.removed

    def tidy(self, *, whole: bool) -> int:
        """Empty the log into the file, and with `whole` rewrite the file; return the bytes freed. Planner statistics
        that do not fit on a full disk are left to the next run.
        """
        before = self._size()
        sweep(self.writing)
        if whole:
            self._room().done(lambda: _in_turn(lambda: self.writing.execute("VACUUM")))
        with suppress(apsw.FullError):
            self.writing.pragma("optimize")
        _in_turn(lambda: self.writing.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE))
        self._unscrubbed = False
        return max(0, before - self._size())

    def _size(self) -> int:
        return sum(file.stat().st_size for file in files_of(self._path))

    def secret(self, tenant: str, given: bytes | None = None) -> bytes:
        """Return the tenant's secret, made (or taken as `given`) and synced to the disk if it has none."""
        known = fetch(self.writing, _SECRET, (tenant,))
        if not known:
            with self._sync_after(), immediate(self.writing):
                made = given or secrets.token_bytes(32)
                made_row = (tenant, made, text_check(tenant, made))
                # Another process may have been faster; the row that exists counts, so it is read again.
                fetch(self.writing, "INSERT OR IGNORE INTO tenant VALUES (?, ?, ?)", made_row)
                known = fetch(self.writing, _SECRET, (tenant,))
        return checked_secret(tenant, *known[0])

    @contextmanager
    def _sync_after(self) -> Iterator[None]:
        # The secret is the key of the tenant's consent tokens, receipts and markers. With `durability="fast"` a power
        # cut could otherwise lose it although data that depends on it is already on the disk.
        before = self.writing.pragma("synchronous")
        self.writing.pragma("synchronous", "FULL")
        try:
            yield
        finally:
            self.writing.pragma("synchronous", before)

    def indexes(self) -> ScopeIndexes:
        """Return the search indexes, made with the first search."""
        with self._making:
            if self._indexes is None:
                plain = not self.rows.sealer.opens
                self._indexes = ScopeIndexes(
                    rows=self.rows,
                    dimension=self.space.dimension,
                    budget=self._index_bytes,
                    imaged=plain,
                    save=self._save_index if plain and not is_frozen(self._path) else None,
                )
            return self._indexes

    def _save_index(self, scope_id: int, slot: Slot, unchanged_since: int) -> None:
        """Let the writer store the image of an index that was just read; no caller waits for it."""

        def save(index: ScopeIndex) -> None:
            # An image may be lost, and a lock, a full disk or a file that was replaced is somebody else's to report.
            with suppress(apsw.Error, OSError, MnemicError):
                self.busy.wait(_SAVE_SECONDS)
                self.check_identity()
                with immediate(self.writing), slot.lock:
                    if slot.index is index:
                        saved(self.writing, scope_id, index, unchanged_since)

        with suppress(StoreUnavailable):  # the file is being closed
            self.writer.submit(partial(save, slot.index))

    def _find_near(self, fresh: GroupState, scope: Scope, vector: Vector, limit: int, at_least: float) -> Found:
        # Before its first change the writing connection sees the committed state, and has the pages at hand that any
        # other connection would have to read again after every commit.
        unchanged = self.writing.total_changes() == self._changes_before
        connection = self.writing if unchanged else self._committed
        with nullcontext() if unchanged else reading(connection):
            # Rows inserted by members of the group are not committed, so they take no place in the index.
            moved = sum([memory is None or memory.version > 1 for memory in fresh.changed.values()])
            found = find_near(
                connection, self.rows, self.indexes, scope, vector, limit=limit + moved, at_least=at_least
            )
        close = fresh.near(scope, vector, at_least) if fresh.changed else []
        if not close and not moved:
            return found
        unchanged_near = [pair for pair in found if (scope.tenant, pair[0].memory_id) not in fresh.changed]
        return best([*unchanged_near, *close], limit)

    def scrub(self, *, removed: bool) -> None:
        """After a commit that `removed` something, empty the log, which still contains it; retain reserved space."""
        self._unscrubbed = self._unscrubbed or removed
        if self._unscrubbed:
            # Best effort: a reader may hold the log open. The next commit that removes something tries again, and so
            # does `close`.
            self.busy.wait(_SCRUB_SECONDS)
            try:
                self.writing.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except apsw.Error:
                pass
            else:
                self._unscrubbed = False
        if removed:
            self._reserved.load()

    def close(self) -> None:
        """Finish the running work, then release the file."""
        # In this order: writes finish first, then readers, because either of them would prevent the log from being
        # emptied.
        self.writer.close()
        self.readers.close()
        self._committed.close()
        self.scrub(removed=False)
        self.writing.close()


def _identity(path: Path) -> tuple[int, int] | None:
    """Return the identity of the file with this name; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    # Device and inode identify the file under any name. A modification time would change with every write.
    return found.st_dev, found.st_ino


def _in_turn(work: Callable[[], object]) -> None:
    """Run `work` exclusively among callers of this function. SQLite does not queue them: VACUUM asks for the lock only
    halfway, and a second concurrent checkpoint fails at once. Raises apsw.BusyError, apsw.LockedError after
    `BUSY_SECONDS`.
    """
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            work()
            return
        except (apsw.BusyError, apsw.LockedError):
            if time.monotonic() > until:
                raise
            # A random pause, so that processes that collided once do not collide again.
            time.sleep(random.uniform(0.01, 0.1))  # noqa: S311
