"""A file whose creation was cut off, at whatever step: the next one to open it finishes the work."""

from __future__ import annotations

import random
from pathlib import Path

from mnemic.engine import MemoryEngine
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.faults.aftermath import examine
from mnemic.testing.faults.oracle import ADA
from mnemic.testing.faults.power import PowerCutVfs, Survives
from tests.faults.scale import size

STRIDE = size(6, 1)


def images_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*-*/m.db"))


async def test_power_fails_at_each_step_of_making_a_file(tmp_path: Path) -> None:
    disk, steps, choice = tmp_path / "disk", [0], random.Random(1)
    disk.mkdir()

    def cut() -> None:
        steps[0] += 1
        if steps[0] % STRIDE == 0:
            for survives in Survives:
                vfs.cut(tmp_path / f"{steps[0]}-{survives}", survives, choice)

    vfs = PowerCutVfs("creation", disk, on_step=cut)
    try:
        async with MemoryEngine(store=SqliteStore(disk / "m.db", vfs=vfs.name), embedder=WordEmbedder()) as engine:
            vfs.on_step = lambda: None
            await engine.count(actor=ADA)
    finally:
        vfs.unregister()

    images = images_in(tmp_path)
    assert len(images) > 20
    for image in images:
        async with MemoryEngine(store=SqliteStore(image), embedder=WordEmbedder()) as engine:
            assert (await engine.add("The file is there", actor=ADA)).stored
        assert examine(image).whole
