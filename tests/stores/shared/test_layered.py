"""A store over rows: damaged rows, sealing of what is there, and the scopes that are kept in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import pytest

from mnemic.errors import StoreCorrupt, StoreUnavailable
from mnemic.keys import KeyFolder, MasterKeys
from mnemic.ports import RecordStore, Transaction
from mnemic.ports.database_backend import Row, RowChange, Table
from mnemic.ports.record_store import Damage
from mnemic.retrieve.search import Searcher
from mnemic.stores.in_memory_store import InProcessRows
from mnemic.stores.row_store_adapter import LayeredStore, memories
from mnemic.stores.row_store_adapter.tables import EARLIER, MARK, MEMORY, REQUEST, TENANT, MemoryRow
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.record_store.fixtures import (
    EMBEDDER,
    START,
    change,
    day,
    everything,
    ids,
    memory,
    remember,
    scope,
)
from mnemic.types import Deadline, Memory, Status
from tests.contract.journal_store import JournalRows, journal_store

T = TypeVar("T")
SAID = ("tea in the morning", "milk in the tea", "coffee is for work")


@pytest.fixture
def rows() -> InProcessRows:
    return InProcessRows()


@pytest.fixture
async def store(rows: InProcessRows) -> AsyncIterator[LayeredStore]:
    store = LayeredStore(rows)
    await store.open(EMBEDDER.space)
    yield store
    await store.close()


def keyring(folder: Path) -> KeyFolder:
    MasterKeys.make(folder / "master.key")
    return KeyFolder(folder / "keys", folder / "master.key")


async def put(rows: InProcessRows, table: Table, row: Row) -> None:
    async def work(change: RowChange) -> None:
        await change.put(table, [row])

    await rows.transact(work)


async def stored(rows: InProcessRows, one: Memory) -> MemoryRow:
    key = (one.scope.tenant, one.scope.level.value, one.scope.owner, one.memory_id)
    (row,) = await rows.read(lambda reads: reads.get(MEMORY, [key]))
    return MemoryRow(*row)


async def opened(rows: InProcessRows, **options: Any) -> LayeredStore:
    """Another store on the same rows, with nothing in memory."""
    store = LayeredStore(rows, **options)
    await store.open(None)
    return store


async def kept(store: RecordStore) -> list[Memory]:
    found = [memory(said, fingerprint=said, key=f"key {number}") for number, said in enumerate(SAID)]
    await remember(store, *found)
    return found


@pytest.mark.parametrize("field", ["body", "fingerprint", "key", "version"])
async def test_a_damaged_row_is_in_no_list_and_is_named(rows: InProcessRows, store: LayeredStore, field: str) -> None:
    hurt, *others = await kept(store)
    row = await stored(rows, hurt)
    spoilt = {"body": row.body.replace(",", ";"), "fingerprint": "other", "key": "other", "version": 7}
    await put(rows, MEMORY, row._replace(**{field: spoilt[field]}))
    again = await opened(rows)
    assert await again.newest(everything(), limit=9) == others[::-1]
    assert set(await again.get_many(ids([hurt, *others]), scopes=[scope()])) == set(ids(others))
    assert ids(await again.match(everything(), "tea", limit=9)) == [others[0].memory_id]
    assert hurt.memory_id not in ids(await again.nearest(everything(), EMBEDDER.vector(SAID[0]), limit=9))
    with pytest.raises(StoreCorrupt):
        await again.get(hurt.memory_id, scopes=[scope()])
    assert await again.find_damage("acme") == [Damage("memory", hurt.memory_id)]
    assert await again.find_damage("rival") == []
    said = await Searcher(again, EMBEDDER).search("tea", everything(), top_k=9)
    assert (len(said.hits), said.errors) == (len(others), {"memory": "store_corrupt:memory"})
    assert await again.count(everything()) == len(others)
    held = {one.memory_id: one for one in await again.scan("acme", statuses=[Status.ACTIVE])}
    assert hurt.content not in held[hurt.memory_id].content
    with pytest.raises(StoreCorrupt):
        await again.transact(lambda tx: tx.replace(held[hurt.memory_id].next_version(START, key="new")))
    assert await again.transact(lambda tx: tx.remove(hurt.memory_id, scope=scope()))
    assert await again.find_damage("acme") == []
    assert (await Searcher(again, EMBEDDER).search("tea", everything(), top_k=9)).errors == {}


async def test_a_fingerprint_of_a_damaged_row_is_not_free(rows: InProcessRows, store: LayeredStore) -> None:
    hurt, *_ = await kept(store)
    waiting = memory("waits", fingerprint="w", status=Status.PENDING_REVIEW)
    await remember(store, waiting)
    for one in (hurt, waiting):
        row = await stored(rows, one)
        await put(rows, MEMORY, row._replace(checksum=row.checksum + 1))
    again = await opened(rows)
    for ask in (again.find_fingerprint, lambda *told: again.transact(lambda tx: tx.find_fingerprint(*told))):
        with pytest.raises(StoreCorrupt):
            await ask(scope(), hurt.fingerprint)
    with pytest.raises(StoreCorrupt):
        await again.transact(lambda tx: tx.find_pending(scope(), "w"))
    assert ids(await again.transact(lambda tx: tx.find_key(scope(), "key 0"))) == [hurt.memory_id]


async def test_a_damaged_vector_is_none_and_an_earlier_version_is_named(
    rows: InProcessRows, store: LayeredStore
) -> None:
    first, second, _ = await kept(store)
    row = await stored(rows, first)
    assert row.vector
    await put(rows, MEMORY, row._replace(vector=row.vector[::-1]))
    await change(store, second.next_version(day(1), confidence=0.5))
    (old,) = await rows.read(lambda reads: reads.scan(EARLIER, ("acme", second.memory_id)))
    await put(rows, EARLIER, (*old[:4], "{}", old[5]))
    again = await opened(rows)
    found = await again.get(first.memory_id, scopes=[scope()])
    assert found is not None
    assert (found.content, found.vector) == (first.content, None)
    before, present = await again.versions(second.memory_id, scopes=[scope()])
    assert (before.version, present.version) == (1, 2)
    assert "milk" not in before.content
    assert await again.find_damage("acme") == [
        Damage("memory", first.memory_id),
        Damage("memory_version", f"{second.memory_id} version 1"),
    ]


async def test_damage_beside_the_memories_is_named(rows: InProcessRows, store: LayeredStore) -> None:
    await store.secret("acme")
    await store.transact(lambda tx: tx.put_mark("acme", "consent", "given"))
    await store.transact(lambda tx: tx.remember_request("acme", "k", "d", "{}", START))
    assert await store.find_damage("acme") == []
    await put(rows, MARK, ("acme", "consent", "revoked", 1))
    await put(rows, REQUEST, ("acme", "k", "d", "{ }", 0, 1))
    await put(rows, TENANT, ("acme", b"x" * 32, 1))
    assert await store.find_damage("acme") == [Damage(table, "a row") for table in ("mark", "request", "tenant")]


@pytest.mark.parametrize(
    ("prefix", "names"),
    [("a", ["a", "a\U0010ffffb", "ab"]), ("\ud7ff", ["\ud7ffx"]), ("\U0010ffff", ["\U0010ffff"])],
)
async def test_marks_are_found_by_any_prefix(store: LayeredStore, prefix: str, names: list[str]) -> None:
    for name in (*names, "`", "b", "\ue000"):
        await store.transact(lambda tx, name=name: tx.put_mark("acme", name, "x"))  # type: ignore[misc]
    assert sorted(await store.marks("acme", prefix)) == sorted(names)


async def test_what_was_plain_is_sealed_and_sealed_again(
    rows: InProcessRows, store: LayeredStore, tmp_path: Path
) -> None:
    first, second, _ = await kept(store)
    await change(store, second.next_version(day(1), confidence=0.5))
    keys = keyring(tmp_path)
    again = await opened(rows, keyring=keys, seals=True)
    assert await again.seal("acme") == 4
    assert '"content"' not in (await stored(rows, first)).body
    assert await again.seal("acme") == 0
    assert await again.get(first.memory_id, scopes=[scope()]) == first
    await again.begin_space(WordEmbedder(32).space)
    assert await again.fill([(first, WordEmbedder(32).vector(SAID[0]))]) == 1
    followed = keys.follow([keys.subject_name(scope())])
    assert await again.reseal("acme", keys.reseal_value) == 4
    keys.retire(followed)
    assert await again.get(first.memory_id, scopes=[scope()]) == first
    assert len(await again.nearest(everything(), EMBEDDER.vector("tea"), limit=9)) == 3
    keys.destroy(scope())
    erased = await again.get(first.memory_id, scopes=[scope()])
    assert erased is not None
    assert (erased.content, erased.vector) == ("[erased]", None)


async def test_scopes_used_least_recently_are_read_again(
    rows: InProcessRows, store: LayeredStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memories, "MAX_CACHED", 2)
    told = [memory(f"tea {name}", scope=scope(name)) for name in ("ada", "bob", "cat")]
    await remember(store, *told)
    for one in (*told, *told[::-1]):
        assert await store.newest(everything(one.scope), limit=9) == [one]
    assert store._scopes._count <= 2


async def test_a_failed_transaction_leaves_nothing_in_memory(store: LayeredStore) -> None:
    first, *_ = await kept(store)

    async def work(tx: Any) -> None:
        await tx.remove(first.memory_id, scope=scope())
        await tx.insert(memory("never"))
        raise LookupError

    with pytest.raises(LookupError):
        await store.transact(work)
    assert len(await store.newest(everything(), limit=9)) == 3


async def test_a_transaction_that_is_over_refuses_every_call(store: LayeredStore) -> None:
    left: list[Any] = []

    async def work(tx: Any) -> None:
        left.append(tx)

    await store.transact(work)
    with pytest.raises(RuntimeError, match="over"):
        await left[0].find_mark("acme", "x")


async def test_no_space_and_no_memories_is_unavailable(rows: InProcessRows) -> None:
    with pytest.raises(StoreUnavailable, match="empty"):
        await LayeredStore(rows).open(None)


async def test_a_secret_that_is_given_is_taken_once(store: LayeredStore) -> None:
    await store.adopt("acme", b"s" * 32)
    assert await store.secret("acme") == b"s" * 32
    assert await store.tenants() == ["acme"]


async def test_a_journal_that_was_cut_off_has_every_whole_transaction(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    store = journal_store(path)
    await store.open(EMBEDDER.space)
    first = memory("one")
    await remember(store, first)
    size = path.stat().st_size
    await remember(store, memory("two"))
    path.write_bytes(path.read_bytes()[: size + 20])
    await store.open(None)
    assert await store.newest(everything(), limit=9) == [first]
    await remember(store, memory("three"))
    await store.open(None)
    assert await store.count(everything()) == 2
    path.write_bytes(b"no journal\n")
    with pytest.raises(StoreCorrupt, match="journal"):
        await JournalRows(path).open()


class LateRows(InProcessRows):
    """Rows of a server whose answer is lost once: the work runs again, and then it turns out that its first run was
    committed. `meanwhile` is written by another process between the two.
    """

    meanwhile: Memory | None = None

    async def transact(self, work: Callable[[RowChange], Awaitable[T]], *, deadline: Deadline | None = None) -> T:
        result = await super().transact(work, deadline=deadline)
        if (other := self.meanwhile) is None:
            return result
        self.meanwhile = None
        await remember(await opened(self), other)

        async def again(rows: RowChange) -> None:
            await work(rows)
            raise LostRace

        with suppress(LostRace):
            await super().transact(again)
        return result


class LostRace(Exception):
    """The second run does not commit."""


async def test_a_run_that_was_not_committed_leaves_nothing_in_the_cache() -> None:
    rows = LateRows()
    store = LayeredStore(rows)
    await store.open(EMBEDDER.space)
    rows.meanwhile = memory("coffee", fingerprint="c")

    runs = count()

    async def insert_tea(transaction: Transaction) -> Memory:
        tea = memory("tea", fingerprint=f"t{next(runs)}")
        await transaction.insert(tea)
        return tea

    tea = await store.transact(insert_tea)
    milk = memory("milk", fingerprint="m")
    await remember(await opened(rows), milk)
    found = await store.newest(everything(), limit=9)
    assert sorted(one.content for one in found) == ["coffee", "milk", "tea"]
    assert tea.memory_id in ids(found)
    assert milk.memory_id in ids(found)
