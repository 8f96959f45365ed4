"""A file that is deleted or replaced while it is open, a disk that is full of the log, and two who tidy at once."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import apsw
import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, StoreFull, StoreOlder, StoreUnavailable
from mnemic.operations.sqlite import backup
from mnemic.operations.sqlite.inspection import inspect
from mnemic.stores.sqlite import SqliteStore, database_file
from mnemic.stores.sqlite import open_file as opened_file
from mnemic.stores.sqlite.open_file import OpenFile
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.record_store import EMBEDDER, memory, remember
from mnemic.testing.record_store.fixtures import START, everything
from mnemic.types import Actor, Candidate
from tests.faults.bit_flips import ADA, make_file

ANA = Actor(tenant="acme", user="ana")


async def opened(path: Path) -> SqliteStore:
    store = SqliteStore(path)
    await store.open(EMBEDDER.space)
    return store


@pytest.mark.parametrize("how", ["deleted", "replaced", "moved"])
async def test_nothing_is_acknowledged_that_goes_nowhere(tmp_path: Path, how: str) -> None:
    path = tmp_path / "m.db"
    store = await opened(path)
    await remember(store, memory("tea"))
    shutil.copy(path, tmp_path / "other.db")
    if how == "deleted":
        path.unlink()
    elif how == "replaced":
        (tmp_path / "other.db").replace(path)
    else:
        path.rename(tmp_path / "moved.db")
    with pytest.raises(StoreUnavailable) as told:
        await remember(store, memory("coffee"))
    assert told.value.reason == "store_unavailable:replaced"
    several = [asyncio.create_task(remember(store, memory(f"cup {number}"))) for number in range(8)]
    answers = await asyncio.gather(*several, return_exceptions=True)
    assert {getattr(one, "reason", None) for one in answers} == {"store_unavailable:replaced"}
    assert len(await store.newest(everything(), limit=9)) == 1
    await store.close()


async def test_without_the_look_a_write_is_acknowledged_that_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control of what comes before."""
    path = tmp_path / "m.db"
    store = await opened(path)
    await remember(store, memory("tea"))
    monkeypatch.setattr(OpenFile, "check_identity", lambda _: None)
    path.unlink()
    await remember(store, memory("coffee"))
    await store.close()
    assert not path.exists()


async def test_a_symbolic_link_is_another_name_of_the_same_file(tmp_path: Path) -> None:
    """Both names may be open at once: what is written by one is found by the other, and an erasure reaches all."""
    path, link = tmp_path / "m.db", tmp_path / "link.db"
    async with MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder()) as one:
        await one.add("The parcel goes to Oslo.", actor=ANA)
        link.symlink_to(path)
        async with MemoryEngine(store=SqliteStore(link), embedder=WordEmbedder()) as other:
            await other.add("The letter goes to Rome.", actor=ANA)
            assert (await one.count(actor=ANA), await other.count(actor=ANA)) == (2, 2)
            assert (await other.erase("ana", actor=ANA)).complete
            assert await one.count(actor=ANA) == 0


async def test_two_who_write_the_file_anew_take_turns(tmp_path: Path) -> None:
    stores = [await opened(tmp_path / "m.db") for _ in range(3)]
    await remember(stores[0], *(memory(f"statement {number}") for number in range(200)))
    for _ in range(3):
        await asyncio.gather(*(store.tidy(whole=True) for store in stores))
    for store in stores:
        await store.close()


async def test_a_full_disk_gets_the_room_of_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = await opened(tmp_path / "m.db")
    await remember(store, memory("tea"))
    real, met = opened_file.run_through, []

    def full(*given: Any) -> Any:
        if not met:
            met.append(True)
            raise apsw.FullError("database or disk is full")
        return real(*given)

    monkeypatch.setattr(opened_file, "run_through", full)
    assert (tmp_path / "m.db-wal").stat().st_size
    await remember(store, memory("coffee"))
    assert len(await store.newest(everything(), limit=9)) == 2
    await store.tidy()
    met.clear()
    with pytest.raises(StoreFull):
        await remember(store, memory("cocoa"))
    await store.close()


def test_data_that_contains_itself_is_refused() -> None:
    endless: dict[str, Any] = {}
    endless["again"] = endless
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    for data in (endless, {"deep": deep}):
        with pytest.raises(InvalidInput, match="nested"):
            Candidate(content="The seat is here.", data=data)


@pytest.fixture
async def frozen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, dict[str, str]]:
    """As the access rights of a read-only file system are; root may write everywhere else."""
    path = tmp_path / "disk" / "m ? # %.db"
    path.parent.mkdir()
    said = await make_file(path, 12)
    monkeypatch.setattr("mnemic.stores.sqlite.database_file.os.access", lambda *_: False)
    return path, said


def engine_of(path: Path) -> MemoryEngine:
    return MemoryEngine(store=SqliteStore(path, reserved_bytes=4096), embedder=WordEmbedder())


async def test_everything_can_be_read(frozen: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    path, said = frozen
    before = path.read_bytes()
    async with engine_of(path) as engine:
        assert {one.memory_id: one.content for one in await engine.list(actor=ADA, limit=100)} == said
        assert (await engine.search("Where does parcel 7 go?", actor=ADA)).hits
        assert len([one async for one in engine.export(actor=ADA)]) == len(said)
        assert (await engine.verify_audit(actor=ADA)).broken_at is None
        with pytest.raises(StoreUnavailable):
            await engine.add("Parcel 99 goes nowhere.", actor=ADA)
        with pytest.raises(StoreUnavailable):
            await engine.forget(next(iter(said)), actor=ADA)
    assert inspect(path).whole
    assert backup.take(path, tmp_path / "monday", START).counts["memory"] == len(said)
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]


async def test_what_cannot_be_read_right_is_refused(
    frozen: tuple[Path, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = frozen
    log = path.with_name(f"{path.name}-wal")
    log.write_bytes(b"what was said last")
    with pytest.raises(StoreUnavailable, match="read_only_log"):
        await engine_of(path).open()
    log.unlink()
    with monkeypatch.context() as newer:
        newer.setattr(database_file, "newest_schema", lambda: database_file.migrations()[-1].number + 1)
        with pytest.raises(StoreUnavailable, match="read_only_schema"):
            await engine_of(path).open()
    connection = apsw.Connection(str(path))
    connection.pragma("user_version", 8)
    connection.close()
    with pytest.raises(StoreOlder):
        await engine_of(path).open()
