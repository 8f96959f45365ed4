"""A file whose creation was cut off, at whatever step: the next one to open it finishes the work."""

from __future__ import annotations

import random
from pathlib import Path

import apsw

from mnemic.engine import MemoryEngine
from mnemic.stores.sqlite import SqliteStore
from mnemic.stores.sqlite.database_file import _check_magic, migrate, migrations, recognise
from mnemic.testing.embedder import WordEmbedder
from tests.faults.aftermath import examine
from tests.faults.oracle import ADA
from tests.faults.power_cuts import PowerCutVfs, Survives
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


def test_a_file_that_is_made_while_it_is_looked_at_is_ours(tmp_path: Path) -> None:
    """The process that looks at a new file asks it twice; between the two questions another one finishes making it."""
    path = tmp_path / "m.db"
    looking, making = apsw.Connection(str(path)), apsw.Connection(str(path))
    asked = []

    def finish_making(*_: object) -> bool:
        asked.append(1)
        if len(asked) == 2:
            migrate(making, migrations())
        return True

    looking.exec_trace = finish_making
    recognise(looking)

    assert making.pragma("user_version") > 0
    making.close()
    looking.close()


def test_an_emptied_file_is_new(tmp_path: Path) -> None:
    """Another process may roll a half-made file back to nothing between two looks at it."""
    path = tmp_path / "m.db"
    path.write_bytes(b"")

    _check_magic(path)
