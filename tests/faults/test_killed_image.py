"""A process that is killed while it writes or removes the image of a large index: the next one finds every memory and
nothing of a removed one.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from mnemic.stores import scope_index
from mnemic.stores.sqlite import SqliteStore
from mnemic.stores.sqlite.index_files import files_beside
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.types import Where

CHILD = textwrap.dedent(
    """
    import asyncio, os, signal, sys
    from mnemic.stores import scope_index
    from mnemic.stores.sqlite import SqliteStore, index_files, transaction
    from mnemic.types import Where
    from mnemic.testing.record_store import EMBEDDER, memory, remember, scope

    scope_index.EXACT_UP_TO = 5
    path, act, at = sys.argv[1], sys.argv[2], int(sys.argv[3])

    def die():
        os.kill(os.getpid(), signal.SIGKILL)

    class Dying:
        def __init__(self, file):
            self.file, self.left = file, at
        def write(self, data):
            part = bytes(data)[: self.left]
            self.file.write(part)
            self.left -= len(part)
            if len(part) < len(data):
                self.file.flush()
                die()

    whole, drop = index_files.write_image, index_files.drop

    def killed_while_written(index, file, mark):
        whole(index, Dying(file), mark)
        file.flush()
        die()  # all of it is there, its mark is not committed

    def killed_once_removed(connection, scope_id):
        drop(connection, scope_id)
        die()

    async def main():
        if act == "write":
            index_files.write_image = killed_while_written
        store = SqliteStore(path)
        await store.open(EMBEDDER.space)
        if act == "remove":
            transaction.drop = killed_once_removed
            gone = (await store.newest(Where(scopes=(scope(),)), limit=1))[0]
            await store.transact(lambda tx: tx.remove(gone.memory_id, scope=scope()))
        await store.match(Where(scopes=(scope(),)), "bystander", limit=99)
        await store.tidy()
        await store.close()

    asyncio.run(main())
    """
)
EVERYTHING = Where(scopes=(scope(),))


def killed(path: Path, act: str, at: int = 0) -> None:
    child = subprocess.run([sys.executable, "-c", CHILD, str(path), act, str(at)], timeout=120, capture_output=True)
    assert child.returncode == -signal.SIGKILL, child.stderr.decode()[-2000:]


async def found(path: Path) -> list[str]:
    store = SqliteStore(path)
    await store.open(EMBEDDER.space)
    scored = await store.match(EVERYTHING, "bystander", limit=99)
    await store.tidy()
    await store.close()
    return sorted(one.memory_id for one in scored)


@pytest.fixture
async def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Identifiers of twenty memories in a file that has no image."""
    memories = [memory(f"bystander {number}") for number in range(20)]
    store = SqliteStore(tmp_path / "m.db")
    await store.open(EMBEDDER.space)
    await remember(store, *memories)
    await store.close()
    monkeypatch.setattr(scope_index, "EXACT_UP_TO", 5)
    return sorted(one.memory_id for one in memories)


@pytest.mark.parametrize("at", [0, 1, 500, 4_000, 1 << 30])
async def test_one_killed_while_it_writes_an_image(tmp_path: Path, told: list[str], at: int) -> None:
    path = tmp_path / "m.db"
    killed(path, "write", at)
    assert len(list(files_beside(path))) == 1

    assert await found(path) == told  # the image that this process wrote in its place serves the next one
    [image] = files_beside(path)
    at_first = image.read_bytes()
    assert await found(path) == told
    assert image.read_bytes() == at_first


async def test_one_killed_while_it_removes_a_memory(tmp_path: Path, told: list[str]) -> None:
    path = tmp_path / "m.db"
    assert await found(path) == told
    assert len(list(files_beside(path))) == 1

    killed(path, "remove")

    assert list(files_beside(path)) == []
    assert await found(path) == told, "the removal was not committed"
    assert len(list(files_beside(path))) == 1
