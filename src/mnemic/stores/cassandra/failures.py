"""The driver's errors as mnemic's. Their messages are dropped: they may quote values."""

from __future__ import annotations

from cassandra import (
    AuthenticationFailed,
    CoordinationFailure,
    DriverException,
    OperationTimedOut,
    Timeout,
    Unauthorized,
    Unavailable,
    WriteFailure,
    WriteTimeout,
)
from cassandra.cluster import NoHostAvailable
from cassandra.connection import ConnectionException
from cassandra.protocol import ErrorMessage, OverloadedErrorMessage, ServerError

from mnemic.errors import MnemicError, StoreBusy, StoreFailed, StoreUnavailable

DRIVER_ERRORS = (DriverException, NoHostAvailable, ConnectionException, ErrorMessage, OSError)
"""Everything the driver raises."""

PASSING = (
    ConnectionException,
    CoordinationFailure,
    NoHostAvailable,
    OperationTimedOut,
    OSError,
    OverloadedErrorMessage,
    ServerError,
    Timeout,
    Unavailable,
)
"""Errors after which the same may succeed on another node."""

_REFUSED = (Unavailable, OverloadedErrorMessage)


def unknown(error: BaseException) -> bool:
    """Check whether a change may have been made although the call failed."""
    if isinstance(error, NoHostAvailable):
        return any(unknown(each) for each in error.errors.values() if isinstance(each, BaseException))
    return isinstance(error, PASSING) and not isinstance(error, _REFUSED)


def as_mnemic_error(error: BaseException) -> MnemicError:
    """Return mnemic's error for the driver's `error`."""
    if isinstance(error, AuthenticationFailed | Unauthorized):
        return StoreUnavailable(hint="the cluster refused the name or the password, or the role lacks a privilege")
    if isinstance(error, NoHostAvailable):
        return StoreUnavailable(hint="no node of the cluster could be reached")
    if isinstance(error, Unavailable | WriteFailure):
        return StoreUnavailable(hint="too few copies are alive for a majority")
    if isinstance(error, Timeout | OperationTimedOut | WriteTimeout):
        return StoreBusy(hint="the cluster did not answer in time")
    if isinstance(error, PASSING):
        return StoreUnavailable(hint="the connection to the cluster was lost")
    return StoreFailed(type(error).__name__)
