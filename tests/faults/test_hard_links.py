"""A file with two names (hard links) is opened by neither: each would have a log that the other does not see."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import MnemicError, StoreUnavailable
from mnemic.operations.sqlite import backup
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor
from tests.architecture.sources import ROOT

ANA = Actor(user="ana")
WRITER = """
import asyncio, sys
from pathlib import Path
from mnemic.engine import MemoryEngine
from mnemic.errors import MnemicError
from mnemic.stores.sqlite import SqliteStore, database_file
from mnemic.types import Actor
from mnemic.testing.embedder import WordEmbedder

path, guarded = Path(sys.argv[1]), sys.argv[2]
if guarded == "off":
    database_file.check_names = lambda _: None

async def main():
    async with MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder()) as engine:
        print("open", flush=True)
        for line in sys.stdin:
            await engine.add(line.strip(), actor=Actor(user="ana"))
            print("added", flush=True)

try:
    asyncio.run(main())
except MnemicError as error:
    print(error.reason, flush=True)
"""


class Writer:
    """A process that has the file open by one of its names."""

    def __init__(self, path: Path, guarded: str = "on") -> None:
        command = [sys.executable, "-c", WRITER, str(path), guarded]
        self._process = subprocess.Popen(
            command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.told = self._line()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def add(self, content: str) -> str:
        assert self._process.stdin is not None
        self._process.stdin.write(content + "\n")
        self._process.stdin.flush()
        return self._line()

    def end(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._process.stdout.close()


async def found(path: Path) -> int:
    async with MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder()) as engine:
        return await engine.count(actor=ANA)


async def made(path: Path) -> None:
    async with MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder()) as engine:
        await engine.add("The seat is by the aisle.", actor=ANA)


async def test_a_second_process_by_a_second_name_is_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    path, other = tmp_path / "m.db", tmp_path / "other.db"
    await made(path)
    first = Writer(path)
    assert (first.told, first.add("Parcel 1 is for Oslo.")) == ("open", "added")
    os.link(path, other)
    second = Writer(other)
    second.end()
    assert second.told == "store_unavailable:hard_links"
    assert first.add("Parcel 2 is for Oslo.") == "added"  # who has it open goes on
    first.end()
    other.unlink()
    assert await found(path) == 3


async def test_without_the_look_what_was_acknowledged_is_gone(tmp_path: Path) -> None:
    """The control run."""
    path, other = tmp_path / "m.db", tmp_path / "other.db"
    await made(path)
    first = Writer(path, "off")
    os.link(path, other)
    second = Writer(other, "off")
    answers = [
        writer.add(f"Parcel {number} of the {name} is for Oslo.")
        for number in range(3)
        for name, writer in (("first", first), ("second", second))
    ]
    first.end()
    second.end()
    other.unlink()
    try:
        kept = await found(path)
    except MnemicError:
        kept = 0
    assert kept - 1 < answers.count("added")


async def test_the_message_says_the_way_out_and_it_works(tmp_path: Path) -> None:
    path, other = tmp_path / "m.db", tmp_path / "other.db"
    await made(path)
    os.link(path, other)
    for name in (path, other):
        with pytest.raises(StoreUnavailable) as told:
            await found(name)
        assert (told.value.reason, "cp FILE FILE.copy" in str(told.value)) == ("store_unavailable:hard_links", True)
        with pytest.raises(StoreUnavailable, match="hard_links"):
            backup.take(name, tmp_path / "copy", datetime.now(UTC))
    shutil.copy(path, tmp_path / "m.copy")
    (tmp_path / "m.copy").replace(path)
    assert (await found(path), await found(other)) == (1, 1)


async def test_a_backup_that_a_tool_has_linked_can_be_restored(tmp_path: Path) -> None:
    """Tools for snapshots link what has not changed: a backup in such a folder has many names, and nobody writes it."""
    path = tmp_path / "m.db"
    await made(path)
    backup.take(path, tmp_path / "copy", datetime.now(UTC))
    shutil.copytree(tmp_path / "copy", tmp_path / "daily.1", copy_function=os.link)
    backup.restore(tmp_path / "daily.1", tmp_path / "again.db", lambda *_: None)
    assert await found(tmp_path / "again.db") == 1


async def test_who_can_only_read_may_read_by_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, other = tmp_path / "m.db", tmp_path / "other.db"
    await made(path)
    os.link(path, other)
    monkeypatch.setattr(os, "access", lambda name, mode, **_: mode != os.W_OK)
    assert await found(other) == 1
