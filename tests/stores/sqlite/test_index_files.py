"""Images of large scopes beside a memory file: taken over by a new process, never stale, gone with what was removed."""

from __future__ import annotations

import shutil
from pathlib import Path

import apsw
import pytest

from mnemic.keys import KeyFolder, MasterKeys
from mnemic.stores import scope_index
from mnemic.stores.sqlite import SqliteStore
from mnemic.stores.sqlite.index_files import file_of, files_beside, load, save
from mnemic.stores.sqlite.rows import ScopeState, find_place
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.testing.record_store.fixtures import change, day
from mnemic.types import Source, Where

EVERYTHING = Where(scopes=(scope(),))
CANARY = "Zyxwvutsrq9876543210canary"


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scope_index, "EXACT_UP_TO", 5)


def keyring(folder: Path) -> KeyFolder:
    if not (folder / "master.key").exists():
        MasterKeys.make(folder / "master.key")
    return KeyFolder(folder / "keys", folder / "master.key")


def on_disk(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file())


async def opened(path: Path) -> SqliteStore:
    store = SqliteStore(path)
    await store.open(EMBEDDER.space)
    return store


async def searched(store: SqliteStore) -> list[str]:
    found = await store.match(EVERYTHING, "bystander", limit=99)
    await store.tidy()  # the writer's next turn: what it was given before is done
    return sorted(scored.memory_id for scored in found)


async def filled(path: Path, count: int = 20) -> SqliteStore:
    store = await opened(path)
    await remember(store, *(memory(f"bystander {number}") for number in range(count)))
    return store


def place_of(path: Path) -> ScopeState:
    connection = apsw.Connection(str(path))
    found = find_place(connection, scope())
    connection.close()
    assert found is not None
    return found


def known_changes(path: Path) -> int:
    """Return the changes that a new process would take over from an image; 0 where it reads all rows."""
    connection = apsw.Connection(str(path))
    index = scope_index.ScopeIndex(EMBEDDER.space.dimension, rereads=True)
    taken = load(connection, place_of(path), index)
    connection.close()
    return index.seen if taken else 0


