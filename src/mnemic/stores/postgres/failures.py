"""Mapping of the driver's errors to mnemic's. Their messages are dropped: they may quote values."""

from __future__ import annotations

import re

import asyncpg

from mnemic.errors import (
    InvalidInput,
    MnemicError,
    SpaceMismatch,
    StoreBusy,
    StoreCorrupt,
    StoreFailed,
    StoreFull,
    StoreUnavailable,
)

DRIVER_ERRORS = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, EOFError)
"""Everything the driver raises. A TimeoutError is an OSError; the client's own follow a broken connection."""

ANSWER_ERRORS = (*DRIVER_ERRORS, AttributeError)
"""The same with the errors of asyncpg 0.30 at a truncated answer: PgDog 0.1.17 gives such answers to statements after
the loss of a server.
"""

_LOST_RACES = {"40001", "40P01"}
"""Serialization failure, deadlock."""

_OTHER_SPACE = re.compile("expected \\d+ dimensions|different vector dimensions")
"""pgvector's message about a vector of another length: the space was changed meanwhile."""

_ENDED = {"57P01", "57P02", "57P05", "25P03"}
"""The server closed the connection: shutdown, crash, idle too long."""

# SQLSTATE, or the class that its first two characters name (PostgreSQL documentation, appendix A).
_BY_STATE: dict[str, tuple[type[StoreFailed], str]] = {
    "55P03": (StoreBusy, "another writer held a lock for too long; try again"),
    "57014": (StoreBusy, "the statement took too long; try again"),
    "40": (StoreBusy, "other writers won every time; try again"),
    "53100": (StoreFull, "free some disk space on the server and try again"),
    "53": (StoreUnavailable, "the server is short of connections or memory"),
    "08": (StoreUnavailable, "the connection to the server was lost"),
    "57": (StoreUnavailable, "the server is stopping or starting"),
    "58": (StoreUnavailable, "the server's system failed"),
    "28": (StoreUnavailable, "the server refused the name or the password"),
    "3D": (StoreUnavailable, "there is no such database on the server"),
    "42501": (StoreUnavailable, "the database role lacks a privilege"),
    "25006": (StoreUnavailable, "the server is a read-only replica"),
    "42P01": (StoreCorrupt, "tables of mnemic are missing"),
    "42703": (StoreCorrupt, "columns of mnemic are missing"),
    "XX001": (StoreCorrupt, "the server found damaged data"),
    "XX002": (StoreCorrupt, "the server found a damaged index"),
}


def lost_race(error: BaseException) -> bool:
    """Return True if the same transaction may succeed when it is run again at once."""
    if isinstance(error, asyncpg.InvalidCachedStatementError):
        return True  # the table was changed under a prepared statement
    return isinstance(error, asyncpg.PostgresError) and error.sqlstate in _LOST_RACES


def lost_connection(error: BaseException) -> bool:
    """Return True if the connection broke, so that the same may succeed on another one."""
    if isinstance(error, asyncpg.PostgresError):
        state = error.sqlstate or ""
        return state in _ENDED or state.startswith("08")
    return isinstance(error, ANSWER_ERRORS) and not isinstance(error, TimeoutError | asyncpg.DataError)


def as_mnemic_error(error: BaseException) -> MnemicError:
    """Return mnemic's error for the driver's `error`."""
    if isinstance(error, asyncpg.PostgresError):
        if error.sqlstate == "22000" and _OTHER_SPACE.search(str(error)):
            return SpaceMismatch(hint="the vectors were made by another model; open the store with that one")
        return _of_state(error.sqlstate or "", type(error).__name__)
    if isinstance(error, asyncpg.DataError | UnicodeError | OverflowError):
        return InvalidInput("value", hint="a text or a number that the database cannot hold")
    if isinstance(error, TimeoutError):
        return StoreBusy(hint="the server did not answer in time")
    if isinstance(error, ANSWER_ERRORS):
        return StoreUnavailable(hint="check that the server runs and can be reached")
    return StoreFailed(type(error).__name__)


def _of_state(state: str, name: str) -> MnemicError:
    if state in ("22021", "22P05"):
        return InvalidInput("nul", hint="a name cannot hold the character U+0000")
    if state.startswith("54"):
        return InvalidInput("too_big")
    for key in (state, state[:2]):
        if key in _BY_STATE:
            kind, hint = _BY_STATE[key]
            return kind(hint=hint)
    return StoreFailed(name)


def outcome_unknown(error: BaseException) -> bool:
    """Return True if a COMMIT that failed so may have been carried out."""
    return not isinstance(error, asyncpg.PostgresError) or (error.sqlstate or "")[:2] in ("08", "57")
