"""The file: opening, recognition, creation, its transactions, and the driver's errors as mnemic's.

Messages of the driver are dropped, because they may quote values.
"""

from __future__ import annotations

import os
import random
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import quote

import apsw

from mnemic.errors import (
    CommitUnknown,
    InvalidInput,
    MnemicError,
    SpaceMismatch,
    StoreBusy,
    StoreCorrupt,
    StoreFailed,
    StoreFull,
    StoreNewer,
    StoreOlder,
    StoreUnavailable,
)
from mnemic.stores.sqlite.rows import present
from mnemic.types import VectorSpace

_KINDS: tuple[tuple[tuple[type[apsw.Error], ...], type[StoreFailed], str], ...] = (
    ((apsw.BusyError, apsw.LockedError), StoreBusy, "another writer held the file for too long; try again"),
    ((apsw.FullError,), StoreFull, "free some disk space and try again"),
    (
        (apsw.NotADBError, apsw.CorruptError, apsw.FormatError),
        StoreCorrupt,
        "the file is damaged or not a mnemic store",
    ),
    (
        (apsw.CantOpenError, apsw.IOError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.AuthError, apsw.NoMemError),
        StoreUnavailable,
        "check that the path names a file in a writable folder",
    ),
)


def as_mnemic_error(error: apsw.Error) -> MnemicError:
    """Return mnemic's error for `error`."""
    if isinstance(error, apsw.TooBigError):
        return InvalidInput("too_big")
    for causes, kind, hint in _KINDS:
        if isinstance(error, causes):
            return kind(hint=hint)
    return StoreFailed(type(error).__name__)


_SENSELESS = (TypeError, ValueError, AttributeError, LookupError, OverflowError, struct.error)
"""Errors of code that received data it cannot interpret."""


@contextmanager
def typed_failures(connection: apsw.Connection | None = None) -> Iterator[None]:
    """Let only errors of mnemic's tree through; see `typed_error`."""
    try:
        yield
    except Exception as error:
        typed = typed_error(error, connection)
        if typed is error:
            raise
        raise typed from error


def typed_error(error: BaseException, connection: apsw.Connection | None = None) -> BaseException:
    """Return mnemic's error for one of the driver or of data. A text that is not UTF-8 is the caller's mistake on its
    way in, damage on its way out. With the `connection`, the file is checked for damage after data that could not be
    interpreted: a damaged page may yield a number in place of a text, or a truncated row. Any other error stays.
    """
    typed = error
    if isinstance(error, apsw.Error):
        typed = as_mnemic_error(error)
    elif isinstance(error, _SENSELESS) and not isinstance(error, MnemicError):
        if connection is not None and _is_damaged(connection):
            typed = StoreCorrupt("pages", hint="the file is damaged; see `mnemic doctor`, `mnemic salvage`")
        elif isinstance(error, UnicodeEncodeError):
            typed = InvalidInput("surrogate")
        elif isinstance(error, UnicodeDecodeError):
            typed = StoreCorrupt("text", hint="a row is damaged; `mnemic doctor` names it")
    if typed is not error:
        typed.__cause__ = error
    return typed


def check_schema(connection: apsw.Connection) -> None:
    """Check the schema's version. Raises StoreNewer for a file with a schema unknown to this version."""
    if connection.pragma("user_version") > migrations()[-1].number:
        raise StoreNewer(hint="the file was written by a newer mnemic; update this one")


def _is_damaged(connection: apsw.Connection) -> bool:
    try:
        found = connection.execute("PRAGMA quick_check(1)").fetchall()
    except (apsw.Error, UnicodeDecodeError):
        return True
    return found != [("ok",)]


@contextmanager
def immediate(connection: apsw.Connection) -> Iterator[None]:
    """Run one write transaction. It takes the lock at the start, so that its reads cannot be stale when it writes.

    Raises StoreNewer if the file has meanwhile got a schema that this version does not know, CommitUnknown if the disk
    failed during the commit: the changes may or may not have been written.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Inside the transaction: another process may have brought the file up to date since this one opened it.
        check_schema(connection)
        yield
    except BaseException:
        roll_back(connection)
        raise
    try:
        connection.execute("COMMIT")
    except apsw.IOError as error:
        roll_back(connection)
        raise CommitUnknown(hint="retry with the same idempotency key") from error
    except BaseException:
        roll_back(connection)
        raise


def roll_back(connection: apsw.Connection) -> None:
    """End the transaction without its changes; an error of the disk may have ended it already."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")