async def test_a_new_process_takes_over_what_is_there_and_reads_what_is_newer(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    store = await filled(path)
    before = await searched(store)
    await store.close()
    assert known_changes(path) == 20
    assert file_of(str(path), place_of(path).scope_id).stat().st_mode & 0o777 == 0o600
    store = await opened(path)
    assert await searched(store) == before
    added = memory("bystander of later")
    await remember(store, added)
    await store.close()
    assert known_changes(path) == 20
    store = await opened(path)
    assert await searched(store) == sorted([*before, added.memory_id])
    await store.close()


async def test_an_image_far_behind_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    store = await filled(path)
    await searched(store)
    await remember(store, *(memory(f"bystander of later {number}") for number in range(20)))
    await store.close()
    assert known_changes(path) == 20
    store = await opened(path)
    assert len(await searched(store)) == 40
    await store.close()
    assert known_changes(path) == 40


async def test_nothing_of_a_removed_memory_stays_in_an_image(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    store = await filled(path)
    planted = memory(CANARY, key=f"{CANARY}-key", category=CANARY, source=Source(session=CANARY, speaker=CANARY))
    await remember(store, planted)
    await store.close()
    store = await opened(path)
    before = await searched(store)
    [image] = files_beside(path)
    assert CANARY.encode() in image.read_bytes()
    await store.transact(lambda transaction: transaction.remove(planted.memory_id, scope=scope()))
    assert list(files_beside(path)) == []
    assert await searched(store) == before
    await store.close()
    assert CANARY.encode() not in on_disk(tmp_path)
    store = await opened(path)
    assert await searched(store) == before
    await store.close()
    assert known_changes(path) == 22
    assert CANARY.encode() not in on_disk(tmp_path)


async def test_a_removal_through_a_link_finds_the_image(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    path, link = tmp_path / "folder" / "m.db", tmp_path / "link.db"
    link.symlink_to(path)
    store = await filled(link)
    before = await searched(store)
    await store.close()
    assert list(files_beside(link)) == list(files_beside(path)) == [file_of(str(path), 1)]
    store = await opened(path)
    await store.transact(lambda transaction: transaction.remove(before[0], scope=scope()))
    assert list(files_beside(link)) == []
    await store.close()


async def test_an_index_from_before_a_removal_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    store = await filled(path)
    before = await searched(store)
    await store.close()
    index = scope_index.ScopeIndex(EMBEDDER.space.dimension, rereads=True)
    connection = apsw.Connection(str(path))
    assert load(connection, place_of(path), index)
    store = await opened(path)
    await store.transact(lambda transaction: transaction.remove(before[0], scope=scope()))
    with connection:
        assert not save(connection, place_of(path).scope_id, index, index.seen)
    connection.close()
    assert list(files_beside(path)) == []
    await store.close()


async def test_a_removal_that_is_undone_loses_the_image_only(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    store = await filled(path)
    before = await searched(store)

    async def undone(transaction: object) -> None:
        await transaction.remove(before[0], scope=scope())  # type: ignore[attr-defined]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        await store.transact(undone)  # type: ignore[arg-type]
    await store.close()
    assert known_changes(path) == 0
    store = await opened(path)
    assert await searched(store) == before
    await store.close()


async def test_an_earlier_copy_of_the_file_does_not_meet_a_later_image(tmp_path: Path) -> None:
    path, copy = tmp_path / "m.db", tmp_path / "copy.db"
    store = await filled(path, 10)
    await store.close()
    shutil.copy(path, copy)
    store = await opened(path)
    await remember(store, *(memory(f"bystander {number} of one history") for number in range(10)))
    await store.close()
    store = await opened(path)
    await searched(store)
    await store.close()
    assert known_changes(path) == 20
    shutil.copy(copy, path)
    store = await opened(path)
    await remember(store, *(memory(f"bystander {number} of the other") for number in range(15)))
    await store.close()
    assert known_changes(path) == 0
    store = await opened(path)
    assert len(await searched(store)) == 25
    await store.close()


async def test_a_removal_by_a_program_that_knows_no_images_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    store = await filled(path)
    before = await searched(store)
    await store.close()
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA foreign_keys = 1; DELETE FROM memory WHERE memory_id = ?", (before[0],))
    connection.execute("UPDATE scope SET changes = changes + 1, removed_at = changes + 1")
    connection.close()
    assert known_changes(path) == 0
    store = await opened(path)
    assert await searched(store) == before[1:]
    await store.close()


@pytest.mark.parametrize("left", [0, 100, -200])
async def test_a_torn_image_is_read_from_rows_instead(tmp_path: Path, left: int) -> None:
    path = tmp_path / "m.db"
    store = await filled(path)
    before = await searched(store)
    await store.close()
    [image] = files_beside(path)
    image.write_bytes(image.read_bytes()[:left])
    assert known_changes(path) == 0
    store = await opened(path)
    assert await searched(store) == before
    await store.close()
    assert known_changes(path) == 20


async def test_an_image_without_a_mark_is_swept_away(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    store = await filled(path, 2)
    beside = [file_of(str(path), 77), tmp_path / "m.db-index-notes", tmp_path / "other.db-index-77"]
    for file in beside:
        file.write_bytes(b"left by a crash")
    await store.tidy()
    assert [file.exists() for file in beside] == [False, True, True]
    await store.close()


async def test_a_changed_memory_is_found_as_it_is_now(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    store = await filled(path)
    said = memory("bystander who moves")
    await remember(store, said)
    await store.close()
    store = await opened(path)
    await searched(store)
    await change(store, said.next_version(day(1), content="settled", vector=EMBEDDER.vector("settled")))
    await store.close()
    assert known_changes(path) == 21
    store = await opened(path)
    assert said.memory_id not in await searched(store)
    assert [found.memory_id for found in await store.match(EVERYTHING, "settled", limit=9)] == [said.memory_id]
    await store.close()


@pytest.mark.parametrize("seals", [True, False])
async def test_a_store_with_a_keyring_has_no_images(tmp_path: Path, seals: bool) -> None:
    path = tmp_path / "m.db"
    store = SqliteStore(path, keyring=keyring(tmp_path), seals=seals)
    await store.open(EMBEDDER.space)
    await remember(store, *(memory(f"bystander {number}") for number in range(20)))
    assert len(await searched(store)) == 20
    await store.close()
    assert list(files_beside(path)) == []


async def test_sealing_a_file_removes_its_images(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    store = await filled(path)
    before = await searched(store)
    await store.close()
    assert len(list(files_beside(path))) == 1
    sealing = SqliteStore(path, keyring=keyring(tmp_path), seals=True)
    await sealing.open(EMBEDDER.space)
    assert await sealing.seal(scope().tenant)
    assert list(files_beside(path)) == []
    assert await searched(sealing) == before
    await sealing.close()
