"""Buckets of large scopes: their values, the move into them, removals, and the results of their index."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable
from typing import Any

import pytest
from cassandra import InvalidRequest

from mnemic.engine import MemoryEngine
from mnemic.errors import StoreBusy
from mnemic.maintenance.archive import read_line
from mnemic.ports import Transaction
from mnemic.stores.cassandra import CassandraStore
from mnemic.stores.cassandra.buckets import named_by
from mnemic.stores.cassandra.routing import DROPPED, NAMES, SPLIT, Partition
from mnemic.stores.codec import cosines
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.record_store.fixtures import EMBEDDER, START, change, day, everything, ids, memory, remember, scope
from mnemic.types import Actor, AuditEvent, Candidate, Kind, Memory
from mnemic_eval.texts import statements

HOME = Partition("acme", "user", "ada")
Makes = Callable[..., CassandraStore]


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def new_store(cassandra: str) -> Makes:
    prefix = secrets.token_hex(6)

    def made(split_above: int = 4, bucket_size: int = 5) -> CassandraStore:
        return CassandraStore(f"{cassandra}&prefix={prefix}&split_above={split_above}&bucket_size={bucket_size}")

    return made


async def opened(made: Callable[[], CassandraStore]) -> CassandraStore:
    store = made()
    await store.open(EMBEDDER.space)
    return store


async def logged(store: CassandraStore, *memories: Memory) -> None:
    """Insert memories, each with its line in the audit."""

    async def work(transaction: Transaction) -> None:
        for each in memories:
            await transaction.insert(each)
            event = AuditEvent(tenant="acme", action="created", at=START, actor="ada", memory_id=each.memory_id)
            await transaction.append_audit(event)

    await store.transact(work)


def said(count: int, seed: int = 1) -> list[Memory]:
    texts = statements(seed)
    return [memory(f"{next(texts)} {number}", at=day(number % 9)) for number in range(count)]


async def stored(store: CassandraStore) -> list[bytes]:
    """Return the memories' rows as they are stored."""
    rows = await store._database.partitions.every(HOME, "memory")
    assert rows is not None
    return [value for _, value in rows]


async def listed(store: CassandraStore) -> dict[str, str]:
    """Return the names of the values in buckets, and their memories."""
    found = await store._database._buckets.values_in_buckets(HOME, 0)
    return {named.name: memory_id for named, memory_id in found.items()}


async def moved(store: CassandraStore) -> str | None:
    (row,) = await store._database.read(lambda rows: rows.get(SPLIT, [HOME]))
    place: str | None = row[3]
    return place


async def test_a_large_scope_is_moved_to_buckets_and_says_the_same(new_store: Makes) -> None:
    store = await opened(lambda: new_store(split_above=100))
    kept = said(30)
    await remember(store, *kept)
    await change(store, kept[3].next_version(day(10), content="tea in Bergen"))
    assert not any(map(named_by, await stored(store)))
    await store.close()

    store = await opened(new_store)
    before = await store.newest(everything(), limit=99), await store.versions(kept[3].memory_id, scopes=[scope()])
    await logged(store, memory("coffee"))
    assert sum(named_by(value) is not None for value in await stored(store)) == 1, "what is new lies in a bucket"
    await store.tidy()
    assert await moved(store) is None
    assert all(map(named_by, await stored(store)))
    names = await listed(store)
    assert len(names) == 32, "31 memories and an earlier version"
    filled = (await store._database.read(lambda rows: rows.get(SPLIT, [HOME])))[0][4]
    assert [int(count) for count in filled.split(",")] == [5, 5, 5, 5, 5, 5, 2]
    for again in (store, await opened(new_store)):
        assert (await again.newest(everything(), limit=99))[1:] == before[0]
        assert await again.versions(kept[3].memory_id, scopes=[scope()]) == before[1]
        assert await again.find_damage("acme") == []
        await again.close()


