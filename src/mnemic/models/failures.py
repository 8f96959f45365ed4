"""Failures of a vendor's client in the terms of mnemic. A vendor's message is left out: it may repeat the request."""

from __future__ import annotations

from mnemic.models.openai_client import CallFailed, FailureCause, status_error


def call_failed(error: Exception) -> CallFailed:
    """Return the outcome of a call that raised `error`."""
    from pydantic_ai.exceptions import (
        ModelAPIError,
        ModelHTTPError,
        ModelRequestTimeout,
        ModelTimeoutError,
        UserError,
    )

    if isinstance(error, CallFailed):
        return error
    if isinstance(error, TimeoutError | ModelTimeoutError | ModelRequestTimeout):
        return CallFailed(FailureCause.TIMEOUT, "no answer in time", sent=True)
    if isinstance(error, ModelHTTPError):
        return status_error(error.status_code, (error.headers or {}).get("retry-after"), str(error.body))
    if isinstance(error, ModelAPIError | OSError):
        return CallFailed(FailureCause.UNREACHABLE, "no connection")
    if isinstance(error, UserError | NotImplementedError):
        return CallFailed(FailureCause.REFUSED, "the vendor's client does not take this")
    return CallFailed(FailureCause.RESPONSE, "not an answer in the vendor's format", sent=True)
