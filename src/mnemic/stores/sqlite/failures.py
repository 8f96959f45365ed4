"""Translation of the driver's errors into mnemic's. Their messages are dropped because they may quote values."""

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
