"""Backups of PostgreSQL that releases took, one for each schema, restored by this version: nothing is missing."""

from __future__ import annotations

import asyncio
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemic.engine import MemoryEngine
from mnemic.operations import restore_store
from mnemic.operations.backup_folder import manifest_in
from mnemic.runtime.clock import SystemClock
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.postgres.schema import migrations
from mnemic.testing.embedder import WordEmbedder
from mnemic_eval.temporary_database import ScratchDatabase
from tests.migration.golden_files import ADA, BACKUPS, SAID
from tests.servers import PostgresServer

SCHEMAS = [step.number for step in migrations()]


@pytest.fixture
def empty(postgres: PostgresServer) -> Iterator[str]:
    """The address of a database in which nothing is."""
    with ScratchDatabase(postgres.dsn()) as scratch:
        yield scratch.location


def unpacked(schema: int, folder: Path) -> Path:
    with tarfile.open(BACKUPS / f"schema-{schema}.tar.gz") as packed:
        packed.extractall(folder, filter="data")
    return folder / f"schema-{schema}"


def test_each_schema_has_its_backup() -> None:
    """Whoever adds a step adds the backup that `python -m tests.migration.golden_files` takes with it."""
    assert sorted(path.name for path in BACKUPS.iterdir()) == [f"schema-{schema}.tar.gz" for schema in SCHEMAS]


@pytest.mark.parametrize("schema", SCHEMAS)
async def test_a_backup_of_before_says_what_it_said(schema: int, empty: str, tmp_path: Path) -> None:
    folder = unpacked(schema, tmp_path)
    manifest = manifest_in(folder, "postgres")
    assert manifest.layout["schema"] == schema
    await asyncio.to_thread(restore_store, folder, empty, SystemClock(), erasures=None, receipts=[])
    embedder = WordEmbedder(manifest.space.dimension)
    async with MemoryEngine(store=PostgresStore(empty), embedder=embedder) as engine:
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
        assert (await engine.erase("ada", actor=ADA)).complete
