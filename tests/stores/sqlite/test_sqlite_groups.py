"""Transactions that wait at the same time share one commit, and nothing else."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

from mnemic.errors import StoreBusy, StoreFull, VersionConflict
from mnemic.ports import Transaction, VectorPrefetch
from mnemic.ports.record_store import BatchedTransactions
from mnemic.runtime.clock import SystemClock
from mnemic.stores.sqlite import SqliteStore, open_file
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.types import AuditEvent, Deadline, Where

Work = Callable[[Transaction], Awaitable[Any]]
WHERE = Where(scopes=(scope(),))


@pytest.fixture
async def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SqliteStore]:
    monkeypatch.setattr(open_file, "MAX_LOCK_SECONDS", 60.0)
    store = SqliteStore(tmp_path / "m.db")
    await store.open(EMBEDDER.space)
    yield store
    await store.close()


async def together(store: SqliteStore, works: list[Work], deadlines: dict[int, Deadline] | None = None) -> list[Any]:
    """What becomes of `works` when all of them wait for the writing thread before the first begins."""
    release = threading.Event()

    async def holding(tx: Transaction) -> None:
        release.wait(timeout=10)

    held = asyncio.ensure_future(store.transact(holding))
    await asyncio.sleep(0)
    waiting = [
        asyncio.ensure_future(store.transact(work, deadline=(deadlines or {}).get(place)))
        for place, work in enumerate(works)
    ]
    await asyncio.sleep(0)
    release.set()
    await held
    return await asyncio.gather(*waiting, return_exceptions=True)


def inserting(text: str, seen: list[int] | None = None, path: Path | None = None) -> Work:
    async def work(tx: Transaction) -> str:
        one = memory(text)
        await tx.insert(one)
        if seen is not None and path is not None:
            with closing(apsw.Connection(str(path))) as other:
                seen.append(other.execute("SELECT count(*) FROM memory").fetchall()[0][0])
        return one.memory_id

    return work


async def test_nothing_of_a_group_is_there_before_all_of_it_is(store: SqliteStore, tmp_path: Path) -> None:
    seen: list[int] = []
    texts = [f"number {number}" for number in range(8)]
    memory_ids = await together(store, [inserting(text, seen, tmp_path / "m.db") for text in texts])
    assert seen == [0] * 8
    found = {one.memory_id: one.content for one in await store.newest(WHERE, limit=20)}
    assert [found[memory_id] for memory_id in memory_ids] == texts


async def test_one_that_raises_is_undone_and_stops_no_other(store: SqliteStore) -> None:
    async def failing(tx: Transaction) -> None:
        await tx.insert(memory("undone"))
        raise VersionConflict

    first, refused, last = await together(store, [inserting("first"), failing, inserting("last")])
    assert isinstance(refused, VersionConflict)
    assert {one.content for one in await store.newest(WHERE, limit=20)} == {"first", "last"}
    assert first != last


async def test_later_members_find_near_what_earlier_ones_wrote_changed_and_removed(store: SqliteStore) -> None:
    old, gone, new = memory("an old line"), memory("the one that goes"), memory("some new words")
    await remember(store, old, gone)

    def near(text: str) -> Work:
        async def work(tx: Transaction) -> list[str]:
            found = await tx.nearest(scope(), EMBEDDER.vector(text), limit=1, at_least=0.99)
            return [one.content for one, _ in found]

        return work

    works: list[Work] = [
        lambda tx: tx.insert(new),
        lambda tx: tx.replace(old.next_version(old.updated_at, confidence=0.1)),
        lambda tx: tx.remove(gone.memory_id, scope=gone.scope),
        near(new.content),
        near(gone.content),
        near(old.content),
    ]
    answers = await together(store, works)
    assert answers[3:] == [[new.content], [], [old.content]]
    assert await store.get(gone.memory_id, scopes=[scope()]) is None


async def test_a_full_disk_reaches_only_whom_it_concerns(store: SqliteStore) -> None:
    runs: list[str] = []

    async def full(tx: Transaction) -> None:
        runs.append("full")
        raise apsw.FullError

    first, refused, last = await together(store, [inserting("first"), full, inserting("last")])
    assert isinstance(refused, StoreFull)
    assert runs == ["full", "full", "full"], "once in the group, once by itself, once with the room of the log"
    assert {one.memory_id for one in await store.newest(WHERE, limit=20)} == {first, last}


async def test_who_is_past_its_deadline_is_told_and_the_others_go_on(store: SqliteStore) -> None:
    past = Deadline.after(timedelta(0), SystemClock().monotonic)
    first, late, last = await together(store, [inserting(text) for text in ("a", "late", "b")], {1: past})
    assert isinstance(late, StoreBusy)
    assert {one.memory_id for one in await store.newest(WHERE, limit=20)} == {first, last}


async def test_one_that_is_cancelled_before_it_begins_never_runs(store: SqliteStore) -> None:
    release = threading.Event()

    async def holding(tx: Transaction) -> None:
        release.wait(timeout=10)

    held = asyncio.ensure_future(store.transact(holding))
    await asyncio.sleep(0)
    kept, cancelled = (asyncio.ensure_future(store.transact(inserting(text))) for text in ("kept", "cancelled"))
    await asyncio.sleep(0)
    cancelled.cancel()
    await asyncio.sleep(0)
    release.set()
    await asyncio.wait([held, kept, cancelled])
    assert cancelled.cancelled()
    assert [one.content for one in await store.newest(WHERE, limit=20)] == ["kept"]


async def test_expected_vectors_get_the_answers_they_would_have_got(store: SqliteStore) -> None:
    vectors = [EMBEDDER.vector(f"text {number}") for number in (1, 5, 99)]

    async def answers(tx: Transaction) -> list[list[tuple[str, float]]]:
        await tx.insert(memory("text 99"))
        found = [await tx.nearest(scope(), vector, limit=5, at_least=0.5) for vector in vectors]
        return [[(one.content, score) for one, score in near] for near in found]

    async def inside(tx: Transaction) -> None:
        plain.append(await answers(tx))
        raise VersionConflict

    plain: list[Any] = []
    await store.expect(scope(), vectors, at_least=0.5)  # of a scope that is not there yet
    for number in range(40):
        await remember(store, memory(f"text {number}"))
    with pytest.raises(VersionConflict):
        await store.transact(inside)
    await store.expect(scope(), [*vectors, b"of another space"], at_least=0.5)
    await remember(store, memory("something else"))
    assert isinstance(store, VectorPrefetch)
    assert await store.transact(answers) == plain[0]
    assert [near[0][0] for near in plain[0][:2]] == ["text 1", "text 5"]


async def test_members_continue_the_audit_of_those_that_committed(store: SqliteStore) -> None:
    def noting(action: str, *, fails: bool = False) -> Work:
        async def work(tx: Transaction) -> None:
            await tx.append_audit(AuditEvent(tenant="acme", action=action, at=SystemClock().now(), actor="ann"))
            if fails:
                raise VersionConflict

        return work

    await together(store, [noting("one"), noting("undone", fails=True), noting("two"), noting("three")])
    await together(store, [noting("four"), noting("five")])

    events = await store.audit("acme")
    assert [(event.sequence, event.action) for event in events] == list(
        enumerate(["one", "two", "three", "four", "five"], start=1)
    )
    lines, broken, _ = await store.broken_audit("acme")
    assert (lines, broken) == (5, None)


async def test_several_are_answered_in_one_call_in_their_order(store: SqliteStore) -> None:
    async def failing(tx: Transaction) -> None:
        await tx.insert(memory("undone"))
        raise VersionConflict

    texts = [f"number {number}" for number in range(2 * open_file.MOST + 3)]
    works = [*map(inserting, texts[:5]), failing, *map(inserting, texts[5:])]
    assert isinstance(store, BatchedTransactions)
    answers = await store.transact_each(works)
    assert isinstance(answers.pop(5), VersionConflict)
    found = {one.memory_id: one.content for one in await store.newest(WHERE, limit=200)}
    assert [found[str(memory_id)] for memory_id in answers] == texts
    assert await store.transact_each([]) == []


async def test_what_a_full_group_leaves_of_several_is_run_after_it(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_file, "MAX_LOCK_SECONDS", -1.0)
    answers = await asyncio.wait_for(store.transact_each([inserting(f"number {n}") for n in range(9)]), 60)
    assert {one.memory_id for one in await store.newest(WHERE, limit=20)} == set(answers)


async def test_several_past_their_deadline_are_told_each(store: SqliteStore) -> None:
    past = Deadline.after(timedelta(0), SystemClock().monotonic)
    answers = await store.transact_each([inserting("a"), inserting("b")], deadline=past)
    assert [type(answer) for answer in answers] == [StoreBusy, StoreBusy]
    assert await store.newest(WHERE, limit=20) == []


async def test_several_that_are_cancelled_are_done_or_never_begin(store: SqliteStore) -> None:
    begun, release = threading.Event(), threading.Event()

    async def holding(tx: Transaction) -> None:
        await tx.insert(memory("done"))
        begun.set()
        release.wait(timeout=10)

    several = asyncio.ensure_future(store.transact_each([holding, inserting("never"), inserting("nor this")]))
    await asyncio.to_thread(begun.wait, 10)
    several.cancel()
    await asyncio.sleep(0)
    several.cancel()
    await asyncio.sleep(0)
    assert not several.done(), "a transaction that is running is waited for, however often it is cancelled"
    release.set()
    await asyncio.wait([several])
    assert several.cancelled()
    assert [one.content for one in await store.newest(WHERE, limit=20)] == ["done"]
