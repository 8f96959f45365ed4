"""One verb, two ways to call it."""

from __future__ import annotations

import inspect

import pytest

from mnemic.runtime.event_loop_thread import Portal
from mnemic.runtime.sync_facade import DualModeApi, M, async_mode, blocking, verb


class Doubler(DualModeApi[M]):
    @verb
    async def double(self, number: int, *, times: int = 1) -> int:
        """Twice the number."""
        if number < 0:
            raise ValueError(number)
        return number * 2**times


async def test_awaited_verbs_are_coroutines() -> None:
    assert await Doubler(async_mode()).double(3, times=2) == 12


def test_blocking_verbs_wait_and_raise_what_the_coroutine_raises() -> None:
    portal = Portal()
    try:
        doubler = Doubler(blocking(portal.call))
        assert doubler.double(3) == 6
        with pytest.raises(ValueError, match="-1"):
            doubler.double(-1)
    finally:
        portal.close()


def test_a_verb_keeps_its_name_its_words_and_its_parameters() -> None:
    face = Doubler(blocking(lambda function, *args, **kwargs: None))  # type: ignore[arg-type, misc]
    assert face.double.__doc__ == Doubler.double.__doc__ == "Twice the number."
    assert list(inspect.signature(face.double).parameters) == ["number", "times"]
