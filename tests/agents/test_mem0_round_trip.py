"""Memories of the real mem0, imported and read again by the signatures of mem0.

golden/mem0-2.2.1.json.gz is what `get_all()` and `history()` of mem0ai 2.2.1 answered after 1,000 memories were added,
100 corrected and 20 deleted there, by the script of the page "Moving from another product".
"""

from __future__ import annotations

import asyncio
import gzip
import json
import shutil
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from mnemic.agents.compat.mem0 import Memory
from mnemic.cli.file_import import Intake
from mnemic.engine import MemoryEngine
from mnemic.importers.conversation_files import read_conversation
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor

GOLDEN = Path(__file__).parent / "golden" / "mem0-2.2.1.json.gz"
ANA = Actor(user="ana")


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress(GOLDEN.read_bytes()))
    return found


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int, int]:
    """The store after the file was imported, and again; how many were new each time."""
    folder = tmp_path_factory.mktemp("mem0")
    store, file = folder / "memories.db", folder / "mem0.json.gz"
    shutil.copy(GOLDEN, file)
    return store, asyncio.run(imported(store, file)), asyncio.run(imported(store, file))


async def imported(store: Path, file: Path) -> int:
    async with MemoryEngine(store=SqliteStore(store), embedder=WordEmbedder()) as engine:
        done = await Intake(engine=engine, actor=ANA).take(read_conversation(file), lambda _: None)
    assert done.failed == []
    return done.recorded


@pytest.fixture
def memory(recorded: tuple[Path, int, int]) -> Iterator[Memory]:
    with Memory(engine=MemoryEngine(store=SqliteStore(recorded[0]), embedder=WordEmbedder())) as memory:
        yield memory


def timed(one: dict[str, Any]) -> dict[str, Any]:
    """The same with its times as times, and without metadata where it has none."""
    times = {name: datetime.fromisoformat(one[name]) for name in ("created_at", "updated_at")}
    return {name: value for name, value in (one | times).items() if value is not None}


def test_everything_comes_in_once(recorded: tuple[Path, int, int], told: dict[str, Any]) -> None:
    assert (len(told["results"]), len(told["history"])) == (980, 1080)
    assert recorded[1:] == (980, 0)


def test_ids_times_metadata_and_owners_are_as_they_were(memory: Memory, told: dict[str, Any]) -> None:
    found = {one["id"]: timed(one) for one in memory.get_all(filters={"user_id": "ana"}, top_k=2000)["results"]}
    assert found == {one["id"]: timed(one) for one in told["results"]}


def test_earlier_values_are_as_they_were(memory: Memory, told: dict[str, Any]) -> None:
    rows = defaultdict(list)
    for row in told["history"]:
        rows[row["memory_id"]].append((row["event"], row["old_memory"], row["new_memory"]))
    changed = {name: events for name, events in rows.items() if len(events) > 1}
    assert len(changed) == 100
    for name, events in changed.items():
        assert [(row["event"], row["old_memory"], row["new_memory"]) for row in memory.history(name)] == events


@pytest.mark.parametrize(
    ("filters", "meets"),
    [
        ({"n": {"gte": 900}}, lambda one: (one["metadata"] or {}).get("n", 0) >= 900),
        ({"agent_id": "helper"}, lambda one: one.get("agent_id") == "helper"),
        ({"run_id": {"in": ["run-1", "run-2"]}}, lambda one: one.get("run_id") in ("run-1", "run-2")),
        (
            {"OR": [{"tag": "t3"}, {"AND": [{"role": "user"}, {"n": {"lt": 10}}]}]},
            lambda one: (
                (one["metadata"] or {}).get("tag") == "t3"
                or (one["role"] == "user" and (one["metadata"] or {}).get("n", 99) < 10)
            ),
        ),
        ({"NOT": [{"role": "user"}]}, lambda one: one["role"] != "user"),
    ],
)
def test_filters_of_mem0_find_the_same(
    memory: Memory, told: dict[str, Any], filters: dict[str, Any], meets: Any
) -> None:
    found = memory.get_all(filters={"user_id": "ana", **filters}, top_k=2000)["results"]
    wanted = {one["id"] for one in told["results"] if meets({"metadata": None, **one})}
    assert {one["id"] for one in found} == wanted
    assert wanted