async def test_a_move_that_is_cut_off_anywhere_loses_nothing(new_store: Makes, monkeypatch: pytest.MonkeyPatch) -> None:
    store = await opened(lambda: new_store(split_above=100))
    kept = said(9)
    await remember(store, *kept)
    await store.close()
    monkeypatch.setattr("mnemic.stores.cassandra.upkeep._MOVED_AT_ONCE", 4)
    store = await opened(new_store)
    await logged(store, memory("coffee"))
    wanted = await store.newest(everything(), limit=99)
    await store.close()
    for cut in range(60):
        dying = await opened(new_store)
        with pytest.MonkeyPatch.context() as patch:
            ended = await _cut_off(dying, patch, cut)
        await dying.close()
        store = await opened(new_store)
        assert await store.newest(everything(), limit=99) == wanted
        await store.close()
        if ended:
            break
    assert ended
    store = await opened(new_store)
    await store.tidy()
    assert await moved(store) is None
    assert set((await listed(store)).values()) == set(ids(wanted))
    assert len(await listed(store)) == len(wanted), "what the ended processes have left is removed"
    await store.close()


async def _cut_off(dying: CassandraStore, patch: pytest.MonkeyPatch, writes: int) -> bool:
    """Move until so many writing statements were sent; return True if the move ended before."""
    link, left = dying._database.link, [writes]
    answer = link._answer

    async def cut_off(statement: Any) -> Any:
        if _writes(statement):
            if left[0] == 0:
                raise Killed
            left[0] -= 1
        return await answer(statement)

    patch.setattr(link, "_answer", cut_off)
    try:
        while not await dying._database.upkeep.move_some(HOME):
            pass
    except Killed:
        return False
    return True


def _writes(statement: Any) -> bool:
    if hasattr(statement, "_statements_and_parameters"):
        return True
    return not statement.prepared_statement.query_string.startswith("SELECT")


async def test_a_scope_that_was_named_and_never_split_is_passed_over(new_store: Makes) -> None:
    store = await opened(new_store)
    await logged(store, *said(3))
    await _plan_of(store, *said(3, seed=2))
    assert await store._database.partitions.split("acme") == [HOME]
    await store.tidy()
    assert not any(map(named_by, await stored(store)))
    assert await listed(store) == {}
    await store.close()


async def test_what_is_removed_leaves_its_bucket(new_store: Makes) -> None:
    store = await opened(new_store)
    kept = said(12)
    await logged(store, *kept)
    await change(store, kept[0].next_version(day(10), content="tea in Bergen", vector=EMBEDDER.vector("tea")))
    gone = [kept[0].memory_id, kept[5].memory_id]
    assert (await store.traces("acme", gone, []))["memory"] == 3

    async def remove(transaction: Transaction) -> None:
        for memory_id in gone:
            assert await transaction.remove(memory_id, scope=scope())
            event = AuditEvent(tenant="acme", action="removed", at=START, actor="ada", memory_id=memory_id)
            await transaction.append_audit(event)

    await store.transact(remove)
    assert {*gone} <= {*(await listed(store)).values()}, "not yet collected"
    assert (await store.traces("acme", gone, []))["memory"] == 0
    assert {*gone}.isdisjoint((await listed(store)).values())
    assert len(await listed(store)) == 10
    assert await store._database.read(lambda rows: rows.scan(DROPPED, HOME)) == []
    link, key = store._database.link, store._database.partitions.key(HOME)
    text = "SELECT memory FROM vectors_64 WHERE tenant = %s AND level = %s AND owner = %s AND bucket = %s"
    indexed = [row[0] for bucket in range(5) for row in link._session.execute(text, (*key, bucket))]
    assert sorted(indexed) == sorted({*ids(kept)} - {*gone})
    await store.close()


