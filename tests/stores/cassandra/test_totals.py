"""The usage of a whole tenant is updated with the collection of its journals, and is exact at every moment."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from mnemic.ports import Transaction
from mnemic.ports.database_backend import RowReads
from mnemic.stores.cassandra import CassandraStore, commit, journal, tenant_totals
from mnemic.stores.cassandra.routing import COUNTED, LATEST, Partition
from mnemic.stores.row_store_adapter.transaction import usage as full_count
from mnemic.stores.store_verbs import Step
from mnemic.testing.record_store.fixtures import EMBEDDER, START, memory, remember, scope
from mnemic.types import AuditEvent, Kind, Memory, Usage

Makes = Callable[..., CassandraStore]
MINUTE = timedelta(minutes=1)


class Killed(BaseException):
    """The process ends here."""


async def opened(new_store: Makes) -> CassandraStore:
    store = new_store()
    await store.open(EMBEDDER.space)
    return store


async def in_full(store: CassandraStore, since: datetime) -> dict[Kind, Usage]:
    """Return the usage by reading every scope."""
    return await store._database.read(lambda rows: full_count(rows, "acme", since, None))


async def by_total(store: CassandraStore, since: datetime) -> dict[Kind, Usage]:
    """Return the usage that a write reads, which collects nothing."""
    return dict(await store.transact(lambda change: change.usage("acme", since=since, settled=False)))


async def assert_exact(store: CassandraStore) -> None:
    now = datetime.now(UTC)
    for since in (START, now - MINUTE, now - 3 * MINUTE, now + MINUTE):
        expected = await in_full(store, since)
        assert await by_total(store, since) == expected
        assert await store.usage("acme", since=since) == expected


async def is_whole(store: CassandraStore) -> bool:
    return await store._database.read(partial(tenant_totals._is_whole, tenant="acme"))


def partitions_asked(store: CassandraStore, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Return the store's queries from here on, by statement and partition."""
    link = store._database.link
    ask, asked = link.ask, []

    async def noted(name: str, values: Any, **how: Any) -> Any:
        asked.append((name, *values[:3]))
        return await ask(name, values, **how)

    monkeypatch.setattr(link, "ask", noted)
    return asked


