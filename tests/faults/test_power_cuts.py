"""Power cuts under the whole engine: every image a disk may be left with holds what was acknowledged."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from mnemic.engine import MemoryEngine
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from tests.faults.aftermath import examine
from tests.faults.oracle import Call, Oracle, make
from tests.faults.power_cuts import PowerCutVfs, Survives
from tests.faults.scale import size

Durability = Literal["durable", "fast"]

CUTS = size(60, 2000)
CUTS_PER_FILE = 20
CALLS_PER_OPENING = 12
CHECKPOINT_PAGES = (2000, 50, 8)
"""How long the log may grow: as by default; and so short that cuts fall into checkpoints, too."""


@dataclass
class Blackouts:
    """Writes through the engine, cuts the power at random steps of the disk, and examines what each cut leaves."""

    folder: Path
    durability: Durability
    choice: random.Random
    seen: Counter[str] = field(default_factory=Counter)
    oracle: Oracle = field(default_factory=Oracle)
    call: Call | None = None
    left: int = 0
    disk: PowerCutVfs = field(init=False)
    images: list[tuple[Path, Oracle, Call | None]] = field(default_factory=list)

    async def one_file(self, cuts: int) -> None:
        """Use one file, opened again and again, until the power was cut `cuts` times."""
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "disk").mkdir(parents=True)
        self.disk = PowerCutVfs(f"power-{id(self)}", self.folder / "disk", on_step=self._step)
        self.oracle, self.left = Oracle(), cuts
        try:
            while self.left:
                await self._one_opening()
        finally:
            self.disk.unregister()

    async def _one_opening(self) -> None:
        store = SqliteStore(self.folder / "disk" / "m.db", durability=self.durability, vfs=self.disk.name)
        async with MemoryEngine(store=store, embedder=WordEmbedder()) as engine:
            for _ in range(CALLS_PER_OPENING):
                call = self.call = self.oracle.next_call(self.choice)
                answer = await make(engine, call)
                assert not answer.broken
                self.oracle.acknowledge(call, answer)
                self.call = None
                self.seen["acknowledged"] += 1
                self._examine()
        self._examine()

    def _step(self) -> None:
        """Something was written, synced or deleted: perhaps the power fails now."""
        if self.left and self.choice.random() < 0.03:
            self.left -= 1
            for survives in Survives:
                image = self.folder / f"image{len(self.images)}"
                self.disk.cut(image, survives, self.choice)
                self.images.append((image, self.oracle.copy(), self.call))

    def _examine(self) -> None:
        for image, oracle, call in self.images:
            found = examine(image / "m.db")
            judged = oracle.judge(found.memories, call)
            self.seen["lost"] += len(judged.lost)
            self.seen["partial"] += len(found.halves) + (len(judged.partial) if self.durability == "durable" else 0)
            self.seen["corrupt"] += bool(found.damage)
            self.seen["images"] += 1
            shutil.rmtree(image)
        self.images.clear()


async def blackouts(folder: Path, durability: Durability, cuts: int, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """What `cuts` cuts left behind, on many files, with long and short logs."""
    run = Blackouts(folder, durability, random.Random(1))
    for number, first in enumerate(range(0, cuts, CUTS_PER_FILE)):
        pages = CHECKPOINT_PAGES[number % len(CHECKPOINT_PAGES)]
        monkeypatch.setattr("mnemic.stores.sqlite.database_file._CHECKPOINT_PAGES", pages)
        await run.one_file(min(CUTS_PER_FILE, cuts - first))
    return run.seen


async def test_durable_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, say: Callable[[str], None]
) -> None:
    seen = await blackouts(tmp_path / "b", "durable", CUTS, monkeypatch)
    say(f"power cuts, durable: {CUTS} cuts x {len(Survives)} kinds: {dict(seen)}")

    assert seen["images"] == CUTS * len(Survives)
    assert seen["acknowledged"] > 0
    assert (seen["lost"], seen["partial"], seen["corrupt"]) == (0, 0, 0)


async def test_fast_loses_the_last_moments_and_never_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, say: Callable[[str], None]
) -> None:
    cuts = max(CUTS // 5, 2 * CUTS_PER_FILE)
    seen = await blackouts(tmp_path / "b", "fast", cuts, monkeypatch)
    say(f"power cuts, fast: {cuts} cuts x {len(Survives)} kinds: {dict(seen)}")

    assert seen["lost"] > 0
    assert (seen["partial"], seen["corrupt"]) == (0, 0)