class Migration(NamedTuple):
    """One step of the schema; its number is the file's `user_version` once it is done."""

    number: int
    name: str
    sql: str


@cache
def migrations() -> tuple[Migration, ...]:
    """All steps, in order."""
    files = sorted((Path(__file__).parent / "migrations").glob("*.sql"))
    return tuple(Migration(int(file.stem[:4]), file.stem[5:], file.read_text(encoding="utf-8")) for file in files)


def newest_schema() -> int:
    """Return the schema that this version writes."""
    return migrations()[-1].number


# Written into the file's header, so that `file` and other programs recognise it.
APPLICATION_ID = 0x6D6E656D  # "mnem"
BUSY_SECONDS = 30.0
# About 8 MB at 4 KiB a page. A larger log means fewer checkpoints, each of which syncs the file, but slower reads.
_CHECKPOINT_PAGES = 2000
_MAGIC = b"SQLite format 3\0"
# First bytes of a rollback journal: https://sqlite.org/fileformat2.html#the_rollback_journal
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")


class BusyHandler:
    """Waits for another writer in short, random pauses, so that many processes take turns; gives up at a set time.

    `wait` sets the time; if it `renews`, the time starts again at each wait.
    """

    def __init__(self, *, renews: bool = False) -> None:
        self._renews = renews
        self._until = 0.0
        self.wait(BUSY_SECONDS)

    def wait(self, seconds: float) -> None:
        """From now on, wait no longer than `seconds`."""
        # Monotonic, because a clock that is set back would make it wait for hours.
        self._until = time.monotonic() + min(seconds, BUSY_SECONDS)

    def __call__(self, attempt: int) -> bool:
        if self._renews and attempt == 0:
            self.wait(BUSY_SECONDS)
        left = self._until - time.monotonic()
        if left <= 0:
            return False
        # Pauses grow up to 16 ms: short enough for a free lock to be noticed, random so that waiters do not wake
        # together.
        time.sleep(min(left, random.uniform(0.0002, 0.004) * min(attempt + 1, 4)))  # noqa: S311
        return True


def is_frozen(path: Path) -> bool:
    """Return True if the file exists and neither it nor its folder is writable: a read-only disk, a snapshot."""
    return path.is_file() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


def connect(path: Path, *, durability: str, busy: BusyHandler | None = None, vfs: str | None = None) -> apsw.Connection:
    """Return a connection with the settings that every connection needs. Without `busy` it is read-only; a frozen file
    is read-only too and assumed to be immutable.
    """
    access = apsw.SQLITE_OPEN_READONLY if busy is None else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    name = str(path)
    if is_frozen(path):
        name, access = _frozen(path), apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(name, flags=access, vfs=vfs)
    try:
        connection.set_busy_handler(busy or BusyHandler(renews=True))
        connection.pragma("synchronous", "FULL" if durability == "durable" else "NORMAL")
        connection.pragma("foreign_keys", True)
        # Deleted content is overwritten with zeros, so that an erasure leaves nothing in free pages.
        connection.pragma("secure_delete", True)
        # A crafted file could otherwise call SQL functions from its views and triggers when it is opened.
        connection.pragma("trusted_schema", False)
        connection.wal_autocheckpoint(_CHECKPOINT_PAGES)
        # Plans do not depend on parameter values: else SQLite would replan a statement for each new value.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    except BaseException:
        connection.close()  # left to the garbage collector, it would be closed by whichever thread that runs in
        raise
    return connection


def _frozen(path: Path) -> str:
    """Return the URI with which SQLite neither locks the file nor creates files next to it. Raises StoreUnavailable
    (`read_only_log`) if the last writes are in a log that cannot be applied there.
    """
    log = Path(f"{path}-wal")
    if log.is_file() and log.stat().st_size:
        raise StoreUnavailable("read_only_log", hint="copy the file with its -wal to a folder that can be written")
    return f"file:{quote(str(path.absolute()))}?immutable=1"


