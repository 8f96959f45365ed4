"""Importance: what a memory says of itself, as a sign of ranking."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.engine import MemoryEngine
from mnemic.maintenance.archive import read_line
from mnemic.ports import RecordStore
from mnemic.retrieve.importance import ORDINARY, RUNNERS_UP, contenders, importance, importance_ranks, weigh_importance
from mnemic.retrieve.search import Searcher
from mnemic.retrieve.signals import SignalWeights
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.stores.sqlite.snapshot import SqliteSnapshot
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Kind, Level, Memory, Origin, Rank, Scope, SearchResult, Trust, Where

ANA = Actor(user="ana")
NOW = datetime(2024, 5, 8, tzinfo=UTC)
PLAIN = Memory(
    memory_id="m", kind=Kind.LONG_TERM, scope=Scope(tenant="t", level=Level.USER, owner="ana"), content="tea",
    created_at=NOW, updated_at=NOW,
)  # fmt: skip


@pytest.fixture(params=["sqlite", "in process"])
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[MemoryEngine]:
    store: RecordStore = SqliteStore(tmp_path / "m.db") if request.param == "sqlite" else InProcessStore()
    async with MemoryEngine(store=store, embedder=WordEmbedder()) as engine:
        yield engine


@pytest.mark.parametrize(
    ("changes", "figure"),
    [
        ({}, 0.5),
        ({"confidence": 1.0}, 0.6),
        ({"confidence": 0.4}, 0.3),
        ({"version": 3}, 0.6),
        ({"version": 90}, 0.7),
        ({"category": "preference"}, 0.65),
        ({"kind": Kind.PERSONA}, 0.65),
        ({"trust": Trust.MEDIUM}, 0.5),
        ({"trust": Trust.LOW}, 0.3),
        ({"data": {"importance": 0.9}}, 0.9),
        ({"data": {"importance": 0}, "version": 9}, 0.0),
        ({"data": {"importance": 1}, "trust": Trust.LOW}, 0.5),
        ({"data": {"importance": 0.1}, "trust": Trust.LOW}, 0.1),
        *(({"data": {"importance": odd}}, 0.5) for odd in (True, "0.9", 8, -1, None, [1])),
    ],
)
def test_a_memory_says_how_much_it_matters(changes: dict[str, Any], figure: float) -> None:
    assert importance(replace(PLAIN, **changes)) == pytest.approx(figure)


@given(st.floats(0, 1), st.integers(1, 1000), st.sampled_from(Trust), st.sampled_from(Kind), st.floats() | st.none())
def test_it_is_always_a_part_of_one(
    confidence: float, version: int, trust: Trust, kind: Kind, told: float | None
) -> None:
    data = {"importance": told}
    assert (
        0 <= importance(replace(PLAIN, confidence=confidence, version=version, trust=trust, kind=kind, data=data)) <= 1
    )


@given(
    st.dictionaries(st.text("abcd", min_size=1, max_size=3), st.tuples(st.floats(0, 2), st.floats(0, 1)), max_size=30),
    st.integers(1, 8),
    st.sampled_from([0.05, 0.1, 0.5]),
)
def test_reading_only_those_that_can_come_in_decides_as_reading_all(
    entries: dict[str, tuple[float, float]], top_k: int, weight: float
) -> None:
    scores = {memory_id: round(score, 3) for memory_id, (score, _) in entries.items()}
    memories = {
        memory_id: replace(PLAIN, memory_id=memory_id, data={"importance": round(figure, 2)})
        for memory_id, (_, figure) in entries.items()
    }

    def best(moved: dict[str, float]) -> set[float]:
        return {round(score, 9) for score in sorted(moved.values(), reverse=True)[:top_k]}

    read = contenders(scores, top_k, weight + 1e-9)
    nearest = sorted(scores, key=lambda memory_id: (-scores[memory_id], memory_id))[: top_k + RUNNERS_UP]
    few, all_near = ({memory_id: memories[memory_id] for memory_id in chosen} for chosen in (read, nearest))
    assert len(read) <= top_k + RUNNERS_UP
    assert best(weigh_importance(scores, few, weight)) == best(weigh_importance(scores, all_near, weight))


def test_what_is_ordinary_has_no_rank_and_is_not_moved() -> None:
    memories = {"a": PLAIN, "b": replace(PLAIN, data={"importance": 1}), "c": replace(PLAIN, confidence=0.2)}
    assert importance(PLAIN) == ORDINARY
    assert importance_ranks(["a", "b", "c", "gone"], memories) == {"b": Rank(1, 1.0), "c": Rank(3, 0.2)}
    moved = weigh_importance({"a": 1.0, "b": 1.0, "c": 1.0, "gone": 1.0}, memories, 0.1)
    assert moved == pytest.approx({"a": 1.0, "b": 1.05, "c": 0.97, "gone": 1.0})


FERRY, ASKED = "The ferry sails from the north pier.", "where does the ferry sail from?"


async def fill(engine: MemoryEngine) -> None:
    await engine.add(FERRY, actor=ANA, key="pier_one", data={"importance": 0.9})
    await engine.add(FERRY, actor=ANA, key="pier_two")
    await engine.add("Ben paints fences in spring.", actor=ANA, data={"importance": 1.0})


def keys(result: SearchResult) -> list[str | None]:
    return [hit.memory.key for hit in result.hits]


async def test_of_two_that_are_alike_the_more_important_comes_first(engine: MemoryEngine) -> None:
    await fill(engine)
    result = await engine.search(ASKED, actor=ANA, top_k=3)
    assert keys(result) == ["pier_one", "pier_two", None]
    assert [hit.ranks.get("importance") for hit in result.hits] == [Rank(2, 0.9), None, Rank(1, 1.0)]
    where = Where(scopes=(ANA.scope(Level.USER),))
    off = Searcher(engine.store, engine.embedder, signal_weights=SignalWeights(importance=0.0))
    without = await off.search(ASKED, where, top_k=3)
    assert keys(without) == ["pier_two", "pier_one", None]
    assert all("importance" not in hit.ranks for hit in without.hits)


async def test_an_untrusted_channel_cannot_call_itself_important(engine: MemoryEngine) -> None:
    await engine.add(FERRY, actor=ANA, key="pier_one")
    await engine.add(FERRY, actor=ANA, key="pier_two", data={"importance": 1.0}, origin=Origin.WEB)
    result = await engine.search(ASKED, actor=ANA, top_k=2)
    assert set(keys(result)) == {"pier_one", "pier_two"}
    assert all("importance" not in hit.ranks for hit in result.hits)


async def test_it_survives_export_and_import(engine: MemoryEngine) -> None:
    await fill(engine)
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder()) as other:
        async for line in engine.export(actor=ANA, archive=True):
            await other.restore(read_line(json.loads(json.dumps(line))), actor=ANA)
        result = await other.search(ASKED, actor=ANA, top_k=2)
    assert keys(result) == ["pier_one", "pier_two"]
    assert result.hits[0].ranks["importance"] == Rank(1, 0.9)


async def test_no_read_is_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[int] = []
    read = SqliteSnapshot.get_many

    async def counted(snapshot: SqliteSnapshot, ids: Sequence[str], *, scopes: Sequence[Scope]) -> dict[str, Memory]:
        reads.append(len(ids))
        return await read(snapshot, ids, scopes=scopes)

    async with MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder()) as engine:
        await fill(engine)
        where = Where(scopes=(ANA.scope(Level.USER),))
        monkeypatch.setattr(SqliteSnapshot, "get_many", counted)
        for weight in (0.0, 0.1):
            searcher = Searcher(engine.store, engine.embedder, signal_weights=SignalWeights(importance=weight))
            await searcher.search(ASKED, where, top_k=1)
    assert reads == [3, 3]


def test_contenders_are_the_same_by_an_order_that_is_at_hand() -> None:
    scores = {f"m{place:02}": (place * 7 % 11) / 10 for place in range(30)}
    order = sorted(scores, key=scores.__getitem__, reverse=True)
    assert contenders(scores, 3, 1.0, order) == contenders(scores, 3, 1.0)
    assert contenders(scores, 3, 1.0) == sorted(scores, key=lambda one: (-scores[one], one))[: 3 + RUNNERS_UP]
