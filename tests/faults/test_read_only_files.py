"""A file on a read-only file system: it is read as it is, nothing is made beside it, and a write says why not."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import StoreOlder, StoreUnavailable
from mnemic.operations.sqlite import backup
from mnemic.operations.sqlite.inspection import inspect
from mnemic.stores.sqlite import SqliteStore, database_file
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.record_store.fixtures import START
from tests.faults.bit_flips import ADA, make_file


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
