"""A problem of the service as the error that the library would have raised."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from mnemic.errors import BudgetSpent, MnemicError, RunStopped, ServiceRefused, error_behind

_BUDGETS = ("max_seconds", "max_capture_items")


def failure_of(body: Mapping[str, Any], retry_after: str | None) -> MnemicError:
    """Return the error for a problem, by its `reason`; ServiceRefused for a reason that only the service has."""
    reason, hint = str(body.get("reason", "unknown")), body.get("detail")
    kind, detail = error_behind(reason), reason.partition(":")[2]
    if reason in _BUDGETS:
        failure: MnemicError = BudgetSpent(reason)
    elif kind in (MnemicError, BudgetSpent, RunStopped):
        failure = ServiceRefused(reason, hint=hint)
    else:
        failure = kind(detail or None, hint=hint)
    if retry_after is not None and retry_after.isdigit():
        failure.retry_after = timedelta(seconds=int(retry_after))
    return failure
