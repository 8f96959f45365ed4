"""A backend that is made with its first verb: once, opened where it is to be open, and closed with the rest."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from mnemic.bootstrap import build_sessions
from mnemic.bootstrap.stores import AtFirstUse
from mnemic.testing.clock import ManualClock
from mnemic.types import Level, Message, Scope


class Backend:
    """Counts how it is used; opening it lets others go first."""

    def __init__(self) -> None:
        self.opened = self.closed = self.asked = 0

    async def open(self) -> None:
        await asyncio.sleep(0)
        self.opened += 1

    async def close(self) -> None:
        self.closed += 1

    async def ask(self) -> Backend:
        self.asked += 1
        return self


@pytest.fixture
def made() -> list[Backend]:
    return []


@pytest.fixture
def late(made: list[Backend]) -> AtFirstUse:
    def make() -> Backend:
        made.append(Backend())
        return made[-1]

    return AtFirstUse(make)


async def test_nothing_is_made_before_the_first_verb(late: AtFirstUse, made: list[Backend]) -> None:
    await late.open()
    await late.close()
    assert made == []


async def test_two_first_verbs_at_once_leave_one_backend_open(late: AtFirstUse, made: list[Backend]) -> None:
    await late.open()
    one, other = await asyncio.gather(late.ask(), late.ask())
    assert one is other
    assert [backend.opened - backend.closed for backend in made if backend is not one] == [0]
    assert (one.opened, one.closed, one.asked) == (1, 0, 2)


async def test_what_is_made_is_closed_and_opened_with_the_rest(late: AtFirstUse) -> None:
    backend = await late.ask()
    assert backend.opened == 0, "nobody has opened it yet"
    await late.open()
    await late.close()
    assert (backend.opened, backend.closed) == (1, 1)


async def test_conversations_in_this_process_are_kept_between_verbs() -> None:
    sessions, copies = build_sessions("memory:", ManualClock())
    scope = Scope(tenant="acme", level=Level.SESSION, owner="s1")
    await sessions.append(scope, Message(role="user", content="The gate is green."), ttl=timedelta(hours=1), keep=5)
    assert [message.content for message in await sessions.tail(scope, limit=5)] == ["The gate is green."]
    assert copies == ()
