"""Power cuts in the middle of backup, restore, erasure, migration and re-embedding: what was acknowledged is there, and
nobody who was erased comes back.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemic.engine import MemoryEngine
from mnemic.maintenance.reembed import reembed
from mnemic.operations.sqlite import backup
from mnemic.operations.sqlite.inspection import inspect
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate
from tests.faults.power_cuts import PowerCutVfs, Survives
from tests.faults.recovery_run import Renamed
from tests.faults.scale import size
from tests.faults.unsynced_names import SyncedNames

CUTS = size(8, 200)
"""For each verb."""
CUTS_IN_ONE = 10
ANA, CY = Actor(tenant="acme", user="ana"), Actor(tenant="acme", user="cy")
OWN, THEIRS = 6, 12
NOW = datetime(2026, 11, 24, tzinfo=UTC)


@pytest.fixture
async def base(tmp_path: Path) -> Path:
    """A closed file with memories of two users."""
    path = tmp_path / "base.db"
    async with MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder()) as engine:
        await engine.add_many([Candidate(content=f"Ana has ship {number}.") for number in range(OWN)], actor=ANA)
        await engine.add_many([Candidate(content=f"Cy owns boat {number}.") for number in range(THEIRS)], actor=CY)
    return path


def content_of(path: Path) -> bytes:
    return path.read_bytes()


class Cuts:
    """Cuts the power under `work` on a copy of `source`, at chosen steps, and once it has answered."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.images: list[tuple[Path, bool]] = []
        """Each folder that a cut left, and True if the answer had been given."""
        self._choice = random.Random(seed)
        self._steps, self._chosen, self._answered = 0, frozenset[int](), False

    async def under(self, source: bytes, work: Callable[[Path, str], Awaitable[object]], cuts: int) -> None:
        """First count the steps, then cut at `cuts` of them."""
        await self._once(source, work, frozenset())
        chosen = self._choice.sample(range(1, self._steps + 1), min(cuts, self._steps))
        await self._once(source, work, frozenset(chosen))
        assert len(self.images) >= min(cuts, len(chosen))

    async def _once(
        self, source: bytes, work: Callable[[Path, str], Awaitable[object]], chosen: frozenset[int]
    ) -> None:
        place = self.folder / "disk"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        (place / "m.db").write_bytes(source)
        self._steps, self._chosen, self._answered = 0, chosen, False
        self._disk = PowerCutVfs(f"cut-{id(self)}-{len(chosen)}", place, on_step=self._step)
        try:
            await work(place / "m.db", self._disk.name)
            self._answered = True
            if chosen:
                self._cut()
        finally:
            self._disk.unregister()

    def _step(self) -> None:
        self._steps += 1
        if self._steps in self._chosen:
            self._cut()

    def _cut(self) -> None:
        image = self.folder / f"image{len(self.images)}"
        self._disk.cut(image, self._choice.choice(list(Survives)), self._choice)
        self.images.append((image / "m.db", self._answered))


async def erased(path: Path, vfs: str | None = None) -> None:
    async with MemoryEngine(store=SqliteStore(path, vfs=vfs), embedder=WordEmbedder()) as engine:
        assert (await engine.erase("cy", actor=ANA)).complete


async def reembedded(path: Path, vfs: str | None = None) -> None:
    store = SqliteStore(path, vfs=vfs)
    await store.open(None)
    try:
        await reembed(store, Renamed())
    finally:
        await store.close()


async def counts(path: Path, embedder: WordEmbedder | None = None) -> tuple[int, int]:
    async with MemoryEngine(store=SqliteStore(path), embedder=embedder or WordEmbedder()) as engine:
        return await engine.count(actor=ANA), await engine.count(actor=CY)


async def erasure_left(image: Path, answered: bool) -> Counter[str]:
    seen: Counter[str] = Counter()
    ana, cy = await counts(image)
    seen["lost"] += OWN - ana
    seen["came back"] += cy if answered else 0
    await erased(image)
    seen["came back"] += (await counts(image))[1]
    return seen


async def reembedding_left(image: Path, _: bool) -> Counter[str]:
    await reembedded(image)
    ana, cy = await counts(image, Renamed())
    return Counter({"lost": OWN + THEIRS - ana - cy, "without a vector": inspect(image).without_vector})


VERBS = {
    "erase": (erased, erasure_left),
    "re-embed": (reembedded, reembedding_left),
}


@pytest.mark.faults
@pytest.mark.parametrize("verb", VERBS)
async def test_power_is_cut_under_a_file(base: Path, tmp_path: Path, verb: str, say: Callable[[str], None]) -> None:
    work, left = VERBS[verb]
    source = content_of(base)
    seen: Counter[str] = Counter()
    for number, first in enumerate(range(0, CUTS, CUTS_IN_ONE)):
        cuts = Cuts(tmp_path / "cuts", number)
        await cuts.under(source, work, min(CUTS_IN_ONE, CUTS - first))
        for image, answered in cuts.images:
            seen += await left(image, answered)
            seen["damaged"] += not inspect(image).whole
            seen["cuts"] += 1
        shutil.rmtree(tmp_path / "cuts")
    say(f"power cuts during {verb}: {dict(seen)}")
    assert seen.pop("cuts") >= CUTS
    assert +seen == Counter()


@pytest.mark.faults
@pytest.mark.parametrize("verb", ["backup", "restore"])
async def test_power_is_cut_under_a_copy(base: Path, tmp_path: Path, verb: str, say: Callable[[str], None]) -> None:
    copy, seen, number = tmp_path / "copy", Counter[str](), 0
    backup.take(base, copy, NOW)
    while seen["cuts"] < CUTS:
        number += 1
        place = tmp_path / f"place{number}"
        place.mkdir()
        images = cut_at_each_step(place, verb, base, copy)
        for image in images:
            seen["lost"] += await missing(image, verb, answered=image is images[-1])
            seen["cuts"] += 1
            shutil.rmtree(image)
        shutil.rmtree(place)
    say(f"power cuts during {verb}: {dict(seen)}")
    assert seen["lost"] == 0


def cut_at_each_step(place: Path, verb: str, base: Path, copy: Path) -> list[Path]:
    """Folders that cuts at each step leave, and at last one after the answer."""
    images: list[Path] = []

    def cut() -> None:
        images.append(place.with_name(f"{place.name}-{len(images)}"))
        disk.cut(images[-1])

    disk = SyncedNames(place, on_step=cut)
    with disk:
        if verb == "backup":
            backup.take(base, place / "copy", NOW)
        else:
            backup.restore(copy, place / "again.db", lambda *_: None)
        cut()
    return images


async def missing(image: Path, verb: str, *, answered: bool) -> int:
    """Memories that are not there though there is something under the name, or there must be."""
    made = image / ("copy" if verb == "backup" else "again.db")
    if not made.exists():
        return OWN + THEIRS if answered else 0
    if verb == "backup":
        backup.restore(made, image / "from-it.db", lambda *_: None)
        made = image / "from-it.db"
    return OWN + THEIRS - sum(await counts(made))
