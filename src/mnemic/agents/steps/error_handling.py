"""Something that may go wrong without ending the turn."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from mnemic.errors import MnemicError


async def await_answer(answer: Any) -> Any:
    """Return the answer of a callback, which it gives now or when it is awaited."""
    return await answer if inspect.isawaitable(answer) else answer


async def attempt(work: Callable[[], Any], *, within: timedelta | None = None) -> tuple[Any, str]:
    """Return the result of `work` and "", or None and why it failed: a stable reason of ours, `timeout`, or the type's
    name of any other exception. Never its message, which may quote values.

    An awaitable is given the time `within` (None: as long as it takes); a blocking call cannot be interrupted.
    """
    try:
        answer = work()
        if inspect.isawaitable(answer):
            answer = await asyncio.wait_for(answer, None if within is None else within.total_seconds())
    except MnemicError as failure:
        return None, failure.reason
    except TimeoutError:
        return None, "timeout"
    except Exception as failure:  # noqa: BLE001 - stores, models and callbacks of others may raise anything
        return None, type(failure).__name__
    return answer, ""
