"""What goes wrong with a file is one typed error, and nothing is lost by it."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from mnemic.errors import InvalidConfig, InvalidInput, StoreBusy, StoreCorrupt, StoreFailed, StoreFull, StoreUnavailable
from mnemic.stores.sqlite import SqliteStore
from mnemic.stores.sqlite.database_file import as_mnemic_error
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.types import Deadline, Memory, Where

WHERE = Where(scopes=(scope(),))


async def opened(path: Path) -> SqliteStore:
    store = SqliteStore(path)
    await store.open(EMBEDDER.space)
    return store


async def everything_in(path: Path) -> list[Memory]:
    store = await opened(path)
    try:
        return await store.newest(WHERE, limit=500)
    finally:
        await store.close()


@pytest.mark.parametrize("path", [".", "absent/m.db", "file/m.db"], ids=["folder", "no-folder", "under-a-file"])
async def test_a_path_that_cannot_hold_a_file_is_unavailable(tmp_path: Path, path: str) -> None:
    (tmp_path / "file").touch()
    store = SqliteStore(tmp_path / path)
    with pytest.raises(StoreUnavailable) as refused:
        await store.open(EMBEDDER.space)
    assert refused.value.reason == "store_unavailable"
    assert refused.value.hint
    await store.close()


@pytest.mark.parametrize("content", [b"x", b"not a database " * 700, b"SQLite format 3\x00" + bytes(4080)])
async def test_a_file_that_is_no_database_is_corrupt_and_stays_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m.db"
    path.write_bytes(content)
    with pytest.raises(StoreCorrupt):
        await SqliteStore(path).open(EMBEDDER.space)
    assert path.read_bytes() == content


async def test_damage_inside_the_file_is_reported_as_such(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    store = await opened(path)
    await remember(store, *(memory(f"tea {number}" * 50) for number in range(200)))
    await store.close()
    content = bytearray(path.read_bytes())
    content[4096 * 2 :] = b"\xff" * (len(content) - 4096 * 2)
    path.write_bytes(content)
    with pytest.raises(StoreCorrupt):
        await everything_in(path)


async def test_a_full_disk_refuses_the_write_and_keeps_what_is_there(tmp_path: Path) -> None:
    store = await opened(tmp_path / "m.db")
    kept = memory("kept")
    await remember(store, kept)
    writing = store._opened.writing  # type: ignore[union-attr]
    writing.pragma("max_page_count", writing.pragma("page_count"))
    with pytest.raises(StoreFull) as refused:
        await remember(store, *(memory("x" * 5000) for _ in range(50)))
    assert refused.value.reason == "store_full"
    assert await store.newest(WHERE, limit=5) == [kept]
    assert await store.transact(lambda transaction: transaction.remove(kept.memory_id, scope=scope()))
    writing.pragma("max_page_count", 1 << 30)
    await remember(store, memory("after"))
    assert await store.count(WHERE) == 1
    await store.close()


async def test_a_lock_held_beyond_the_deadline_is_busy(tmp_path: Path) -> None:
    store = await opened(tmp_path / "m.db")
    other = apsw.Connection(str(tmp_path / "m.db"))
    other.execute("BEGIN IMMEDIATE")
    deadline = Deadline.after(timedelta(milliseconds=50), time.monotonic)
    with pytest.raises(StoreBusy) as refused:
        await store.transact(lambda transaction: transaction.insert(memory("tea")), deadline=deadline)
    assert refused.value.reason == "store_busy"
    assert await store.count(WHERE) == 0
    other.execute("ROLLBACK")
    await remember(store, memory("tea"))
    other.close()
    await store.close()


async def test_reads_go_on_while_another_writes(tmp_path: Path) -> None:
    store = await opened(tmp_path / "m.db")
    await remember(store, memory("tea"))
    other = apsw.Connection(str(tmp_path / "m.db"))
    other.execute("BEGIN IMMEDIATE")
    assert len(await store.match(WHERE, "tea", limit=5)) == 1
    other.execute("ROLLBACK")
    other.close()
    await store.close()


async def test_a_transaction_that_is_over_cannot_be_used(tmp_path: Path) -> None:
    store = await opened(tmp_path / "m.db")
    kept = []

    async def work(transaction):  # type: ignore[no-untyped-def]
        kept.append(transaction)

    await store.transact(work)
    with pytest.raises(RuntimeError, match="over"):
        await kept[0].insert(memory("late"))
    await store.close()


def test_an_unknown_durability_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig):
        SqliteStore(tmp_path / "m.db", durability="maybe")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cause", "kind"),
    [
        (apsw.BusyError("secret"), StoreBusy),
        (apsw.LockedError("secret"), StoreBusy),
        (apsw.FullError("secret"), StoreFull),
        (apsw.NotADBError("secret"), StoreCorrupt),
        (apsw.CorruptError("secret"), StoreCorrupt),
        (apsw.CantOpenError("secret"), StoreUnavailable),
        (apsw.IOError("secret"), StoreUnavailable),
        (apsw.ReadOnlyError("secret"), StoreUnavailable),
        (apsw.TooBigError("secret"), InvalidInput),
        (apsw.SQLError("secret"), StoreFailed),
    ],
)
def test_every_error_of_the_driver_has_one_of_ours_without_its_text(cause: apsw.Error, kind: type[Exception]) -> None:
    error = as_mnemic_error(cause)
    assert type(error) is kind
    assert "secret" not in str(error)
