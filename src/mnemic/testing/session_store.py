"""Contract of every session store, as one pytest class: subclass it and define `new_store`."""

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
_MINUTE = timedelta(minutes=1)


def _scope(owner: str = "s1", tenant: str = "acme") -> Scope:
    return Scope(tenant=tenant, level=Level.SESSION, owner=owner)


def _message(content: str) -> Message:
    return Message(role="user", content=content)


class SessionStoreContract:
    """Checks everything that `mnemic.ports.SessionStore` promises. `new_store` makes a store that uses `clock`; a store
    that uses its server's clock also defines `let_pass`.
    """

    pytestmark = pytest.mark.asyncio

    def new_store(self, clock: ManualClock) -> SessionStore:
        """Return the store under test, empty."""
        raise NotImplementedError

    def let_pass(self, clock: ManualClock, duration: timedelta) -> None:
        """Advance the store's clock by `duration`."""
        clock.advance(duration)

    @pytest.fixture
    def clock(self) -> ManualClock:
        """Return the clock that ends sessions."""
        return ManualClock()

    @pytest_asyncio.fixture
    async def store(self, clock: ManualClock) -> AsyncIterator[SessionStore]:
        """Yield a store that is closed afterwards."""
        store = self.new_store(clock)
        yield store
        await store.close()

    async def test_messages_come_back_equal_and_in_order(self, store: SessionStore, clock: ManualClock) -> None:
        messages = [
            _message("hello\n'\" \x00 🎨"),
            Message(
                role="tool",
                content="",
                message_id="m1",
                session="s1",
                speaker="Ada",
                sent_at=clock.now(),
                origin=Origin.TOOL_OUTPUT,
                derived_from=("m0", "m00"),
            ),
        ]
        for message in messages:
            await store.append(_scope(), message, ttl=_HOUR, keep=10)
        assert await store.tail(_scope(), limit=10) == messages
        assert await store.tail(_scope(), limit=1) == messages[1:]

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

    async def test_keeping_none_keeps_none(self, store: SessionStore) -> None:
        await store.append(_scope(), _message("a"), ttl=_HOUR, keep=5)
        await store.append(_scope(), _message("b"), ttl=_HOUR, keep=0)
        assert await store.tail(_scope(), limit=9) == []

    async def test_the_same_words_twice_are_two_messages(self, store: SessionStore) -> None:
        for _ in range(3):
            await store.append(_scope(), _message("yes"), ttl=_HOUR, keep=9)
        assert [message.content for message in await store.tail(_scope(), limit=9)] == ["yes"] * 3

    async def test_sessions_share_nothing(self, store: SessionStore) -> None:
        places = [
            _scope(),
            _scope("s2"),
            _scope(tenant="rival"),
            _scope("s1:s2"),
            _scope("s1:"),
            _scope("s1", "acme:"),
        ]
        for place in places:
            await store.append(place, _message(f"{place.tenant} {place.owner}"), ttl=_HOUR, keep=5)
        await store.clear(places[1])
        found = [[message.content for message in await store.tail(place, limit=9)] for place in places]
        assert found == [["acme s1"], [], ["rival s1"], ["acme s1:s2"], ["acme s1:"], ["acme: s1"]]

    async def test_a_session_ends_a_while_after_its_last_message(self, store: SessionStore, clock: ManualClock) -> None:
        await store.append(_scope(), _message("a"), ttl=_HOUR, keep=5)
        self.let_pass(clock, _HOUR - _MINUTE)
        await store.append(_scope(), _message("b"), ttl=_HOUR, keep=5)
        self.let_pass(clock, _HOUR - _MINUTE)
        assert len(await store.tail(_scope(), limit=9)) == 2
        self.let_pass(clock, _MINUTE)
        assert await store.tail(_scope(), limit=9) == []
        await store.append(_scope(), _message("c"), ttl=_HOUR, keep=5)
        assert [message.content for message in await store.tail(_scope(), limit=9)] == ["c"]

    async def test_many_tasks_append_to_one_session(self, store: SessionStore) -> None:
        texts = [str(number) for number in range(50)]
        await asyncio.gather(*(store.append(_scope(), _message(text), ttl=_HOUR, keep=99) for text in texts))
        assert sorted(message.content for message in await store.tail(_scope(), limit=99)) == sorted(texts)

    async def test_the_oldest_messages_are_folded_into_one(self, store: SessionStore, clock: ManualClock) -> None:
        messages = [_message(str(number)) for number in range(5)]
        for message in messages:
            await store.append(_scope(), message, ttl=_HOUR, keep=10)
        self.let_pass(clock, _HOUR / 2)
        summary = Message(role="summary", content="0 and 1", derived_from=("m0", "m1"))
        assert await store.fold(_scope(), messages[:2], summary)
        assert await store.tail(_scope(), limit=9) == [summary, *messages[2:]]
        self.let_pass(clock, _HOUR / 2)
        assert await store.tail(_scope(), limit=9) == []

    async def test_what_is_not_oldest_any_more_is_not_folded(self, store: SessionStore) -> None:
        messages = [_message(str(number)) for number in range(3)]
        for message in messages:
            await store.append(_scope(), message, ttl=_HOUR, keep=10)
        summary = _message("summary")
        for wrong in ([], messages[1:], [messages[0], messages[2]], [*messages, _message("3")], [_message("x")]):
            assert not await store.fold(_scope(), wrong, summary)
        assert not await store.fold(_scope("s2"), messages[:1], summary)
        assert await store.tail(_scope(), limit=9) == messages

    async def test_of_two_who_fold_the_same_one_wins(self, store: SessionStore) -> None:
        messages = [_message(str(number)) for number in range(4)]
        for message in messages:
            await store.append(_scope(), message, ttl=_HOUR, keep=10)
        won = await asyncio.gather(*(store.fold(_scope(), messages[:2], _message(f"by {who}")) for who in "abc"))
        assert sum(won) == 1
        assert len(await store.tail(_scope(), limit=9)) == 3

    async def test_the_sessions_of_a_speaker_are_found(self, store: SessionStore, clock: ManualClock) -> None:
        hour, first, other = timedelta(hours=1), _scope("first"), _scope("second")
        foreign = Scope(tenant="other", level=Level.SESSION, owner="first")
        for place, author in ((first, "ana"), (first, "ben"), (other, "ana"), (foreign, "ana")):
            await store.append(place, Message(role="user", content="Hello", author=author), ttl=hour, keep=10)
        assert {one.owner for one in await store.spoken_in(first.tenant, "ana")} == {"first", "second"}
        assert await store.spoken_in(first.tenant, "ben") == [first]
        assert await store.spoken_in("other", "ana") == [foreign]
        assert await store.spoken_in(first.tenant, "dora") == []
        assert {one.owner for one in await store.spoken_in(first.tenant, None)} == {"first", "second"}
        assert await store.spoken_in("nobody", None) == []
        await store.clear(first)
        assert await store.spoken_in(first.tenant, "ana") == [other]

    async def test_clearing_and_closing_may_be_repeated(self, store: SessionStore) -> None:
        await store.clear(_scope())
        await store.append(_scope(), _message("a"), ttl=_HOUR, keep=5)
        await store.clear(_scope())
        await store.clear(_scope())
        assert await store.tail(_scope(), limit=9) == []
        await store.close()
        await store.close()
