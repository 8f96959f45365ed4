"""Contract of a transaction."""

# ruff: noqa: D102

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import cast

import pytest

from mnemic.errors import InvalidInput, StoreBusy, VersionConflict
from mnemic.ports import RecordStore, Transaction
from mnemic.ports.record_store import SuppliedIdentifiers
from mnemic.testing.clock import ManualClock
from mnemic.testing.record_store.fixtures import (
    EMBEDDER,
    START,
    Setting,
    change,
    day,
    everything,
    ids,
    memory,
    remember,
    round_scores,
    scope,
)
from mnemic.types import AuditEvent, Deadline, Kind, Level, Memory, Origin, Source, Status, Trust


class _Refused(Exception):
    """Raised by work that changes its mind."""


class WritingContract(Setting):
    """Check that insert, replace and remove are atomic."""

    async def test_what_is_stored_comes_back_equal(self, store: RecordStore) -> None:
        full = memory(
            "teal 🎨 and \u202bעברית\u202c 'quoted' \"twice\"; DROP TABLE memory; --",
            kind=Kind.STRUCTURED,
            key="favourite_colour",
            category="preference",
            context="asked while painting\nat home",
            data={"shade": {"names": ["teal", "петроль"], "hex": 32896}, "sure": True, "none": None, "ratio": 0.1},
            status=Status.PENDING_REVIEW,
            confidence=0.1 + 0.2,
            trust=Trust.LOW,
            source=Source(origin=Origin.WEB, ref="m1", session="s1", speaker="Ada", quote="teal", span=(3, 7)),
            fingerprint="f" * 64,
            agent="painter",
            occurred_at=day(-400),
            valid_from=day(-3) + timedelta(microseconds=1),
            valid_to=day(30),
            expires_at=day(60),
            supersedes=("a", "b"),
            conflicts_with=("c",),
        )
        await remember(store, full)
        assert await store.get(full.memory_id, scopes=[scope()]) == full

    async def test_a_memory_needs_neither_vector_nor_fingerprint_nor_key(self, store: RecordStore) -> None:
        bare = [memory("one", vector=None), memory("two", vector=None)]
        await remember(store, *bare)
        assert await store.get_many(ids(bare), scopes=[scope()]) == {each.memory_id: each for each in bare}
        assert await store.nearest(everything(), EMBEDDER.vector("one"), limit=5) == []

    async def test_an_exception_undoes_everything(self, store: RecordStore) -> None:
        kept, lost = memory("kept"), memory("lost")
        await remember(store, kept)

        async def work(transaction: Transaction) -> None:
            await transaction.insert(lost)
            await transaction.replace(kept.next_version(day(1), content="changed"))
            raise _Refused

        with pytest.raises(_Refused):
            await store.transact(work)
        assert await store.newest(everything(), limit=9) == [kept]
        assert await store.match(everything(), "lost changed", limit=9) == []

    async def test_the_result_of_work_is_the_result_of_the_transaction(self, store: RecordStore) -> None:
        async def work(transaction: Transaction) -> list[Memory]:
            return await transaction.find_key(scope(), "absent")

        assert await store.transact(work) == []

    async def test_a_transaction_sees_its_own_changes_but_searches_what_was_there_before(
        self, store: RecordStore
    ) -> None:
        old = memory("green tea", key="drink", fingerprint="f1")
        await remember(store, old)

        async def work(transaction: Transaction) -> list[object]:
            new = memory("green tea", key="drink", fingerprint="f2")
            await transaction.insert(new)
            await transaction.replace(old.next_version(day(1), status=Status.SUPERSEDED))
            near = await transaction.nearest(scope(), EMBEDDER.vector("green tea"), limit=5, at_least=0.9)
            found = await transaction.find_fingerprint(scope(), "f2")
            return [ids(await transaction.find_key(scope(), "drink")) == [new.memory_id], found == new, near]

        only_new, by_fingerprint, near = await store.transact(work)
        assert only_new
        assert by_fingerprint
        assert [found for found, _ in near] == [old]  # type: ignore[attr-defined]

    async def test_awaiting_anything_but_the_transaction_is_refused(self, store: RecordStore) -> None:
        async def work(transaction: Transaction) -> None:
            await transaction.insert(memory("never"))
            await asyncio.sleep(0)

        with pytest.raises(RuntimeError, match="may await nothing but itself"):
            await store.transact(work)
        assert await store.count(everything()) == 0
        await remember(store, memory("after"))
        assert await store.count(everything()) == 1

    async def test_a_spent_deadline_is_busy_and_changes_nothing(self, store: RecordStore) -> None:
        clock = ManualClock()
        deadline = Deadline.after(timedelta(seconds=1), clock.monotonic)
        clock.advance(timedelta(seconds=2))
        with pytest.raises(StoreBusy):
            await store.transact(lambda transaction: transaction.insert(memory("late")), deadline=deadline)
        assert await store.count(everything()) == 0

    async def test_an_active_fingerprint_is_unique_within_its_scope(self, store: RecordStore) -> None:
        await remember(store, memory("tea", fingerprint="f1"))
        with pytest.raises(VersionConflict):
            await remember(store, memory("Tea", fingerprint="f1", kind=Kind.ENTITY))
        await remember(
            store,
            memory("tea", fingerprint="f1", scope=scope("bob")),
            memory("tea", fingerprint="f1", scope=scope(tenant="other")),
            memory("tea", fingerprint="f1", status=Status.PENDING_REVIEW),
        )
        assert await store.count(everything()) == 1

    async def test_a_fingerprint_is_free_again_when_its_memory_is_no_longer_active(self, store: RecordStore) -> None:
        old = memory("tea", fingerprint="f1")
        await remember(store, old)
        await change(store, old.next_version(day(1), status=Status.EXPIRED))
        await remember(store, memory("tea", fingerprint="f1"))
        with pytest.raises(VersionConflict):
            await change(store, old.next_version(day(1)).next_version(day(2), status=Status.ACTIVE))

    async def test_two_tenants_are_written_together(self, store: RecordStore) -> None:
        mine, theirs = memory("tea"), memory("tea", scope=scope(tenant="rival"))

        async def work(transaction: Transaction) -> None:
            await transaction.insert(mine)
            await transaction.append_audit(AuditEvent(tenant="acme", action="created", at=START, actor="ada"))
            await transaction.insert(theirs)

        await store.transact(work)
        assert await store.get(theirs.memory_id, scopes=[theirs.scope]) == theirs

    async def test_an_identifier_is_used_once(self, store: RecordStore) -> None:
        first = memory("first")
        await remember(store, first)
        for again in (memory("second", memory_id=first.memory_id), memory("new", version=2)):
            with pytest.raises(VersionConflict):
                await remember(store, again)
        assert await store.newest(everything(), limit=9) == [first]

    async def test_an_identifier_that_is_given_is_used_once_in_its_tenant(self, store: RecordStore) -> None:
        first = memory("first", scope=scope("bob"))
        await remember(store, first)

        async def insert_given(transaction: Transaction, to: Memory) -> None:
            if isinstance(transaction, SuppliedIdentifiers):
                await transaction.claim(to)
            await transaction.insert(to)

        for other in (scope(), scope("acme", level=Level.WORKSPACE), scope("bob")):
            with pytest.raises(VersionConflict):
                await store.transact(partial(insert_given, to=replace(first, scope=other)))
            assert await store.count(everything(scope(), scope("acme", level=Level.WORKSPACE))) == 0
        elsewhere = replace(first, scope=scope(tenant="rival"))
        await store.transact(partial(insert_given, to=elsewhere))
        assert await store.newest(everything(elsewhere.scope), limit=9) == [elsewhere]

    async def test_concurrent_twins_become_one_memory(self, store: RecordStore) -> None:
        twins = [memory("tea", fingerprint="f1") for _ in range(20)]
        outcomes = await asyncio.gather(*(remember(store, twin) for twin in twins), return_exceptions=True)
        assert Counter(type(outcome) for outcome in outcomes) == {type(None): 1, VersionConflict: 19}
        assert await store.count(everything()) == 1

    async def test_every_version_is_kept(self, store: RecordStore) -> None:
        first = memory("Lisbon", key="home")
        second = first.next_version(day(1), content="Porto", vector=EMBEDDER.vector("Porto"))
        third = second.next_version(day(2), confidence=0.9)
        await remember(store, first)
        await change(store, second)
        await change(store, third)
        kept = [replace(first, vector=None), replace(second, vector=None), third]
        assert await store.versions(first.memory_id, scopes=[scope()]) == kept
        assert await store.get(first.memory_id, scopes=[scope()]) == third
        assert await store.match(everything(), "Lisbon", limit=5) == []
        near = await store.nearest(everything(), EMBEDDER.vector("Porto"), limit=5)
        assert round_scores(near) == [(first.memory_id, 1.0)]

    async def test_only_the_next_version_of_what_is_there_can_replace_it(self, store: RecordStore) -> None:
        first = memory("one")
        await remember(store, first)
        second = first.next_version(day(1), content="two")
        await change(store, second)
        wrong = [
            second,
            first.next_version(day(2), content="lost update"),
            replace(second, version=4),
            memory("absent", version=2),
            replace(second, version=3, scope=scope("bob")),
            replace(second, version=3, scope=scope(tenant="other")),
        ]
        for each in wrong:
            with pytest.raises(VersionConflict):
                await change(store, each)
        assert await store.versions(first.memory_id, scopes=[scope()]) == [replace(first, vector=None), second]

    async def test_editors_who_read_in_the_transaction_lose_no_update(self, store: RecordStore) -> None:
        shared = memory("", data={"seen": []})
        await remember(store, shared)

        def add(name: str) -> Callable[[Transaction], Awaitable[None]]:
            async def work(transaction: Transaction) -> None:
                found = await transaction.get(shared.memory_id, scopes=[scope()])
                assert found is not None
                seen = [*cast("tuple[str, ...]", found.data["seen"]), name]
                await transaction.replace(found.next_version(day(1), data={"seen": seen}))

            return work

        await asyncio.gather(*(store.transact(add(str(number))) for number in range(50)))
        final = await store.get(shared.memory_id, scopes=[scope()])
        assert final is not None
        assert final.version == 51
        assert set(cast("tuple[str, ...]", final.data["seen"])) == set(map(str, range(50)))

    async def test_removing_leaves_nothing_to_find(self, store: RecordStore) -> None:
        gone, stays = memory("secret lagoon", fingerprint="f1"), memory("public beach")
        await remember(store, gone, stays)
        await change(store, gone.next_version(day(1), confidence=0.5))
        assert not await store.transact(lambda t: t.remove(gone.memory_id, scope=scope("bob")))
        assert await store.transact(lambda t: t.remove(gone.memory_id, scope=scope()))
        assert not await store.transact(lambda t: t.remove(gone.memory_id, scope=scope()))
        assert await store.get(gone.memory_id, scopes=[scope()]) is None
        assert await store.versions(gone.memory_id, scopes=[scope()]) == []
        assert ids(await store.newest(everything(), limit=9)) == [stays.memory_id]
        assert ids(await store.nearest(everything(), EMBEDDER.vector("secret lagoon"), limit=9)) == [stays.memory_id]
        assert await store.match(everything(), "lagoon", limit=9) == []
        assert await store.match(everything(), '"secret lagoon"', limit=9) == []
        await remember(store, memory("secret lagoon", fingerprint="f1"))

    @pytest.mark.parametrize(
        "vector", [b"", bytes(4), bytes(4 * 64), b"\x00\x00\xc0\x7f" * 64, b"\x00\x00\x80?" * 64], ids=len
    )
    async def test_a_vector_that_is_not_of_the_space_is_refused(self, store: RecordStore, vector: bytes) -> None:
        with pytest.raises(InvalidInput, match="vector"):
            await remember(store, memory("odd", vector=vector))
        with pytest.raises(InvalidInput, match="vector"):
            await store.nearest(everything(), vector, limit=1)
        assert await store.count(everything()) == 0

    @pytest.mark.parametrize(
        "fields",
        [{"content": "\ud800"}, {"data": {"n": float("nan")}}, {"data": {"o": object()}}, {"confidence": float("inf")}],
        ids=["surrogate", "nan", "object", "infinity"],
    )
    async def test_what_is_not_json_is_refused_before_it_is_written(
        self, store: RecordStore, fields: dict[str, object]
    ) -> None:
        with pytest.raises(InvalidInput):
            await remember(store, memory("x", vector=None), replace(memory("y"), **fields))  # type: ignore[arg-type]
        assert await store.count(everything()) == 0

    async def test_cancelling_leaves_a_whole_transaction_or_none(self, store: RecordStore) -> None:
        pairs = [(memory("left"), memory("right")) for _ in range(30)]
        tasks = [asyncio.create_task(remember(store, *pair)) for pair in pairs]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        stored = set(ids(await store.newest(everything(), limit=99)))
        for task, pair in zip(tasks, pairs, strict=True):
            assert len(stored & set(ids(pair))) in ((0, 2) if task.cancelled() else (2,))
        await remember(store, memory("still open"))
