"""Files that releases wrote, one for each schema, opened by this version: nothing of them is missing."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from mnemic.engine import MemoryEngine
from mnemic.operations.sqlite.inspection import inspect
from mnemic.operations.sqlite.salvage import salvage
from mnemic.stores.sqlite import SqliteStore
from mnemic.stores.sqlite.database_file import migrations, newest_schema
from mnemic.testing.embedder import WordEmbedder
from tests.migration.golden_files import ADA, FILES, SAID

SCHEMAS = [step.number for step in migrations()]


def unpacked(schema: int, folder: Path) -> Path:
    path = folder / "m.db"
    path.write_bytes(gzip.decompress((FILES / f"schema-{schema}.db.gz").read_bytes()))
    return path


def test_each_schema_has_its_file() -> None:
    """Whoever adds a step adds the file that `python -m tests.migration.golden_files` writes with it."""
    assert sorted(path.name for path in FILES.iterdir()) == sorted(f"schema-{schema}.db.gz" for schema in SCHEMAS)


@pytest.mark.parametrize("schema", SCHEMAS)
async def test_a_file_of_before_says_what_it_said(schema: int, tmp_path: Path) -> None:
    path = unpacked(schema, tmp_path)
    assert inspect(path).schema == schema
    async with MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder(inspect(path).space.dimension)) as engine:  # type: ignore[union-attr]
        listed = {memory.content: memory for memory in await engine.list(actor=ADA, limit=100)}
        assert listed.keys() == SAID
        changed = listed["Parcel 0 was lost at sea."]
        assert [one.version for one in await engine.history(changed.memory_id, actor=ADA)] == [1, 2]
        found = await engine.search("Where does parcel 3 go?", actor=ADA)
        assert found.hits[0].memory.content == "Parcel 3 goes to town 21."
        again = await engine.add("Parcel 3 goes to town 21.", actor=ADA, idempotency_key="k3")
        assert again.memory_id == listed["Parcel 3 goes to town 21."].memory_id
        assert (await engine.verify_audit(actor=ADA)).broken_at is None
        assert (await engine.add("Parcel 9 goes to town 63.", actor=ADA)).memory_id
        await engine.maintain(actor=ADA)
    after = inspect(path)
    assert (after.schema, after.whole) == (newest_schema(), True)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_damaged_file_of_before_can_be_salvaged(schema: int, tmp_path: Path) -> None:
    path = unpacked(schema, tmp_path)
    data = path.read_bytes()
    path.write_bytes(bytes(4096) + data[4096:])
    told = salvage(path, tmp_path / "saved.db")
    assert told.counts["memory"] == 7
    assert told.damaged == []
