"""Golden files: what this version writes, kept for later ones.

`python -m tests.migration.golden_files` writes those of the present schema: a memory file and a backup of a database.
"""

from __future__ import annotations

import asyncio
import gzip
import tarfile
import tempfile
from pathlib import Path

from mnemic.engine import MemoryEngine
from mnemic.operations.store_operations import backup_store
from mnemic.ports.record_store import RecordStore
from mnemic.runtime.clock import SystemClock
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.postgres.schema import migrations
from mnemic.stores.sqlite import SqliteStore
from mnemic.stores.sqlite.database_file import newest_schema
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate
from tests.servers import PostgresServer

FILES = Path(__file__).parent / "golden"
BACKUPS = Path(__file__).parent / "golden_postgres"
ADA = Actor(tenant="acme", user="ada")
SAID = {
    *(f"Parcel {number} goes to town {number * 7}." for number in range(1, 5)),
    "Parcel 0 was lost at sea.",
    "omnivore",
}


async def fill(store: RecordStore) -> None:
    """Write six memories, seven versions of them, with vectors, keys and receipts."""
    async with MemoryEngine(store=store, embedder=WordEmbedder()) as engine:
        for number in range(5):
            text = f"Parcel {number} goes to town {number * 7}."
            written = await engine.add(text, actor=ADA, idempotency_key=f"k{number}")
            if number == 0:
                await engine.update(written.memory_id or "", "Parcel 0 was lost at sea.", actor=ADA)
        for diet in ("vegan", "omnivore"):
            await engine.add_many([Candidate(content=diet, key="diet")], actor=ADA)


def main() -> None:
    """Write the golden files of the present schema."""
    server = PostgresServer()
    server.start()
    try:
        with tempfile.TemporaryDirectory() as name:
            file, folder = Path(name) / "m.db", Path(name) / f"schema-{migrations()[-1].number}"
            asyncio.run(fill(SqliteStore(file)))
            FILES.mkdir(exist_ok=True)
            FILES.joinpath(f"schema-{newest_schema()}.db.gz").write_bytes(gzip.compress(file.read_bytes(), mtime=0))
            asyncio.run(fill(PostgresStore(server.dsn())))
            backup_store(server.dsn(), folder, SystemClock())
            BACKUPS.mkdir(exist_ok=True)
            with tarfile.open(BACKUPS / f"{folder.name}.tar.gz", "w:gz") as packed:
                packed.add(folder, folder.name)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