def prepare(path: Path, *, durability: str, busy: BusyHandler, vfs: str | None = None) -> apsw.Connection:
    """Open the file for writing, creating or migrating it if needed; many processes may do so at once.

    Raises StoreNewer, StoreOlder or StoreCorrupt, with the file untouched, if this version must not write to it.
    """
    if path.is_dir():
        raise StoreUnavailable(hint=f"{path} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise StoreUnavailable(hint=f"the folder {path.parent} does not exist: make it, or name a file in another")
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return _prepare(path, durability, busy, vfs)
        except OSError as error:
            raise StoreUnavailable(hint="the file cannot be read") from error
        except (apsw.BusyError, apsw.LockedError) as error:
            # Turning WAL on asks for the whole file and does not wait for it: when many processes create one file at
            # the same time, all but one of them come here.
            if time.monotonic() > until:
                raise StoreBusy from error
            time.sleep(random.uniform(0.001, 0.02))  # noqa: S311


def _prepare(path: Path, durability: str, busy: BusyHandler, vfs: str | None) -> apsw.Connection:
    interrupted = _is_interrupted(path)
    if not interrupted and path.exists() and path.stat().st_size:
        _check_magic(path)
        # A read-only probe first: opening a foreign database for writing would already create its log next to it.
        probe = connect(path, durability=durability, vfs=vfs)
        try:
            recognise(probe)
        finally:
            probe.close()
    if is_frozen(path):
        return _read_only(path, durability, vfs)
    busy.wait(BUSY_SECONDS)
    new = not path.exists()
    connection = connect(path, durability=durability, busy=busy, vfs=vfs)
    try:
        if new:
            # By its name: to close a second handle of the file would drop the locks that this process has on it.
            with suppress(OSError):
                path.chmod(0o600)
        if interrupted:
            recognise(connection)
        # Readers do not block the writer, and a commit needs one sync instead of two.
        connection.pragma("journal_mode", "wal")
        migrate(connection, migrations())
    except BaseException:
        connection.close()
        raise
    return connection


def _read_only(path: Path, durability: str, vfs: str | None) -> apsw.Connection:
    """Raise StoreUnavailable (`read_only_schema`) for a file that would have to be migrated first."""
    connection = connect(path, durability=durability, vfs=vfs)
    if connection.pragma("user_version") < newest_schema():
        connection.close()
        raise StoreUnavailable("read_only_schema", hint="it is of an older version: copy it to a folder for writing")
    return connection


def _is_interrupted(path: Path) -> bool:
    """Return True if a rollback journal exists: creating the file was interrupted, or is in progress in another
    process.

    Its content may be anything then. SQLite repairs it on the first read, if the process may write.
    """
    try:
        with path.with_name(f"{path.name}-journal").open("rb") as journal:
            return journal.read(len(_JOURNAL_MAGIC)) == _JOURNAL_MAGIC
    except FileNotFoundError:
        return False


def _check_magic(path: Path) -> None:
    """SQLite takes a very short file of anything for an empty database, and would write over it."""
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) not in (_MAGIC, b""):
            raise StoreCorrupt("not_mnemic", hint="the file is not a memory file")
    if path.stat().st_nlink > 1:
        check_names(path)


def check_names(path: Path) -> None:
    """Raise StoreUnavailable (`hard_links`) for a file that has more than one name.

    SQLite keeps recent writes in a log next to the file's name. A process that opens the file by another name reads
    without that log and overwrites its contents (sqlite.org/howtocorrupt.html, section 2.5). A symbolic link is
    resolved to the one name; a file that is not writable may have any number.
    """
    if path.exists() and path.stat().st_nlink > 1 and not is_frozen(path):
        hint = "the file has a second name (hard link): remove that, or stop all programs and give this one its copy: "
        raise StoreUnavailable("hard_links", hint=f"{hint}cp FILE FILE.copy && mv FILE.copy FILE")


def recognise(connection: apsw.Connection) -> None:
    """Raise StoreCorrupt for a file that is not ours, StoreNewer or StoreOlder for one with a schema unknown to this
    version.
    """
    # In this order: another process may make the file meanwhile, and writes tables and number together.
    used = connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone()
    if used and connection.pragma("application_id") != APPLICATION_ID:
        raise StoreCorrupt("not_mnemic", hint="the file belongs to another program")
    check_schema(connection)
    if 0 < connection.pragma("user_version") < migrations()[0].number:
        raise StoreOlder


