"""Recovery: a copy, the way back, and what a crash or a power cut in the middle of either leaves."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

from mnemic import MemoryManager
from mnemic.engine import MemoryEngine
from mnemic.errors import MnemicError
from mnemic.maintenance import erase
from mnemic.operations import restore_store
from mnemic.operations.backup_folder import Manifest
from mnemic.operations.sqlite import backup
from mnemic.runtime.clock import SystemClock
from mnemic.stores import atomic_files
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate
from tests.architecture.sources import ROOT
from tests.faults.scale import size
from tests.faults.unsynced_names import SyncedNames

NOW = datetime(2026, 5, 1, tzinfo=UTC)

CRASHING = """
import os, signal, sys
from mnemic import MemoryManager
memory = MemoryManager("ana", store=sys.argv[1])
for number in range(40):
    memory.add(f"Parcel {number} goes to town {number * 7}.")
os.kill(os.getpid(), signal.SIGKILL)
"""


def said(store: Path) -> list[str]:
    with MemoryManager("ana", store=str(store)) as memory:
        return sorted(one.content for one in memory.list(limit=100))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "disk" / "memory.db"
    path.parent.mkdir()
    with MemoryManager("ana", store=str(path)) as memory:
        memory.add("The cat is called Miso.")
        memory.add("Ana lives in Oslo.")
    return path


def nothing_more(_: str, __: Manifest) -> None: ...


def test_a_log_that_a_crash_left_does_not_destroy_the_restored_file(store: Path, tmp_path: Path) -> None:
    kept = said(store)
    backup.take(store, tmp_path / "monday", NOW)
    done = subprocess.run([sys.executable, "-c", CRASHING, str(store)], check=False)
    assert done.returncode == -signal.SIGKILL
    log = Path(f"{store}-wal")
    left = log.read_bytes()
    assert left
    store.rename(store.with_name("memory.db.damaged"))

    restored = backup.restore(tmp_path / "monday", store, nothing_more)

    assert said(store) == kept
    assert {file.name for file in restored.set_aside} == {"memory.db-wal.left", "memory.db-shm.left"}
    assert restored.set_aside[0].read_bytes() == left, "what was acknowledged last is in it"


def test_what_is_set_aside_twice_keeps_both(store: Path) -> None:
    for text in ("one", "two"):
        Path(f"{store}-wal").write_text(text)
        atomic_files.set_aside(store)
    assert [Path(f"{store}-wal.left{number}").read_text() for number in ("", "2")] == ["one", "two"]


def test_power_is_cut_during_a_backup(store: Path, tmp_path: Path) -> None:
    """Nothing under the name, or a copy that can be restored; once `take` returns, the copy."""
    folder, seen, made = store.parent, [], []

    def examine() -> None:
        image = tmp_path / f"image{len(seen)}"
        disk.cut(image)
        seen.append(image / "monday")

    with SyncedNames(folder, on_step=examine) as disk:
        backup.take(store, folder / "monday", NOW)
        examine()
    for image in seen:
        if image.exists():
            backup.check_backup(image)
            made.append(image)
    assert len(seen) > 3
    assert seen[-1] in made


def test_power_is_cut_during_a_restore(store: Path, tmp_path: Path) -> None:
    kept, folder, seen = said(store), store.parent, []
    backup.take(store, tmp_path / "monday", NOW)

    def examine() -> None:
        image = tmp_path / f"image{len(seen)}"
        disk.cut(image)
        seen.append(image / "again.db")

    with SyncedNames(folder, on_step=examine) as disk:
        Path(f"{folder / 'again.db'}-wal").write_bytes(b"left by another file")
        backup.restore(tmp_path / "monday", folder / "again.db", nothing_more)
        examine()
    for image in seen:
        assert not image.exists() or said(image) == kept
    assert seen[-1].exists()


@pytest.mark.parametrize("unsynced", ["file", "folder"])
def test_the_power_cut_shows_what_was_not_synced(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unsynced: str
) -> None:
    """The control run: with the syncs of files, or of folders, left out, the acknowledged copy is not whole."""
    real = atomic_files.sync_to_disk

    def forgetful(path: Path) -> None:
        if path.is_dir() != (unsynced == "folder"):
            real(path)

    for module in ("mnemic.stores.atomic_files", "mnemic.operations.backup_folder", "mnemic.operations.sqlite.backup"):
        monkeypatch.setattr(f"{module}.sync_to_disk", forgetful)
    with SyncedNames(store.parent) as disk:
        backup.take(store, store.parent / "monday", NOW)
        disk.cut(tmp_path / "image")
    with pytest.raises((MnemicError, OSError)):
        backup.check_backup(tmp_path / "image" / "monday")


KILLED = """
import os, signal, sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from mnemic.stores import atomic_files
from mnemic.stores.sqlite import SqliteStore
from mnemic.operations import backup_folder
from mnemic.operations.sqlite import backup
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
def killed(*_):
    os.kill(os.getpid(), signal.SIGKILL)
