"""Calls that are run a few at a time."""

from __future__ import annotations

import asyncio
import warnings
from functools import partial

import pytest

from mnemic.stores.cassandra.connection import some_at_once


async def test_answers_come_in_the_order_of_the_questions_and_no_more_than_so_many_are_asked_at_once() -> None:
    asked, most = [0], [0]

    async def answer(number: int) -> int:
        asked[0] += 1
        most[0] = max(most[0], asked[0])
        await asyncio.sleep(0)
        asked[0] -= 1
        return number

    assert await some_at_once((partial(answer, number) for number in range(10)), most=3) == list(range(10))
    assert most == [3]


async def test_a_cancelled_caller_leaves_no_question_begun_and_never_awaited() -> None:
    begun = asyncio.Event()

    async def answer() -> None:
        begun.set()
        await asyncio.Event().wait()

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        asking = asyncio.create_task(some_at_once([answer] * 5, most=1))
        await begun.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        del asking
    assert not [one for one in seen if "never awaited" in str(one.message)]