def migrate(connection: apsw.Connection, steps: Sequence[Migration]) -> None:
    """Take those of `steps` that the file has not taken, each in one transaction: a kill leaves it at a whole step."""
    for step in steps:
        if connection.pragma("user_version") < step.number:
            with immediate(connection):
                recognise(connection)
                if connection.pragma("user_version") < step.number:
                    connection.execute(step.sql)
                    connection.pragma("application_id", APPLICATION_ID)
                    connection.pragma("user_version", step.number)


def claim_space(connection: apsw.Connection, space: VectorSpace | None) -> VectorSpace:
    """Make `space` the file's vector space if it has none; the one it has. Raises SpaceMismatch when it has another."""
    found = present(connection)
    if space is None:
        if found is None:
            raise StoreUnavailable("empty", hint="nothing was ever stored here, so it has no vector space")
        return found
    if found is None:
        with immediate(connection):
            connection.execute("INSERT OR IGNORE INTO space VALUES (1, ?, ?)", (space.model, space.dimension))
            found = present(connection)
        assert found is not None
    if found != space:
        raise SpaceMismatch(
            hint=f"this file contains vectors of the model {found.model} of dimension {found.dimension}: open it with"
            " that model, or change to this one with `mnemic maintain --reembed`"
        )
    return space


class ReservedSpace:
    """A file `<store>.ballast` next to the store that reserves `size` bytes of disk space; none if `size` is 0."""

    def __init__(self, store: Path, size: int) -> None:
        self._path = Path(f"{store}.ballast")
        self.size = size

    def load(self) -> None:
        """Reserve the space if there is enough; on a disk too full for it, do nothing."""
        if not self.size or (self._path.exists() and self._path.stat().st_size >= self.size):
            return
        try:
            handle = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600)
            try:
                _reserve(handle, self.size)
            finally:
                os.close(handle)
        except OSError:
            self.drop()

    def drop(self) -> bool:
        """Release the space; return True if there was any."""
        try:
            self._path.unlink()
        except OSError:
            return False
        return True


def _reserve(handle: int, size: int) -> None:
    """Allocate real blocks: a sparse file would free nothing."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(handle, 0, size)
        return
    while size > 0:
        size -= os.write(handle, bytes(min(size, 1 << 20)))


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DiskSpace:
    """Room for work on one file. `removing`: the work is a removal, which may use up the reserved space."""

    writing: apsw.Connection
    path: Path
    reserved: ReservedSpace
    removing: bool = False

    def done(self, work: Callable[[], T]) -> T:
        """Do `work`, and again after making room if the disk is full."""
        try:
            return work()
        except apsw.FullError:
            return self.again(work)

    def again(self, work: Callable[[], T]) -> T:
        """Repeat `work` after a full disk. Raises apsw.FullError if no room can be made."""
        # First choice: a checkpoint frees the log without touching the reserve.
        if self._empty_log():
            with suppress(apsw.FullError):
                return work()
        # An erasure may use up the reserve for good: it frees space itself, and it must not fail on a full disk.
        if self.removing:
            self.reserved.drop()
            return work()
        return self._with_reserved(work)

    def _with_reserved(self, work: Callable[[], T]) -> T:
        """Lend the reserved space to the log. New data goes into free pages of the file, or into the space that the
        emptied log has left.
        """
        # The reserve would not be enough for the log, so it is kept for an erasure.
        if self._growth() > self.reserved.size or not self.reserved.drop():
            raise apsw.FullError
        emptied = self._empty_log()
        lent = self._bytes("freelist_count") >= self.reserved.size
        # The file took the space: the reserve is filled again as far as the disk allows.
        if not lent:
            self.reserved.load()
        if not (lent or emptied):
            raise apsw.FullError
        try:
            return work()
        finally:
            if lent:
                self._empty_log()
                self.reserved.load()

    def _empty_log(self) -> bool:
        """Try to empty the log into the file, to write it from its start again; return True on success."""
        log = Path(f"{self.path}-wal")
        try:
            before = log.stat().st_size
            self.writing.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            return log.stat().st_size < before
        except (apsw.Error, OSError):
            return False

    def _growth(self) -> int:
        """Return the number of bytes by which the file will grow once the log is written into it."""
        return self._bytes("page_count") - self.path.stat().st_size

    def _bytes(self, pages: str) -> int:
        return int(self.writing.pragma(pages)) * int(self.writing.pragma("page_size"))
