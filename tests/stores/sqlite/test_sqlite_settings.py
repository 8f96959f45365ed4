"""What the connections are set to, and what a failing disk makes of a commit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from mnemic.errors import CommitUnknown, StoreFailed
from mnemic.stores.sqlite import SqliteStore, indexes
from mnemic.stores.sqlite.database_file import BusyHandler, connect
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.types import Where

WHERE = Where(scopes=(scope(),))


class _Disk(apsw.VFS):
    """SQLite's own file system, whose syncs fail while `broken` is set."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.broken = False
        self.syncs = 0
        super().__init__(name, "")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return _File(self, name, flags)


class _File(apsw.VFSFile):
    def __init__(self, disk: _Disk, name: Any, flags: list[int]) -> None:
        self._disk = disk
        super().__init__("", name, flags)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._disk.syncs += 1
        if self._disk.broken:
            raise apsw.IOError("no sync")
        super().xSync(flags)


@pytest.fixture
def disk() -> Iterator[_Disk]:
    disk = _Disk("mnemic-test-disk")
    yield disk
    disk.unregister()


async def opened(path: Path, **settings: Any) -> SqliteStore:
    store = SqliteStore(path, **settings)
    await store.open(EMBEDDER.space)
    return store


@pytest.mark.parametrize(("durability", "synchronous"), [("durable", 2), ("fast", 1)])
def test_every_connection_is_set_up_alike(tmp_path: Path, durability: str, synchronous: int) -> None:
    path = tmp_path / "m.db"
    apsw.Connection(str(path)).close()
    for busy in (BusyHandler(), None):
        connection = connect(path, durability=durability, busy=busy)
        assert connection.pragma("synchronous") == synchronous
        assert connection.pragma("foreign_keys") == 1
        assert connection.pragma("secure_delete") == 1
        assert connection.pragma("trusted_schema") == 0
        assert bool(connection.readonly("main")) is (busy is None)
        connection.close()


@pytest.mark.parametrize(("durability", "syncs"), [("durable", True), ("fast", False)])
async def test_a_durable_write_is_synced_before_it_is_acknowledged(
    tmp_path: Path, disk: _Disk, durability: str, syncs: bool
) -> None:
    store = await opened(tmp_path / "m.db", durability=durability, vfs=disk.name)
    assert store.capabilities.durable is syncs
    await remember(store, memory("first"))
    before = disk.syncs
    await remember(store, memory("second"))
    assert (disk.syncs > before) is syncs
    before = disk.syncs
    await store.secret("acme")
    assert disk.syncs > before
    before = disk.syncs
    await remember(store, memory("third"))
    assert (disk.syncs > before) is syncs
    await store.close()


async def test_a_commit_that_the_disk_refuses_is_unknown_and_can_be_retried(tmp_path: Path, disk: _Disk) -> None:
    store = await opened(tmp_path / "m.db", vfs=disk.name)
    await remember(store, memory("kept"))
    twice = memory("maybe", fingerprint="f1")
    disk.broken = True
    with pytest.raises(CommitUnknown) as failed:
        await remember(store, twice)
    assert isinstance(failed.value, StoreFailed)
    assert failed.value.reason == "commit_unknown"
    assert "idempotency" in (failed.value.hint or "")
    disk.broken = False

    async def again(transaction):  # type: ignore[no-untyped-def]
        if await transaction.find_fingerprint(scope(), "f1") is None:
            await transaction.insert(twice)

    await store.transact(again)
    assert await store.count(WHERE) == 2
    await store.close()
    store = await opened(tmp_path / "m.db")
    assert sorted(found.content for found in await store.newest(WHERE, limit=9)) == ["kept", "maybe"]
    await store.close()


async def test_an_index_over_budget_makes_room_and_answers_the_same(tmp_path: Path) -> None:
    roomy = await opened(tmp_path / "m.db")
    tight = await opened(tmp_path / "m.db", index_bytes=1)
    places = [scope(f"user{number}") for number in range(4)]
    await remember(roomy, *(memory(f"tea {place.owner}", scope=place) for place in places))
    for place in (*places, *places):
        where = Where(scopes=(place,))
        assert await tight.match(where, "tea", limit=5) == await roomy.match(where, "tea", limit=5)
    assert len(tight._opened.indexes()._cache._slots) == 1  # type: ignore[union-attr]
    assert len(roomy._opened.indexes()._cache._slots) == 4  # type: ignore[union-attr]
    await roomy.close()
    await tight.close()


async def test_a_scope_is_read_page_by_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexes, "_PAGE", 4)
    here, there = scope(owner="u1"), scope(owner="u2")
    store = await opened(tmp_path / "m.db")
    await remember(store, *(memory(f"text {number}", scope=here) for number in range(8)))
    await remember(store, *(memory(f"text {number}", scope=there) for number in range(9)))
    await store.close()
    store = await opened(tmp_path / "m.db")
    for where, held in ((here, 8), (there, 9)):
        assert len(await store.recent(Where(scopes=(where,)), limit=20)) == held
    await store.close()


def test_patience_ends_at_the_set_time_or_begins_anew() -> None:
    busy, renewed = BusyHandler(), BusyHandler(renews=True)
    for each in (busy, renewed):
        each.wait(0)
        assert not each(1)
    assert not busy(0)
    assert renewed(0)
    assert renewed(1)


async def test_a_mark_may_hold_any_character(tmp_path: Path) -> None:
    store = await opened(tmp_path / "m.db")
    await store.transact(lambda transaction: transaction.put_mark("t", "a\x00b", "x"))
    assert await store.marks("t", "a\x00") == {"a\x00b": "x"}
    assert await store.marks("t", "a\x00c") == {}
    await store.close()
