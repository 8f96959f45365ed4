"""Files that twelve earlier states of this program wrote, opened by this version: nothing of them is missing.

Each `earlier/<when>.db.gz` stands beside `<when>.json`: what the program of that moment read in its own file.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Memory, Status

EARLIER = Path(__file__).parent / "earlier"
WRITTEN = sorted(path.name.removesuffix(".db.gz") for path in EARLIER.glob("*.db.gz"))
BEFORE_THE_DOOR = "2026-11-23-1047"
ADA = Actor(tenant="acme", user="ada", session="s1")


@pytest.fixture(params=WRITTEN)
async def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """The engine on the file, and what was in it."""
    path = tmp_path / "m.db"
    path.write_bytes(gzip.decompress((EARLIER / f"{request.param}.db.gz").read_bytes()))
    told = json.loads((EARLIER / f"{request.param}.json").read_text(encoding="utf-8"))
    async with MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder()) as engine:
        yield engine, told


def test_there_are_files_from_before_the_one_door_and_of_ten_earlier_states() -> None:
    assert BEFORE_THE_DOOR in WRITTEN
    assert sum(when < BEFORE_THE_DOOR for when in WRITTEN) >= 10


async def row(engine: MemoryEngine, memory: Memory) -> dict[str, Any]:
    versions = await engine.store.versions(memory.memory_id, scopes=[memory.scope])
    return {
        "memory_id": memory.memory_id,
        "content": memory.content,
        "key": memory.key,
        "status": memory.status.value,
        "version": memory.version,
        "user": memory.scope.owner,
        "versions": [[one.version, one.content] for one in versions],
    }


async def test_every_row_version_review_consent_and_line_is_there(opened: Any) -> None:
    engine, told = opened
    held = await engine.store.scan("acme", statuses=list(Status), limit=1000)
    assert [await row(engine, memory) for memory in held] == told["rows"]
    assert sorted(one.memory.memory_id for one in await engine.reviews(actor=ADA)) == told["reviews"]
    assert await engine.consents(actor=ADA) == told["consents"]
    trail = await engine.store.audit("acme")
    assert [[line.sequence, line.action, line.memory_id] for line in trail] == told["audit"]
    assert (await engine.verify_audit(actor=ADA)).broken_at is None


async def test_what_waited_can_be_decided_and_what_was_said_is_known(opened: Any) -> None:
    engine, told = opened
    for memory_id in told["reviews"]:
        assert (await engine.approve(memory_id, actor=Actor(tenant="acme", user="ben"), whole_tenant=True)).stored
    again = await engine.add("Parcel 2 goes to town 14.", actor=ADA, idempotency_key="k2")
    assert again.memory_id in {one["memory_id"] for one in told["rows"]}
    assert (await engine.search("Where does parcel 2 go?", actor=ADA)).hits[0].memory.content.endswith("town 14.")
    assert (await engine.verify_audit(actor=ADA)).broken_at is None
