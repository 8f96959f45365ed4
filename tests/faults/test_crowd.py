"""One file, many processes, the whole engine: nobody is turned away, nothing is lost, nothing is there twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mnemic.engine import MemoryEngine
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from tests.faults.aftermath import examine
from tests.faults.many_processes import run_crowd
from tests.faults.oracle import ADA
from tests.faults.scale import size


def test_eight_processes_read_then_write(tmp_path: Path, say: Callable[[str], None]) -> None:
    turns = size(15, 150)
    seen = run_crowd(tmp_path / "m.db", "each_its_own", processes=8, turns=turns)
    found = examine(tmp_path / "m.db")
    say(f"8 processes x {turns} adds: {dict(seen)}, {len(found.memories)} memories")

    assert seen == {"created": 8 * turns}
    assert len(found.memories) == 8 * turns
    assert found.whole


def test_everybody_opens_a_new_file_first(tmp_path: Path, say: Callable[[str], None]) -> None:
    processes, rounds = 20, size(1, 100)
    for number in range(rounds):
        path = tmp_path / f"{number}.db"
        assert run_crowd(path, "one_only", processes=processes) == {"created": processes}
        found = examine(path)
        assert len(found.memories) == processes
        assert found.whole
    say(f"{processes} first openers x {rounds} rounds: 0 errors")


def test_the_same_said_by_all_makes_one_memory_each(tmp_path: Path, say: Callable[[str], None]) -> None:
    turns = size(15, 100)
    seen = run_crowd(tmp_path / "m.db", "all_the_same", processes=8, turns=turns)
    found = examine(tmp_path / "m.db")
    say(f"8 processes x {turns} identical adds: {dict(seen)}, {len(found.memories)} memories")

    assert seen == {"created": turns, "refreshed": 7 * turns}
    assert len(found.memories) == turns
    assert found.whole


async def test_fifty_editors_of_one_memory(tmp_path: Path, say: Callable[[str], None]) -> None:
    path = tmp_path / "m.db"
    async with MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder()) as engine:
        memory_id = (await engine.add("Nobody has edited this", actor=ADA)).memory_id
        assert memory_id is not None
    seen = run_crowd(path, "editors", processes=5, turns=10)
    async with MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder()) as engine:
        history = await engine.history(memory_id, actor=ADA)
    say(f"50 editors of one memory: {dict(seen)}, version {history[-1].version}")

    assert seen["at_once"] == 1
    assert seen["later"] == 49
    assert set(seen) == {"at_once", "later", "version_conflict"}
    assert [memory.version for memory in history] == list(range(1, 52))
    assert {memory.content for memory in history[1:]} == {
        f"Edited by {number} as {turn}" for number in range(5) for turn in range(10)
    }
    assert examine(path).whole
