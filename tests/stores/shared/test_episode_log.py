"""The log of episodes: whole lines, each version once, nothing of what is gone, also after a crash."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidConfig, StoreCorrupt, StoreUnavailable
from mnemic.kinds.episodic import EpisodicMemory
from mnemic.runtime.sync_facade import async_mode
from mnemic.stores.episode_log import EpisodeLog
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.record_store import memory
from mnemic.types import Actor, Change, Kind, Memory, OutboxEntry
from mnemic.write.outbox import OutboxConsumer

ANA, OPERATOR = Actor(user="ana"), Actor(user="operator")
STEPS = [{"action": "look", "result": "sold out", "ok": False}, {"action": "ask", "result": "found one", "ok": True}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "log"


def house(folder: Path, **how: Any) -> tuple[MemoryEngine, ManualClock]:
    clock = ManualClock()
    log = EpisodeLog(folder, **how)
    return MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=clock, projections=[log]), clock


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for file in files(folder) for line in file.read_text().splitlines()]


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.jsonl"))


def damaged(folder: Path) -> None:
    folder.mkdir()
    (folder / "episodes-000001.jsonl").write_text("not a line\n")


def episode(text: str) -> Memory:
    return memory(text, kind=Kind.EPISODIC)


def told(*memories: Memory) -> list[Change]:
    return [Change(entry=OutboxEntry.for_memory(one), memory=one) for one in memories]


async def test_an_episode_is_a_line_with_its_steps(folder: Path) -> None:
    engine, clock = house(folder)
    async with engine:
        receipt = await EpisodicMemory(engine, ANA, async_mode()).record("Book a hotel", STEPS, outcome="success")
        await engine.add("I like tea", actor=ANA)
    (line,) = lines(folder)
    assert (line["memory_id"], line["owner"], line["content"]) == (receipt.memory_id, "ana", "Book a hotel")
    assert line["data"]["steps"] == STEPS
    assert line["happened_at"] == clock.now().isoformat()


async def test_the_same_work_again_writes_nothing_and_a_new_version_a_line(folder: Path) -> None:
    log, one = EpisodeLog(folder), episode("the first trip")
    await log.apply(told(one))
    await log.apply(told(one))
    await EpisodeLog(folder).apply(told(one))
    assert [line["version"] for line in lines(folder)] == [1]
    await log.apply(told(one.next_version(one.updated_at, content="the first trip, corrected")))
    assert [line["version"] for line in lines(folder)] == [1, 2]


async def test_files_end_and_others_follow(folder: Path) -> None:
    log, many = EpisodeLog(folder, max_bytes=600), [episode(f"trip {number}") for number in range(9)]
    for one in many:
        await log.apply(told(one))
    assert len(files(folder)) > 2
    assert [file.name for file in files(folder)[:2]] == ["episodes-000001.jsonl", "episodes-000002.jsonl"]
    assert [line["memory_id"] for line in lines(folder)] == [one.memory_id for one in many]


async def test_an_erasure_leaves_no_byte_in_any_file(folder: Path) -> None:
    engine, _ = house(folder, max_bytes=400)
    async with engine:
        episodic = EpisodicMemory(engine, ANA, async_mode())
        for number in range(4):
            await episodic.record(f"Canary {number}", STEPS, outcome="success")
        await EpisodicMemory(engine, Actor(user="ben"), async_mode()).record("Stay here", STEPS, outcome="success")
        receipt = await engine.erase("ana", actor=OPERATOR)
        assert receipt.complete
        assert receipt.traces["episode_log"] == 0
        assert b"Canary" not in b"".join(file.read_bytes() for file in files(folder))
        assert [line["owner"] for line in lines(folder)] == ["ben"]
        assert (await engine.verify_erasure(receipt))["episode_log"] == 0


async def test_what_expires_is_taken_out(folder: Path) -> None:
    engine, clock = house(folder)
    async with engine:
        await EpisodicMemory(engine, ANA, async_mode()).record("Book a hotel", STEPS, outcome="success")
        for age in (timedelta(days=91), timedelta(hours=1)):  # a clock is believed when it was read twice
            clock.advance(age)
            await engine.maintain(actor=OPERATOR)
    assert lines(folder) == []


async def test_it_is_built_anew(folder: Path) -> None:
    engine, clock = house(folder)
    async with engine:
        episodic = EpisodicMemory(engine, ANA, async_mode())
        for number in range(3):
            await episodic.record(f"Trip {number}", STEPS, outcome="success")
        before = lines(folder)
        log = EpisodeLog(folder)
        await log.apply(told(episode("a stray")))
        await OutboxConsumer(log, engine.store, clock).rebuild("default")
        assert [one for one in lines(folder) if one["tenant"] == "default"] == before


async def test_a_line_that_a_crash_cut_off_is_written_again(folder: Path) -> None:
    first, second = episode("the first trip"), episode("the second trip")
    await EpisodeLog(folder).apply(told(first))
    (file,) = files(folder)
    with file.open("ab") as log:
        log.write(b'{"memory_id": "half')
    await EpisodeLog(folder).apply(told(second))
    assert [line["memory_id"] for line in lines(folder)] == [first.memory_id, second.memory_id]


async def test_two_logs_of_one_folder_lose_nothing(folder: Path) -> None:
    logs = [EpisodeLog(folder, max_bytes=900) for _ in range(3)]
    many = [episode(f"trip {number}") for number in range(12)]
    await asyncio.gather(*(logs[number % 3].apply(told(one)) for number, one in enumerate(many)))
    assert sorted(line["memory_id"] for line in lines(folder)) == sorted(one.memory_id for one in many)


async def test_a_folder_that_cannot_be_used_is_told(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidConfig):
        EpisodeLog(tmp_path / "file")
    log = EpisodeLog(tmp_path / "taken" / "log")
    (tmp_path / "taken").write_text("")
    with pytest.raises(StoreUnavailable):
        await log.apply(told(episode("a trip")))
    damaged(folder)
    with pytest.raises(StoreCorrupt):
        await EpisodeLog(folder).apply(told(episode("a trip")))