backup_folder.put = backup.put = killed
store, target = map(Path, sys.argv[1:])
if target.suffix:
    backup.restore(store, target, lambda *_: None)
else:
    backup.take(store, target, datetime.now(UTC))
"""


def test_a_part_that_a_kill_left_is_removed_by_the_next(store: Path, tmp_path: Path) -> None:
    folder = store.parent
    backup.take(store, tmp_path / "monday", NOW)
    for source, target in ((store, folder / "tuesday"), (tmp_path / "monday", folder / "again.db")):
        done = subprocess.run([sys.executable, "-c", KILLED, str(source), str(target)], check=False)
        assert done.returncode == -signal.SIGKILL
        assert len(atomic_files.left_parts(folder)) == 1
        backup.take(store, folder / f"after-{target.stem}", NOW)
        assert not [name for name in os.listdir(folder) if name.startswith(".")]
        shutil.rmtree(folder / f"after-{target.stem}")


def test_a_part_that_somebody_is_making_stays(store: Path) -> None:
    with atomic_files.part_of(store.with_name("mine")) as mine:
        mine.mkdir()
        assert atomic_files.left_parts(store.parent) == []
        backup.take(store, store.parent / "monday", NOW)
        assert mine.is_dir()


def test_there_is_nothing_to_remove_where_there_is_no_folder(tmp_path: Path) -> None:
    assert atomic_files.left_parts(tmp_path / "none") == []


CY, ANA = Actor(tenant="acme", user="cy"), Actor(tenant="acme", user="ana")


def engine_at(path: Path, clock: ManualClock | None = None) -> MemoryEngine:
    return MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder(), clock=clock or SystemClock())


async def count_of(path: Path, actor: Actor) -> int:
    async with engine_at(path) as engine:
        return await engine.count(actor=actor)


async def restored(folder: Path, target: Path, erasures: Path) -> int:
    """How many were erased again."""
    _, erased = await asyncio.to_thread(
        restore_store, folder, str(target), SystemClock(), erasures=str(erasures), receipts=[]
    )
    return len(erased)


async def test_a_backup_that_is_made_during_an_erasure_brings_nobody_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, batches = tmp_path / "m.db", []
    real = erase._Erasure._remove

    async def remove(self: Any, batch: Any, unit: Any) -> int:
        batches.append(batch)
        if len(batches) == 2:
            backup.take(path, tmp_path / "monday", datetime.now(UTC))
        return await real(self, batch, unit)

    monkeypatch.setattr(erase, "BATCH", 5)
    monkeypatch.setattr(erase._Erasure, "_remove", remove)
    async with engine_at(path) as engine:
        await engine.add_many([Candidate(content=f"Cy has ship {number}.") for number in range(30)], actor=CY)
        await engine.add("A bystander stays.", actor=ANA)
        assert (await engine.erase("cy", actor=ANA)).complete
    assert backup.check_backup(tmp_path / "monday").counts["memory"] == 26
    assert await restored(tmp_path / "monday", tmp_path / "again.db", path) == 1
    assert await count_of(tmp_path / "again.db", CY) == 0
    assert await count_of(tmp_path / "again.db", ANA) == 1


async def test_a_clock_that_goes_back_brings_nobody_back(tmp_path: Path) -> None:
    path, clock = tmp_path / "m.db", ManualClock(NOW)
    async with engine_at(path, clock) as engine:
        await engine.add("Cy has a boat.", actor=CY)
        backup.take(path, tmp_path / "monday", clock.now())
        clock.jump_to(clock.now() - timedelta(minutes=5))
        await engine.erase("cy", actor=ANA)
    assert await restored(tmp_path / "monday", tmp_path / "again.db", path) == 1
    assert await count_of(tmp_path / "again.db", CY) == 0


async def test_who_came_back_after_an_erasure_that_had_ended_stays(tmp_path: Path) -> None:
    path, clock = tmp_path / "m.db", ManualClock(NOW)
    async with engine_at(path, clock) as engine:
        await engine.add("Cy has a boat.", actor=CY)
        clock.jump_to(clock.now() + timedelta(days=400))
        await engine.erase("cy", actor=ANA)
        await engine.add("Cy is back.", actor=CY)
        backup.take(path, tmp_path / "monday", NOW)
    assert await restored(tmp_path / "monday", tmp_path / "again.db", path) == 0
    assert await count_of(tmp_path / "again.db", CY) == 1


@pytest.mark.parametrize("during", [False, True])
async def test_who_was_erased_twice_does_not_come_back_from_before_the_second_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, during: bool
) -> None:
    """An erasure that had ended before the copy says nothing of one that began, or ended, after it."""
    path, batches = tmp_path / "m.db", []
    real = erase._Erasure._remove

    async def remove(self: Any, batch: Any, unit: Any) -> int:
        batches.append(batch)
        if len(batches) == 2:
            backup.take(path, tmp_path / "monday", NOW)
        return await real(self, batch, unit)

    async with engine_at(path) as engine:
        await engine.add("Cy has a boat.", actor=CY)
        await engine.erase("cy", actor=ANA)
        await engine.add_many([Candidate(content=f"Cy is back with ship {number}.") for number in range(9)], actor=CY)
        if during:
            monkeypatch.setattr(erase, "BATCH", 5)
            monkeypatch.setattr(erase._Erasure, "_remove", remove)
        else:
            backup.take(path, tmp_path / "monday", NOW)
        await engine.erase("cy", actor=ANA)
    assert await restored(tmp_path / "monday", tmp_path / "again.db", path) == 1
    assert await count_of(tmp_path / "again.db", CY) == 0


async def test_where_the_audit_is_another_everybody_counts_who_was_erased(tmp_path: Path) -> None:
    for name in ("one.db", "two.db"):
        async with engine_at(tmp_path / name) as engine:
            await engine.add("Cy has a boat.", actor=CY)
            await engine.erase("cy", actor=ANA)
            await engine.add("Cy is back.", actor=CY)
    # The same secret, so that both mean the same person by the same keyed hash.
    with (
        closing(apsw.Connection(str(tmp_path / "one.db"))) as one,
        closing(apsw.Connection(str(tmp_path / "two.db"))) as two,
    ):
        secret = one.execute("SELECT secret, checksum FROM tenant").fetchall()[0]
        two.execute("UPDATE tenant SET secret = ?, checksum = ?", secret)
        marks = one.execute("SELECT * FROM mark").fetchall()
        two.execute("DELETE FROM mark")
        two.executemany("INSERT INTO mark VALUES (?, ?, ?, ?)", marks)
    backup.take(tmp_path / "one.db", tmp_path / "monday", NOW)
    assert await restored(tmp_path / "monday", tmp_path / "again.db", tmp_path / "two.db") == 1


KILLS = size(4, 200)
"""Of each verb, by SIGKILL; a child that was done before it came counts for nothing."""
VERBS = ("backup", "restore", "erase", "reembed")
UNWANTED = ("lost", "came_back", "damaged", "unopened", "incomplete", "without_vector", "left")


def run(folder: Path, kills: int, fences: str) -> dict[str, int]:
    command = [sys.executable, "-m", "tests.faults.recovery_run", str(folder), str(kills), "1", fences]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    counts: dict[str, int] = json.loads(done.stdout)
    return counts


def test_whatever_is_killed_can_be_recovered(tmp_path: Path, say: Callable[[str], None]) -> None:
    seen = run(tmp_path, KILLS, "on")
    say(f"recovery after kills: {seen}")
    assert {verb: seen[f"killed {verb}"] for verb in VERBS} == dict.fromkeys(VERBS, KILLS)
    assert seen["trials"] == len(VERBS) * KILLS + seen["ended"]
    assert wanting(seen) == {}
    assert all(name in UNWANTED or _counts(name) for name in seen)


def wanting(seen: dict[str, int]) -> dict[str, int]:
    """Return statements that must not be there, and those that are missing."""
    return {name: count for name, count in seen.items() if count and not _counts(name)}


def _counts(name: str) -> bool:
    return name in ("trials", "ended") or name.startswith("killed ")


def test_made_in_place_a_killed_copy_is_half_there(tmp_path: Path) -> None:
    """The control run."""
    seen = run(tmp_path, size(12, 100), "off")
    assert wanting(seen) != {}