async def test_values_of_lost_attempts_are_removed_and_those_under_way_are_not_named_by_a_commit(
    new_store: Makes,
) -> None:
    """A process writes its values, and the removal of unnamed values overtakes it."""
    store, slow = await opened(new_store), await opened(new_store)
    await logged(store, *said(8))
    late, rounds = memory("coffee"), []
    put = slow._database._buckets.store

    async def put_and_wait(plans: Any) -> None:
        await put(plans)
        rounds.append(len(await listed(store)))
        if len(rounds) == 1:
            await store.tidy()
            rounds.append(len(await listed(store)))

    slow._database._buckets.store = put_and_wait  # type: ignore[method-assign]
    await logged(slow, late)
    assert rounds == [9, 8, 9], "removed, and written again under another name"
    assert len(await store.newest(everything(), limit=99)) == 9
    assert await store.find_damage("acme") == []
    for each in (store, slow):
        await each.close()


async def test_nothing_is_removed_while_a_replica_cannot_be_asked(
    new_store: Makes, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await opened(new_store)
    await logged(store, *said(8))
    buckets = store._database._buckets
    view = await _plan_of(store, memory("coffee"))
    assert len(await listed(store)) == 9

    async def away(*_: Any) -> None:
        return None

    with monkeypatch.context() as patch:
        patch.setattr(buckets.partitions, "every", away)
        await store.tidy()
        assert len(await listed(store)) == 9
        assert (await store.traces("acme", [view], []))["memory"] == 1, "the receipt says so"
    assert (await store.traces("acme", [view], []))["memory"] == 0
    assert len(await listed(store)) == 8
    await store.close()


async def _plan_of(store: CassandraStore, *new: Memory) -> str:
    """Write the values of an insertion that is never committed."""
    commits = store._database._commits

    async def never(*_: Any) -> bool:
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(commits, "_at_once", never)
        with pytest.raises(Killed):
            await remember(store, *new)
    return new[0].memory_id


async def test_a_value_that_a_majority_lacks_for_a_moment_is_asked_of_every_replica(
    new_store: Makes, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await opened(new_store)
    kept = said(8)
    await logged(store, *kept)
    buckets = store._database._buckets
    values = buckets.values

    async def lacking(home: Any, names: Any, *, of_all: bool = False) -> Any:
        return await values(home, names, of_all=True) if of_all else {}

    monkeypatch.setattr(buckets, "values", lacking)
    assert sorted(ids(await store.newest(everything(), limit=99))) == sorted(ids(kept))

    async def away(home: Any, names: Any, *, of_all: bool = False) -> Any:
        if of_all:
            raise StoreBusy
        return {}

    monkeypatch.setattr(buckets, "values", away)
    again = await opened(new_store)
    monkeypatch.setattr(again._database._buckets, "values", away)
    with pytest.raises(StoreBusy):
        await again.newest(everything(), limit=99)
    for each in (store, again):
        await each.close()


async def test_a_lost_value_is_damage_that_is_named_and_removable(new_store: Makes) -> None:
    store = await opened(new_store)
    kept = said(8)
    await logged(store, *kept)
    found = await store._database._buckets.values_in_buckets(HOME, 0)
    hurt = next(named for named, memory_id in found.items() if memory_id == kept[2].memory_id)
    await store._database._buckets.remove(HOME, [hurt])
    again = await opened(new_store)
    assert [damage.name for damage in await again.find_damage("acme")] == [kept[2].memory_id]
    assert len(await again.newest(everything(), limit=99)) == 7
    assert await again.transact(lambda transaction: transaction.remove(kept[2].memory_id, scope=scope()))
    assert await again.find_damage("acme") == []
    for each in (store, again):
        await each.close()


async def test_the_index_of_the_buckets_nominates_what_is_nearest(new_store: Makes) -> None:
    """Recall of the ten nearest, against the exact ones."""
    store, exact = await opened(lambda: new_store(split_above=50, bucket_size=100)), InProcessStore()
    await exact.open(EMBEDDER.space)
    kept = said(600)
    for each in (store, exact):
        for first in range(0, len(kept), 60):
            await remember(each, *kept[first : first + 60])
    await store.tidy()
    assert store.capabilities.exact_up_to == 50
    seen: list[int] = []
    nominated = store._database._buckets.nearest_in_buckets

    async def noted(*given: Any) -> Any:
        found = await nominated(*given)
        seen.append(len(found or ()))
        return found

    store._database._buckets.nearest_in_buckets = noted  # type: ignore[method-assign]
    rng, same = random.Random(5), 0
    for _ in range(40):
        wanted = EMBEDDER.vector(" ".join(rng.sample(rng.choice(kept).content.split(), 3)))
        near = await store.nearest(everything(), wanted, limit=10)
        best = await exact.nearest(everything(), wanted, limit=10)
        same += sum(abs(one.score - other.score) < 1e-5 for one, other in zip(near, best, strict=True))
        by_id = {each.memory_id: each for each in kept}
        assert [one.score for one in near] == pytest.approx(
            cosines([by_id[one.memory_id].vector or b"" for one in near], wanted), abs=1e-6
        )
    assert len(seen) == 40, "each search by one round of nominations"
    assert all(0 < count < 600 for count in seen)
    print("recall", same / 400)
    assert same / 400 >= 0.95
    await store.close()


async def test_there_are_never_fewer_than_match_and_none_that_do_not(new_store: Makes) -> None:
    store = await opened(new_store)
    kept = [*said(20), *(memory(f"seldom {number}", category="rare") for number in range(3))]
    await logged(store, *kept)
    await store.tidy()
    where = everything(categories=frozenset({"rare"}))
    assert sorted(ids(await store.nearest(where, EMBEDDER.vector("tea"), limit=10))) == sorted(ids(kept[20:]))
    assert len(await store.nearest(everything(), EMBEDDER.vector("tea"), limit=99)) == 23
    await store.close()


async def test_without_an_index_everything_is_compared(new_store: Makes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster without a vector index, as other products and older servers are."""

    def refused(*_: Any, **__: Any) -> None:
        raise InvalidRequest("no such type")

    monkeypatch.setattr("mnemic.stores.cassandra.connection.Connection._extend", refused)
    store = await opened(new_store)
    kept = said(12)
    await logged(store, *kept)
    await store.tidy()
    assert await store._database._buckets.nearest_in_buckets(HOME, 3, EMBEDDER.vector("tea"), 5) is None
    assert len(await store.nearest(everything(), EMBEDDER.vector("tea"), limit=5)) == 5
    await store.close()


async def test_an_archive_of_a_scope_with_buckets_is_restored_into_one(new_store: Makes) -> None:
    ada, eve = Actor(tenant="acme", user="ada"), Actor(tenant="rival", user="eve")
    async with MemoryEngine(store=new_store(), embedder=EMBEDDER) as engine:
        for number in range(9):
            kind = Kind.LONG_TERM if number == 8 else Kind.EPISODIC  # an episode never changes
            told = await engine.add(Candidate(content=f"Fact {number}", kind=kind), actor=ada)
        await engine.update(told.memory_id, "Fact 8, as of today", actor=ada)
        lines = [line async for line in engine.export(actor=ada, archive=True)]
        for line in lines:
            await engine.restore(read_line(line), actor=eve)
        places = scope(), scope("eve", tenant="rival")
        found = [await engine.store.newest(everything(place), limit=99) for place in places]
        assert [len(some) for some in found] == [9, 9]
        assert {each.content for each in found[1]} == {each.content for each in found[0]}
        changed = next(each for each in found[1] if each.version == 2)
        versions = await engine.store.versions(changed.memory_id, scopes=[places[1]])
        assert [each.content for each in versions] == ["Fact 8", "Fact 8, as of today"]
        assert [await engine.store.find_damage(tenant) for tenant in ("acme", "rival")] == [[], []]


def test_every_table_has_its_name() -> None:
    assert len({*NAMES.values()}) == len(NAMES)
