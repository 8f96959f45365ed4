"""The outbox reaches every projection, in order, at least once, whatever fails in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, StoreUnavailable
from mnemic.policy.grant import Grant
from mnemic.ports import RecordStore
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.types import Actor, Change, Memory, OutboxEntry, Status
from mnemic.write.outbox import OutboxConsumer, OutboxWorker, Publisher, compact, drain
from tests.derived_copy import Copy


@pytest.fixture(params=["in-process", "sqlite", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[RecordStore]:
    """An open store of every sort."""
    made: dict[str, Any] = {
        "in-process": InProcessStore,
        "sqlite": lambda: SqliteStore(tmp_path / "m.db"),
        "postgres": lambda: PostgresStore(request.getfixturevalue("postgres").database(tmp_path)),
    }
    store = made[request.param]()
    await store.open(EMBEDDER.space)
    yield store
    await store.close()


@pytest.fixture
def copy() -> Copy:
    return Copy()


@pytest.fixture
def feed(store: RecordStore, copy: Copy) -> OutboxConsumer:
    return OutboxConsumer(copy, store, ManualClock())


async def leave(store: RecordStore, *memories: Memory, action: str | None = None) -> None:
    """Entries on the outbox, and nothing else."""

    async def work(transaction: Any) -> None:
        for each in memories:
            await transaction.enqueue(OutboxEntry.for_memory(each, action))

    await store.transact(work)


async def written(store: RecordStore, *contents: str) -> list[Memory]:
    """Memories that nobody has published yet."""
    memories = [memory(content, fingerprint=content) for content in contents]
    await remember(store, *memories)
    await leave(store, *memories)
    return memories


async def close(store: RecordStore, old: Memory, status: Status) -> None:
    ended = old.next_version(old.updated_at, status=status)
    await store.transact(lambda transaction: transaction.replace(ended))
    await leave(store, ended)


async def test_what_was_left_is_taken_in_order(store: RecordStore, feed: OutboxConsumer, copy: Copy) -> None:
    await feed.register()
    memories = await written(store, *(f"text {number}" for number in range(250)))
    report = await drain(store, [feed])
    assert (report.taken, report.behind, report.total) == ({"hot": 250}, {}, 250)
    assert [memory_id for memory_id, _ in copy.heard] == [each.memory_id for each in memories]
    assert copy.calls == 3
    assert await store.pending() == []


async def test_no_projection_is_held_up_or_skipped_by_another(
    store: RecordStore, feed: OutboxConsumer, copy: Copy
) -> None:
    other = Copy("other")
    feeds = [feed, OutboxConsumer(other, store, ManualClock())]
    for each in feeds:
        await each.register()
    first, second, third = await written(store, "one", "two", "three")
    copy.refused = {second.memory_id}
    report = await drain(store, feeds)
    assert (report.taken, report.behind) == ({"hot": 1, "other": 3}, {"hot": 2})
    assert copy.heard == [(first.memory_id, 1)]
    assert list(other.held.values()) == ["one", "two", "three"]
    copy.refused = set()
    assert (await drain(store, feeds)).taken == {"hot": 2, "other": 0}
    assert copy.heard[1:] == [(second.memory_id, 1), (third.memory_id, 1)]
    assert await store.pending() == []


async def test_a_kill_between_apply_and_acknowledge_changes_nothing(
    store: RecordStore, feed: OutboxConsumer, copy: Copy, monkeypatch: pytest.MonkeyPatch
) -> None:
    await written(store, "one", "two")

    async def killed(*_: Any, **__: Any) -> None:
        raise asyncio.CancelledError

    monkeypatch.setattr(store, "acknowledge", killed)
    with pytest.raises(asyncio.CancelledError):
        await feed.catch_up()
    monkeypatch.undo()
    before = dict(copy.held)
    again = OutboxConsumer(copy, store, ManualClock())
    assert (await drain(store, [again])).total == 2
    assert copy.held == before == dict(zip(before, ["one", "two"], strict=True))
    assert await store.pending() == []


async def test_the_copy_is_brought_to_what_holds_now(store: RecordStore, feed: OutboxConsumer, copy: Copy) -> None:
    kept, closed, gone = await written(store, "kept", "closed", "gone")
    await close(store, closed, Status.SUPERSEDED)
    await store.transact(lambda transaction: transaction.remove(gone.memory_id, scope=scope()))
    await leave(store, gone, action="remove")
    await drain(store, [feed])
    assert copy.held == {kept.memory_id: "kept"}
    assert len(copy.heard) == 3


async def test_whoever_comes_last_leaves_the_memory_as_it_stands(
    store: RecordStore, feed: OutboxConsumer, copy: Copy
) -> None:
    """A writer that stalls between its commit and its apply must not bring back what has been superseded."""
    (late,) = await written(store, "late")
    copy.gate = asyncio.Event()
    stalled = asyncio.create_task(feed.catch_up([Change(entry=OutboxEntry.for_memory(late), memory=late)]))
    await copy.called.wait()
    await close(store, late, Status.SUPERSEDED)
    quick = OutboxConsumer(Copy(), store, ManualClock())
    quick.projection.held = copy.held
    await quick.catch_up()
    copy.gate.set()
    assert (await stalled).taken == 1
    assert copy.held == {}
    assert await store.pending() == []


async def test_what_awaits_review_reaches_no_copy(store: RecordStore, feed: OutboxConsumer, copy: Copy) -> None:
    (flagged,) = await written(store, "flagged")
    await close(store, flagged, Status.PENDING_REVIEW)
    await drain(store, [feed])
    assert copy.held == {}


async def test_a_projection_of_another_program_keeps_its_entries(store: RecordStore, feed: OutboxConsumer) -> None:
    await store.register("elsewhere")
    await written(store, "one")
    report = await drain(store, [feed])
    assert (report.taken, report.behind) == ({"hot": 1}, {"elsewhere": 1})
    assert (await drain(store, [])).behind == {"elsewhere": 1}
    assert len(await store.pending()) == 1


async def test_a_dry_run_only_counts(store: RecordStore, feed: OutboxConsumer, copy: Copy) -> None:
    await feed.register()
    await written(store, "one", "two")
    assert (await drain(store, [feed], dry_run=True)).behind == {"hot": 2}
    assert copy.calls == 0


async def test_building_anew_replaces_what_was_there(store: RecordStore, feed: OutboxConsumer, copy: Copy) -> None:
    copy.held = {"stale": "of long ago"}
    memories = await written(store, *(f"text {number}" for number in range(120)))
    rival = memory("of another tenant", scope=scope(tenant="rival"))
    await remember(store, rival)
    await close(store, memories[0], Status.EXPIRED)
    assert await feed.rebuild("acme") == 119
    assert list(copy.held.values()) == [each.content for each in memories[1:]]
    copy.down = True
    with pytest.raises(StoreUnavailable, match="hot"):
        await feed.rebuild("acme")


async def test_a_store_that_fails_is_not_blamed_on_the_projection(feed: OutboxConsumer, store: RecordStore) -> None:
    await store.close()
    caught = await feed.catch_up()
    assert (caught.failed, feed.failures) == ("outbox", {"outbox": 1})
    await store.open(EMBEDDER.space)


async def test_the_worker_takes_what_was_left_and_what_comes_later(copy: Copy) -> None:
    store = InProcessStore()
    await store.open(EMBEDDER.space)
    await written(store, "before")
    feed = OutboxConsumer(copy, store, ManualClock())
    drainer = OutboxWorker([feed])

    drainer.start()
    drainer.start()
    await copy.called.wait()
    await written(store, "after")
    copy.called.clear()
    feed.late.set()
    await copy.called.wait()
    assert (await feed.catch_up()).taken == 0
    assert list(copy.held.values()) == ["before", "after"]
    assert await store.pending() == []
    await drainer.stop()
    await drainer.stop()


# -- through the engine -----------------------------------------------------------------------------------------------

ANA, BEN = Actor(user="ana", workspace="desk"), Actor(user="ben", workspace="desk")


@pytest.fixture
async def engine(store: RecordStore, copy: Copy) -> AsyncIterator[MemoryEngine]:
    await store.close()
    grant = Grant(levels=frozenset({"user", "workspace"}))
    projections: Sequence[Any] = [copy]
    made = MemoryEngine(
        store=store, embedder=WordEmbedder(64), clock=ManualClock(), grant=grant, projections=projections
    )
    async with made as engine:
        yield engine
    assert copy.closed
    await store.open(EMBEDDER.space)


async def test_every_verb_that_ends_a_memory_takes_it_out_of_the_copies(engine: MemoryEngine, copy: Copy) -> None:
    tea = await engine.add("Likes tea.", actor=ANA, key="drink")
    other = await engine.add("Owns a red bicycle.", actor=ANA)
    assert set(copy.held) == {tea.memory_id, other.memory_id}
    coffee = await engine.add("Likes coffee.", actor=ANA, key="drink")
    assert set(copy.held) == {coffee.memory_id, other.memory_id}
    await engine.forget(str(other.memory_id), actor=ANA)
    assert set(copy.held) == {coffee.memory_id}
    receipt = await engine.erase("ana", actor=ANA)
    assert copy.held == {}
    assert receipt.complete
    assert await engine.store.pending() == []


async def test_an_erasure_is_not_complete_before_every_copy_has_heard_of_it(engine: MemoryEngine, copy: Copy) -> None:
    await engine.add("Likes tea.", actor=ANA)
    copy.down = True
    receipt = await engine.erase("ana", actor=ANA)
    assert not receipt.complete
    assert receipt.traces["outbox"] == 1
    copy.down = False
    assert (await engine.maintain(actor=ANA)).outbox.taken == {"hot": 1}
    assert copy.held == {}
    assert not any((await engine.verify_erasure(receipt)).values())


async def test_a_copy_is_built_anew_on_request(engine: MemoryEngine, copy: Copy) -> None:
    tea = await engine.add("Likes tea.", actor=ANA)
    copy.held = {}
    assert await engine.rebuild("hot", actor=BEN) == 1
    assert set(copy.held) == {tea.memory_id}
    with pytest.raises(InvalidInput):
        await engine.rebuild("cold", actor=ANA)


async def test_a_copy_that_will_not_return_is_unregistered(engine: MemoryEngine, copy: Copy) -> None:
    await engine.store.register("gone")
    await engine.add("Likes tea.", actor=ANA)
    assert (await engine.store.projections())["gone"] == 1
    assert await engine.unregister("gone", actor=ANA) == 1
    assert await engine.store.projections() == {"hot": 0}
    for name in ("gone", "hot"):  # not registered any more, and one that this engine feeds
        with pytest.raises(InvalidInput):
            await engine.unregister(name, actor=ANA)


async def test_what_is_not_fetched_becomes_one_entry_for_each_tenant(
    store: RecordStore, feed: OutboxConsumer, copy: Copy
) -> None:
    other = OutboxConsumer(Copy("other"), store, ManualClock())
    for each in (feed, other):
        await each.register()
    told = await written(store, *(f"text {number}" for number in range(30)))
    elsewhere = memory("theirs", scope=scope(tenant="rival"))
    await remember(store, elsewhere)
    await leave(store, elsewhere)
    await drain(store, [other])
    assert await compact(store, most=31) == {}
    assert await compact(store, most=30) == {"hot": 31}
    left = await store.pending(projection="hot")
    assert [(entry.whole, entry.scope.tenant) for entry in left] == [(True, "acme"), (True, "rival")]
    assert await store.projections() == {"hot": 2, "other": 0}
    late = await written(store, "late")
    caught = await feed.catch_up()
    assert (caught.taken, caught.behind, caught.failed, copy.heard) == (0, True, None, [])
    await drain(store, [feed, other])
    assert copy.held == {one.memory_id: one.content for one in (*told, elsewhere, *late)}
    assert await store.pending() == []


async def test_a_part_that_cannot_be_built_anew_asks_again(
    store: RecordStore, feed: OutboxConsumer, copy: Copy
) -> None:
    await feed.register()
    await written(store, "one", "two")
    await compact(store, most=0)
    copy.down = True
    assert (await feed.catch_up(at_once=True, patient=True)).failed == "hot"
    assert len(await store.pending(projection="hot")) == 1
    await compact(store, most=0)
    assert len(await store.pending(projection="hot")) == 1
    copy.down = False
    await drain(store, [feed])
    assert sorted(copy.held.values()) == ["one", "two"]
    assert await store.pending() == []


async def test_writers_bound_the_outbox_of_a_projection_that_is_gone(
    store: RecordStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those that know nothing of it."""
    monkeypatch.setattr("mnemic.write.outbox.MAX_WAITING", 100)
    await store.register("gone")
    publisher = Publisher(store, ManualClock())
    for batch in range(4):
        memories = await written(store, *(f"text {batch} {number}" for number in range(70)))
        changes = [Change(entry=OutboxEntry.for_memory(one), memory=one) for one in memories]
        assert await publisher.publish(changes) == ()
    assert await store.projections() == {"gone": 1}
