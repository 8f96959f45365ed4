"""Contract of reads as of an earlier moment: the versions of that time, and nothing later."""

# ruff: noqa: D102

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from mnemic.ports import RecordStore, Snapshot
from mnemic.testing.record_store.fixtures import (
    EMBEDDER,
    Setting,
    change,
    day,
    everything,
    ids,
    memory,
    remember,
    scope,
)
from mnemic.types import Memory, Status


async def then(store: RecordStore, known_at: datetime, **options: Any) -> Snapshot:
    """Return the statements believed in the default scope."""
    return await store.as_known_at([scope()], known_at, **options)


async def contents_at(snapshot: Snapshot, **filters: Any) -> list[str]:
    """Return the contents that a filter accepts at a moment, newest memory first."""
    return [one.content for one in await snapshot.newest(everything(**filters), limit=99)]


async def moved_memory(store: RecordStore) -> Memory:
    """Return a memory of day 0 that was corrected on day 2 and closed on day 4."""
    first = memory("lives in Oslo", at=day(0))
    await remember(store, first)
    second = first.next_version(day(2), content="lives in Bergen", vector=EMBEDDER.vector("lives in Bergen"))
    await change(store, second)
    await change(store, second.next_version(day(4), status=Status.SUPERSEDED, valid_to=day(3)))
    return first


class BelievingContract(Setting):
    """Check reads along the recorded axis of time."""

    async def test_each_moment_has_its_version(self, store: RecordStore) -> None:
        await moved_memory(store)
        believed = [await contents_at(await then(store, day(at))) for at in (-1, 0, 1, 2, 3, 4)]
        oslo, bergen = ["lives in Oslo"], ["lives in Bergen"]
        assert believed == [[], oslo, oslo, bergen, bergen, []]

    async def test_both_axes_are_asked_together(self, store: RecordStore) -> None:
        await moved_memory(store)
        assert await contents_at(await then(store, day(4)), as_of=day(2)) == ["lives in Bergen"]
        assert await contents_at(await then(store, day(4)), as_of=day(3)) == []
        assert await contents_at(await then(store, day(3)), as_of=day(3)) == ["lives in Bergen"]

    async def test_the_past_is_searched_by_its_own_words(self, store: RecordStore) -> None:
        first = await moved_memory(store)
        await remember(store, memory("lives in Oslo by the sea", at=day(3)))
        past = await then(store, day(1))
        assert ids(await past.match(everything(), "oslo", limit=9)) == [first.memory_id]
        assert await past.match(everything(), "bergen", limit=9) == []
        assert ids(await past.recent(everything(), limit=9)) == [first.memory_id]
        assert await past.count(everything()) == 1

    async def test_a_version_that_says_the_same_keeps_its_vector(self, store: RecordStore) -> None:
        closed = memory("likes the harbour", at=day(0))
        await remember(store, closed)
        await change(store, closed.next_version(day(2), status=Status.SUPERSEDED))
        await moved_memory(store)
        past = await then(store, day(1))
        assert ids(await past.nearest(everything(), EMBEDDER.vector("the harbour"), limit=9)) == [closed.memory_id]
        assert (await past.get_many([closed.memory_id], scopes=[scope()]))[closed.memory_id] == closed

    async def test_versions_end_at_the_moment(self, store: RecordStore) -> None:
        first = await moved_memory(store)
        past = await then(store, day(3))
        assert [one.version for one in await past.versions(first.memory_id, scopes=[scope()])] == [1, 2]

    async def test_only_the_named_scopes_are_seen(self, store: RecordStore) -> None:
        elsewhere = memory("somebody else's", scope=scope("bob"), at=day(0))
        foreign = memory("a rival's", scope=scope(tenant="rival"), at=day(0))
        await remember(store, elsewhere)
        await remember(store, foreign)
        past = await then(store, day(9))
        for place in (elsewhere.scope, foreign.scope):
            assert await past.newest(everything(place), limit=9) == []
        assert await past.get_many([elsewhere.memory_id, foreign.memory_id], scopes=[scope()]) == {}
        assert await (await store.as_known_at([], day(9))).get_many([elsewhere.memory_id], scopes=[scope("bob")]) == {}

    async def test_what_was_removed_or_has_expired_since_is_not_there(self, store: RecordStore) -> None:
        gone, lasting = memory("forgotten", at=day(0)), memory("expired", at=day(0), expires_at=day(5))
        await remember(store, gone, lasting)
        await store.transact(lambda transaction: transaction.remove(gone.memory_id, scope=scope()))
        assert await contents_at(await then(store, day(1))) == ["expired"]
        assert await contents_at(await then(store, day(1), live_at=day(5))) == []
        extended = replace(lasting.next_version(day(2)), expires_at=day(9))
        await change(store, extended)
        assert await contents_at(await then(store, day(1), live_at=day(6))) == ["expired"]

    async def test_a_moment_that_was_read_does_not_change(self, store: RecordStore) -> None:
        await moved_memory(store)
        past = await then(store, day(9))
        await remember(store, memory("new", at=day(5)))
        assert await contents_at(past, statuses=frozenset(Status)) == ["lives in Bergen"]
