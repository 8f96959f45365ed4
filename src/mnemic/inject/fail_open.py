"""Work of others - callbacks, sources, foreign messages - that must not stop a model call."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from mnemic.errors import MnemicError
from mnemic.inject.injection_result import SkippedInjection
from mnemic.types import Deadline


async def run_guarded(stage: str, work: Callable[..., Any], *arguments: Any) -> Any:
    """Return the outcome of `work`, awaited if it can be; any exception skips the injection under the stage's name."""
    try:
        outcome = work(*arguments)
        return await outcome if inspect.isawaitable(outcome) else outcome
    # Not a failure: it passes through with the reason it already has.
    except SkippedInjection:
        raise
    # Before the general case, so that timeouts are counted under one name.
    except TimeoutError:
        raise SkippedInjection(f"{stage}:timeout", degraded=True) from None
    except Exception as error:
        raise SkippedInjection(f"{stage}:{error_reason(error)}", degraded=True) from error


async def await_within(answer: Any, deadline: Deadline) -> Any:
    """Return an answer, or the result of an awaitable within the time limit."""
    return await asyncio.wait_for(answer, deadline.remaining()) if inspect.isawaitable(answer) else answer


def error_reason(error: BaseException) -> str:
    """Return the stable reason of ours, the type's name of any other exception. Never its message, which may quote
    content.
    """
    return error.reason if isinstance(error, MnemicError) else type(error).__name__
