"""Kills in the middle of backup, restore, erasure and re-embedding, and what can be recovered after each.

`python -m tests.faults.recovery_run FOLDER KILLS SEED FENCES` goes on until each verb was killed KILLS times, and
prints the counts as JSON: `killed VERB` are the children that SIGKILL ended, `ended` those that were done before it
came. It forks, so it has a process without threads to itself. FENCES `off` leaves the renames out of backup and
restore: the control run.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from mnemic.engine import MemoryEngine
from mnemic.errors import MnemicError
from mnemic.maintenance.reembed import reembed
from mnemic.operations import backup_folder, restore_store
from mnemic.operations.sqlite import backup
from mnemic.operations.sqlite.inspection import inspect
from mnemic.runtime.clock import SystemClock
from mnemic.stores import atomic_files
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, VectorSpace

ANA, CY = Actor(tenant="acme", user="ana"), Actor(tenant="acme", user="cy")
OWN, THEIRS = 12, 40


class Renamed(WordEmbedder):
    """Vectors as long as before, of another model."""

    def __init__(self) -> None:
        super().__init__()
        self._space = VectorSpace(model="another", dimension=self._space.dimension)


def engine_at(path: Path, embedder: WordEmbedder | None = None) -> MemoryEngine:
    return MemoryEngine(store=SqliteStore(path), embedder=embedder or WordEmbedder())


async def _filled(path: Path) -> None:
    async with engine_at(path) as engine:
        await engine.add_many([Candidate(content=f"Ana has ship {number}.") for number in range(OWN)], actor=ANA)
        await engine.add_many([Candidate(content=f"Cy owns boat {number}.") for number in range(THEIRS)], actor=CY)


async def _counts(path: Path, embedder: WordEmbedder | None = None) -> tuple[int, int]:
    async with engine_at(path, embedder) as engine:
        return await engine.count(actor=ANA), await engine.count(actor=CY)


async def _erased(path: Path) -> bool:
    async with engine_at(path) as engine:
        return (await engine.erase("cy", actor=ANA)).complete


async def _reembedded(path: Path) -> None:
    store = SqliteStore(path)
    await store.open(None)
    try:
        await reembed(store, Renamed())
    finally:
        await store.close()


class Trials:
    """Trials of each verb, in `folder`; `seen` counts what is there that must not be, and what is missing."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.seen: Counter[str] = Counter()
        self._folder = folder
        self._choice = random.Random(seed)
        self._base = folder / "base.db"
        self._copy = folder / "base-backup"
        self._took: dict[str, float] = {}
        asyncio.run(_filled(self._base))
        backup.take(self._base, self._copy, datetime.now(UTC))

    def one(self, name: str, number: int) -> None:
        """Kill `name` somewhere in its middle, and recover."""
        place = self._folder / f"{name}{number}"
        place.mkdir()
        store = place / "m.db"
        shutil.copy(self._base, store)
        getattr(self, f"_{name}")(place, store)
        self.seen["trials"] += 1
        shutil.rmtree(place)

    def _killed(self, name: str, work: Callable[[], object]) -> None:
        """Run `work` in a child and kill it at a random moment of the time that it takes."""
        began = time.monotonic()
        child = os.fork()
        if child == 0:
            try:
                work()
            finally:
                os._exit(0)
        if name in self._took:
            time.sleep(self._choice.uniform(0, self._took[name]))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
            self.seen[f"killed {name}"] += 1
            return
        # The first run is slower than those that follow: the time is that of the fastest.
        self._took[name] = min(self._took.get(name, math.inf), time.monotonic() - began)
        self.seen["ended"] += 1

    def _expect(self, path: Path, ana: int, cy: int, embedder: WordEmbedder | None = None) -> None:
        try:
            found = asyncio.run(_counts(path, embedder))
        except MnemicError:
            self.seen["unopened"] += 1
            return
        self.seen["lost"] += max(0, ana - found[0]) + max(0, cy - found[1])
        self.seen["came_back"] += max(0, found[1] - cy)
        self.seen["damaged"] += not inspect(path).whole

    def _backup(self, place: Path, store: Path) -> None:
        self._killed("backup", lambda: backup.take(store, place / "copy", datetime.now(UTC)))
        if (place / "copy").exists():
            self._restored(place / "copy", place / "again.db", OWN, THEIRS)
        backup.take(store, place / "next", datetime.now(UTC))
        self._restored(place / "next", place / "then.db", OWN, THEIRS)
        self.seen["left"] += len([one for one in place.iterdir() if one.name.startswith(".")])

    def _restore(self, place: Path, store: Path) -> None:
        target = place / "again.db"
        shutil.copy(store, Path(f"{target}-wal"))
        self._killed("restore", lambda: backup.restore(self._copy, target, lambda *_: None))
        if not target.exists():
            backup.restore(self._copy, target, lambda *_: None)
        self._expect(target, OWN, THEIRS)
        # A kill between the file's rename and the removal of its parts leaves them to the next restore in the folder.
        backup.restore(self._copy, place / "after.db", lambda *_: None)
        self.seen["left"] += len(atomic_files.left_parts(place))

    def _erase(self, place: Path, store: Path) -> None:
        self._killed("erase", lambda: asyncio.run(_erased(store)))
        backup.take(store, place / "between", datetime.now(UTC))
        self.seen["incomplete"] += not asyncio.run(_erased(store))
        self._expect(store, OWN, 0)
        for copy in (place / "between", self._copy):
            target = place / f"{copy.name}.db"
            restore_store(copy, str(target), SystemClock(), erasures=str(store), receipts=[])
            self._expect(target, OWN, 0)

    def _reembed(self, place: Path, store: Path) -> None:
        self._killed("reembed", lambda: asyncio.run(_reembedded(store)))
        asyncio.run(_reembedded(store))
        self._expect(store, OWN, THEIRS, Renamed())
        self.seen["without_vector"] += inspect(store).without_vector

    def _restored(self, copy: Path, target: Path, ana: int, cy: int) -> None:
        backup.restore(copy, target, lambda *_: None)
        self._expect(target, ana, cy)


VERBS = ("backup", "restore", "erase", "reembed")


MOST = 5
"""Trials for each kill that is wanted: beyond that the kills come too late to say anything."""


def main(folder: str, kills: str, seed: str, fences: str) -> None:
    run = Trials(Path(folder), int(seed))
    if fences == "off":
        # In place, as a plain copy would be made.
        backup_folder.part_of = backup.part_of = _in_place  # type: ignore[assignment]
        backup_folder.put = backup.put = lambda part, target: None
    for number in range(MOST * int(kills)):
        for verb in VERBS if fences == "on" else ("backup", "restore"):
            if run.seen[f"killed {verb}"] >= int(kills):
                continue
            try:
                run.one(verb, number)
            except MnemicError as error:
                run.seen[f"{verb}: {error.reason}"] += 1
    sys.stdout.write(json.dumps(run.seen))


class _in_place:  # noqa: N801 - it stands in for a function
    """`part_of` without its protection: what is made has its name from the start."""

    def __init__(self, target: Path) -> None:
        self._target = target

    def __enter__(self) -> Path:
        return self._target

    def __exit__(self, *_: object) -> None: ...


if __name__ == "__main__":
    main(*sys.argv[1:])