async def test_the_partitions_that_a_write_and_a_question_ask_do_not_grow_with_the_users(
    new_store: Makes, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, numbers = await opened(new_store), []
    now = datetime.now(UTC)
    for users in (range(20), range(20, 60)):
        for number in users:
            await remember(store, memory("tea", at=now - 5 * MINUTE, scope=scope(f"user{number}")))
        await store.usage("acme", since=now - MINUTE)
        await remember(store, memory("coffee", at=now, scope=scope("user3")))

        async def work(transaction: Transaction) -> dict[Kind, Usage]:
            await transaction.insert(memory("juice", at=now, scope=scope("user5")))
            return dict(await transaction.usage("acme", since=now - MINUTE, settled=False))

        with monkeypatch.context() as patch:
            asked = partitions_asked(store, patch)
            found = await store.usage("acme", since=now - MINUTE)
            first = len(asked)
            after = await store.transact(work)
        numbers.append((first, len(asked) - first))
        assert found[Kind.LONG_TERM].rows == users.stop + 2 * len(numbers) - 1
        assert (after[Kind.LONG_TERM].rows, after[Kind.LONG_TERM].recent) == (
            users.stop + 2 * len(numbers),
            2 * len(numbers),
        )
        await assert_exact(store)
    assert numbers[0] == numbers[1]
    assert max(numbers[0]) < 20
    await store.close()


@pytest.mark.parametrize("seed", range(3))
async def test_it_is_exact_whatever_is_written_and_removed(
    new_store: Makes, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(tenant_totals, "MAX_UNCOLLECTED", 2)
    monkeypatch.setattr(tenant_totals, "MAX_COLLECTED", 3)
    monkeypatch.setattr(tenant_totals, "_MAX_LISTED", 3)
    store, choice = await opened(new_store), random.Random(seed)
    there: list[Memory] = []
    kinds = (Kind.LONG_TERM, Kind.EPISODIC)
    for step in range(40):
        match choice.choice(("insert", "insert", "insert", "given", "replace", "remove", "both", "collect")):
            case "insert" | "given" as how:
                at = choice.choice((START, datetime.now(UTC)))
                given = {"memory_id": f"{choice.choice(('0', 'z'))}{step}"} if how == "given" else {}
                owner = scope(f"user{choice.randrange(5)}")
                made = memory(f"m {step}", at=at, scope=owner, kind=choice.choice(kinds), **given)
                await remember(store, made)
                there.append(made)
            case "replace" if there:
                old = there.pop(choice.randrange(len(there)))
                new = old.next_version(datetime.now(UTC), content="x" * choice.randrange(200))
                await store.transact(partial(_replace, memory=new))
                there.append(new)
            case "remove" if there:
                old = there.pop(choice.randrange(len(there)))
                await store.transact(partial(_remove, memory=old))
            case "both":
                pair = [memory(f"{step} {n}", at=datetime.now(UTC), scope=scope(f"user{n}")) for n in range(2)]
                await store.transact(partial(_insert_with_one_line, memories=pair))
                there += pair
            case _:
                await store.audit("acme")
        await assert_exact(store)
    assert await is_whole(store)
    # Nothing is counted on top any more: the total includes all of it.
    await store.tidy()
    assert await store._database.partitions.partitions_to_collect("acme") == {}
    await assert_exact(store)
    await store.close()


async def _replace(transaction: Transaction, memory: Memory) -> None:
    await transaction.replace(memory)


async def _remove(transaction: Transaction, memory: Memory) -> None:
    await transaction.remove(memory.memory_id, scope=memory.scope)


async def _insert_with_one_line(transaction: Transaction, memories: list[Memory]) -> None:
    """Insert memories of several scopes with one line of the audit, as jobs do."""
    for each in memories:
        await transaction.insert(each)
    await transaction.append_audit(AuditEvent(tenant="acme", action="created", at=START, actor="ada"))


async def test_a_collection_that_is_cut_off_anywhere_leaves_it_exact(
    new_store: Makes, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, ended, cut = await opened(new_store), False, 0
    await remember(store, *(memory("tea", scope=scope(f"user{number}")) for number in range(3)))
    while not ended:
        await remember(store, memory(f"m {cut}", at=datetime.now(UTC)), memory(f"m {cut}", scope=scope("user1")))
        dying = await opened(new_store)
        link, left = dying._database.link, [cut]
        answer = link._answer

        async def cut_off(statement: Any, *, answer: Any = answer, left: list[int] = left) -> Any:
            if _changes(statement):
                if left[0] == 0:
                    raise Killed
                left[0] -= 1
            return await answer(statement)

        with monkeypatch.context() as patch:
            patch.setattr(link, "_answer", cut_off)
            try:
                await dying._collect("acme")
                await tenant_totals.begin(dying._ready, dying._database.partitions, "acme")
                ended = True
            except Killed:
                cut += 1
        await dying.close()
        await assert_exact(store)
    assert cut > 10
    assert await is_whole(store)
    await store.tidy()
    await assert_exact(store)
    await store.close()


def _changes(statement: Any) -> bool:
    text = getattr(getattr(statement, "prepared_statement", None), "query_string", "")
    return not text.startswith("SELECT")


async def test_two_who_collect_at_once_while_others_write_count_each_scope_once(new_store: Makes) -> None:
    stores = [await opened(new_store) for _ in range(3)]
    collecting, other, writing = stores
    done = asyncio.Event()

    async def write(owner: str) -> None:
        for number in range(12):
            made = memory(f"m {number}", at=datetime.now(UTC), scope=scope(owner))
            await remember(writing, made)
            if number % 3 == 0:
                await writing.transact(partial(_remove, memory=made))

    async def collect(store: CassandraStore) -> None:
        while not done.is_set():
            await store._collect("acme")
            await tenant_totals.begin(store._ready, store._database.partitions, "acme")

    async def all_writers() -> None:
        await asyncio.gather(*(write(f"user{number}") for number in range(4)))
        done.set()

    await asyncio.gather(all_writers(), collect(collecting), collect(other))
    for store in stores:
        await assert_exact(store)
    assert (await by_total(writing, START))[Kind.LONG_TERM].rows == 4 * 8
    await writing.tidy()
    await assert_exact(writing)
    for store in stores:
        await store.close()


async def test_who_counts_a_scope_as_it_was_earlier_changes_nothing(new_store: Makes) -> None:
    store = await opened(new_store)
    await remember(store, memory("tea"))
    seen = await store._database.read(partial(tenant_totals.scope_totals, home=Partition("acme", "user", "ada")))
    await remember(store, memory("coffee"))
    await store.tidy()
    for _ in range(2):
        await store._database.transact(partial(tenant_totals.count, tenant="acme", counts=[seen]))
        await assert_exact(store)
    await store.close()


async def test_a_write_between_the_reading_and_the_collection_stays_on_top(
    new_store: Makes, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = await opened(new_store), await opened(new_store)
    await remember(store, memory("tea"), memory("tea", scope=scope("bob")))
    await store.tidy()
    await remember(store, memory("coffee"))
    appended = journal._append_lines

    async def overtaken(rows: Any, **how: Any) -> None:
        await appended(rows, **how)
        if not done:
            done.append(True)
            await Step(lambda: remember(other, memory("juice")))

    done: list[bool] = []
    monkeypatch.setattr(journal, "_append_lines", overtaken)
    await store._collect("acme")
    assert done
    await assert_exact(other)
    await store._collect("acme")
    await assert_exact(other)
    await store.close()
    await other.close()


async def test_a_scope_that_is_erased_leaves_the_total(new_store: Makes) -> None:
    store = await opened(new_store)
    gone = [memory(f"tea {n}", at=datetime.now(UTC), scope=scope("ada")) for n in range(3)]
    await remember(store, *gone, memory("tea", scope=scope("bob")))
    await store.tidy()
    for each in gone:
        await store.transact(partial(_remove, memory=each))
    await assert_exact(store)
    assert set((await store.traces("acme", [each.memory_id for each in gone], [])).values()) == {0}
    await assert_exact(store)
    assert (await store.usage("acme", since=START))[Kind.LONG_TERM].rows == 1

    async def named(rows: RowReads) -> list[str]:
        return [row[3] for row in await rows.scan(LATEST, ("acme",))]

    assert await store._database.read(named) == ["bob"], "no row names a memory that is gone"
    await store.close()


async def test_a_tenant_from_before_is_counted_once_and_read_in_full_until_then(
    new_store: Makes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        # As the version before: lines are collected, nothing is counted.
        before.setattr(commit, "with_lines", lambda view: None)

        async def nothing(*_: Any, **__: Any) -> None:
            pass

        before.setattr(tenant_totals, "count", nothing)
        before.setattr(tenant_totals, "begin", nothing)
        old = await opened(new_store)
        for number in range(30):
            await old.transact(partial(_insert_with_one_line, memories=[memory("tea", scope=scope(f"user{number}"))]))
        await old.tidy()
        assert await old._database.partitions.partitions_to_collect("acme") == {}
        await old.close()
    store = await opened(new_store)
    assert not await is_whole(store)
    await assert_exact(store)
    await remember(store, memory("coffee", at=datetime.now(UTC), scope=scope("user3")))
    await assert_exact(store)
    await store._collect("acme")
    assert not await is_whole(store), "one scope of thirty is counted"
    await assert_exact(store)
    await remember(store, memory("juice", at=datetime.now(UTC), scope=scope("user4")))
    await store.tidy()
    assert await is_whole(store)
    await assert_exact(store)
    asked = partitions_asked(store, monkeypatch)
    now = datetime.now(UTC)
    assert (await store.usage("acme", since=now - MINUTE))[Kind.LONG_TERM].rows == 32
    assert len(asked) < 10
    await store.close()


async def test_an_answer_that_lacks_what_was_counted_counts_no_scope_twice(
    new_store: Makes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While nodes join or leave, an answer may lack rows for a moment."""
    store = await opened(new_store)
    await remember(store, memory("tea"), memory("tea", scope=scope("bob")))
    await store.usage("acme", since=START)
    await store.tidy()
    assert await is_whole(store)
    await remember(store, memory("coffee"))
    partitions, lacking = store._database.partitions, [2]
    get = partitions.get

    async def without(home: Any, name: str, keys: Any) -> list[Any]:
        if name == "counted" and lacking[0]:
            lacking[0] -= 1
            return []
        return await get(home, name, keys)

    monkeypatch.setattr(partitions, "get", without)
    await store._collect("acme")
    assert lacking == [0]
    await assert_exact(store)
    await store.close()


async def test_every_scope_that_is_counted_has_one_row(new_store: Makes) -> None:
    store = await opened(new_store)
    for number in range(3):
        await remember(store, memory(f"tea {number}", at=datetime.now(UTC)))
        await store.tidy()
    rows = await store._database.read(lambda reads: reads.scan(COUNTED, ("acme",)))
    assert [row[1:3] for row in rows] == [("", ""), ("user", "ada")]
    assert len(await store._database.read(lambda reads: reads.scan(LATEST, ("acme",)))) == 1
    await store.close()
