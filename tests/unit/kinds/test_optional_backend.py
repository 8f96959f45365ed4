"""A backend that hangs is left alone; one that fails at once is asked again."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from mnemic.errors import StoreBusy, StoreUnavailable
from mnemic.retrieve.optional_backends import OptionalBackend
from mnemic.testing.clock import ManualClock


async def gone() -> None:
    raise StoreUnavailable


async def test_one_that_fails_at_once_after_a_rest_is_asked_again() -> None:
    clock = ManualClock()
    backend = OptionalBackend(clock, timeout=timedelta(milliseconds=1))
    with pytest.raises(StoreBusy):
        await backend.call(asyncio.Event().wait)
    with pytest.raises(StoreBusy):
        await backend.call(gone)
    clock.advance(backend.rest)
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            await backend.call(gone)
