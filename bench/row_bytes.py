"""Bytes of a memory on PostgreSQL, with every index: `python -m bench.row_bytes FOLDER`, which has LoCoMo's file.

The engine adds the turns of its conversations, each conversation to a user of its own, on a private server. Printed is
what each table of the schema takes after `VACUUM`, over the number of memories.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

from mnemic.engine import MemoryEngine
from mnemic.stores.postgres import PostgresStore
from mnemic.types import Actor, Candidate, Kind, VectorSpace
from mnemic_eval.locomo import conversations
from mnemic_eval.vectors import HashedEmbedder
from tests.processes import running
from tests.servers import PostgresServer

SPACE = VectorSpace(model="all-MiniLM-L6-v2-int8", dimension=384)
_BATCH = 100
_SIZES = (
    "SELECT relname, pg_total_relation_size(oid) AS size FROM pg_class "
    "WHERE relnamespace = 'mnemic'::regnamespace AND relkind = 'r' ORDER BY size DESC"
)


async def fill(dsn: str, data: Path) -> None:
    """Add every turn."""
    async with MemoryEngine(store=PostgresStore(dsn), embedder=HashedEmbedder(SPACE)) as engine:
        for number, chat in enumerate(conversations(data)):
            actor = Actor(tenant="acme", user=f"u{number}")
            turns = [Candidate(content=message.content, kind=Kind.EPISODIC) for message in chat.messages]
            for first in range(0, len(turns), _BATCH):
                await engine.add_many(turns[first : first + _BATCH], actor=actor)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    with running(PostgresServer("fsync=off")) as server, TemporaryDirectory() as folder:
        asyncio.run(fill(server.database(Path(folder)), data))
        server.sql("VACUUM")
        memories = server.sql("SELECT count(*) FROM mnemic.memory")[0][0]
        sizes = {row["relname"]: row["size"] for row in server.sql(_SIZES)}
    told = {name: round(size / memories) for name, size in sizes.items() if size > memories}
    whole = round(sum(sizes.values()) / memories)
    print(json.dumps({"memories": memories, "bytes": whole, "tables": told, "load": round(os.getloadavg()[0], 1)}))


if __name__ == "__main__":
    main()
