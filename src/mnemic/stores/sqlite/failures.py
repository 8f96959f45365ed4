"""The driver's errors as mnemic's. Their messages stay behind: they may quote values."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

import apsw

from mnemic.errors import (
    CommitUnknown,
    InvalidInput,
    MnemicError,
    StoreBusy,
    StoreCorrupt,
    StoreFailed,
    StoreFull,
    StoreNewer,
    StoreUnavailable,
)

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


def typed(error: apsw.Error) -> MnemicError:
    """Return the error of mnemic's tree that says what `error` says."""
    if isinstance(error, apsw.TooBigError):
        return InvalidInput("too_big")
    for causes, kind, hint in _KINDS:
        if isinstance(error, causes):
            return kind(hint=hint)
    return StoreFailed(type(error).__name__)


_SENSELESS = (TypeError, ValueError, AttributeError, LookupError, OverflowError, struct.error)
"""Errors of code that was given what it cannot make sense of."""


@contextmanager
def typed_failures(connection: apsw.Connection | None = None) -> Iterator[None]:
    """Let only errors of mnemic's tree through. A text that is not UTF-8 is the caller's mistake on its way in, damage
    on its way out. With the `connection`, as `suspected` too.
    """
    try:
        yield
    except MnemicError:
        raise
    except apsw.Error as error:
        raise typed(error) from error
    except _SENSELESS as error:
        if connection is not None:
            _suspect(connection, error)
        if isinstance(error, UnicodeEncodeError):
            raise InvalidInput("surrogate") from error
        if isinstance(error, UnicodeDecodeError):
            raise StoreCorrupt("text", hint="a row is damaged; `mnemic doctor` names it") from error
        raise


@contextmanager
def suspected(connection: apsw.Connection) -> Iterator[None]:
    """Look whether the file is damaged where what was read makes no sense to the code, and say so.

    A damaged page may give a number in the place of a text, or a row without its end. Raises StoreCorrupt then; an
    error that has another cause stays what it is.
    """
    try:
        yield
    except MnemicError:
        raise
    except _SENSELESS as error:
        _suspect(connection, error)
        raise


def _suspect(connection: apsw.Connection, error: Exception) -> None:
    if _is_damaged(connection):
        raise StoreCorrupt("pages", hint="the file is damaged; see `mnemic doctor`, `mnemic salvage`") from error


def check_schema(connection: apsw.Connection) -> None:
    """Check the schema's version. Raises StoreNewer for a file whose schema this version does not know."""
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
    """One write transaction: the lock is taken at the start, so that nothing read in it can be stale when it writes.

    Raises StoreNewer where the file has a schema by now that this version does not know, CommitUnknown where the disk
    failed during the commit itself: what was written may or may not be there.
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
