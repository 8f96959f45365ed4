"""The contract every session store keeps, as one pytest class: subclass it and give `new_store`."""

# ruff: noqa: D102

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
import pytest_asyncio

from mnemic.ports import SessionStore
from mnemic.testing.clock import ManualClock
from mnemic.types import Level, Message, Origin, Scope

_HOUR = timedelta(hours=1)


def _scope(owner: str = "s1", tenant: str = "acme") -> Scope:
    return Scope(tenant=tenant, level=Level.SESSION, owner=owner)


def _message(content: str) -> Message:
    return Message(role="user", content=content)


class SessionStoreContract:
    """Everything `mnemic.ports.SessionStore` promises. `new_store` makes a store that goes by `clock`."""

    pytestmark = pytest.mark.asyncio

    def new_store(self, clock: ManualClock) -> SessionStore:
        """The store under test, empty."""
        raise NotImplementedError

    @pytest.fixture
    def clock(self) -> ManualClock:
        """The clock that ends sessions."""
        return ManualClock()

    @pytest_asyncio.fixture
    async def store(self, clock: ManualClock) -> AsyncIterator[SessionStore]:
        """A store that is closed afterwards."""
        store = self.new_store(clock)
        yield store
        await store.close()

    async def test_messages_come_back_equal_and_in_order(self, store: SessionStore, clock: ManualClock) -> None:
        told = [
            _message("hello\n'\" \x00 🎨"),
            Message(
                role="tool",
                content="",
                message_id="m1",
                session="s1",
                speaker="Ada",
                sent_at=clock.now(),
                origin=Origin.TOOL_OUTPUT,
            ),
        ]
        for message in told:
            await store.append(_scope(), message, ttl=_HOUR, keep=10)
        assert await store.tail(_scope(), limit=10) == told
        assert await store.tail(_scope(), limit=1) == told[1:]

    async def test_no_limit_below_one_returns_anything(self, store: SessionStore) -> None:
        await store.append(_scope(), _message("a"), ttl=_HOUR, keep=10)
        assert await store.tail(_scope(), limit=0) == []
        assert await store.tail(_scope(), limit=-1) == []

    async def test_only_the_newest_are_kept(self, store: SessionStore) -> None:
        for number in range(7):
            await store.append(_scope(), _message(str(number)), ttl=_HOUR, keep=3)
        assert [message.content for message in await store.tail(_scope(), limit=99)] == ["4", "5", "6"]
        await store.append(_scope(), _message("7"), ttl=_HOUR, keep=2)
        assert [message.content for message in await store.tail(_scope(), limit=99)] == ["6", "7"]

    async def test_sessions_share_nothing(self, store: SessionStore) -> None:
        places = [_scope(), _scope("s2"), _scope(tenant="rival")]
        for place in places:
            await store.append(place, _message(f"{place.tenant} {place.owner}"), ttl=_HOUR, keep=5)
        await store.clear(places[1])
        found = [[message.content for message in await store.tail(place, limit=9)] for place in places]
        assert found == [["acme s1"], [], ["rival s1"]]

    async def test_a_session_ends_a_while_after_its_last_message(self, store: SessionStore, clock: ManualClock) -> None:
        await store.append(_scope(), _message("a"), ttl=_HOUR, keep=5)
        clock.advance(_HOUR - timedelta(seconds=1))
        await store.append(_scope(), _message("b"), ttl=_HOUR, keep=5)
        clock.advance(_HOUR - timedelta(seconds=1))
        assert len(await store.tail(_scope(), limit=9)) == 2
        clock.advance(timedelta(seconds=1))
        assert await store.tail(_scope(), limit=9) == []
        await store.append(_scope(), _message("c"), ttl=_HOUR, keep=5)
        assert [message.content for message in await store.tail(_scope(), limit=9)] == ["c"]

    async def test_many_tasks_append_to_one_session(self, store: SessionStore) -> None:
        texts = [str(number) for number in range(50)]
        await asyncio.gather(*(store.append(_scope(), _message(text), ttl=_HOUR, keep=99) for text in texts))
        assert sorted(message.content for message in await store.tail(_scope(), limit=99)) == sorted(texts)

    async def test_clearing_and_closing_may_be_repeated(self, store: SessionStore) -> None:
        await store.clear(_scope())
        await store.append(_scope(), _message("a"), ttl=_HOUR, keep=5)
        await store.clear(_scope())
        await store.clear(_scope())
        assert await store.tail(_scope(), limit=9) == []
        await store.close()
        await store.close()
