"""A small scope is compared row by row, a larger one by its index: the same neighbours either way."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import apsw
import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemic.ports import Transaction
from mnemic.stores.sqlite import SqliteStore, indexes
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.types import Memory, Status

WORDS = st.lists(st.sampled_from(["tea", "milk", "rain", "boat", "door", "lamp"]), min_size=1, max_size=4)
STATUSES = st.sampled_from([Status.ACTIVE, Status.ACTIVE, Status.SUPERSEDED, Status.PENDING_REVIEW])

Found = Sequence[tuple[Memory, float]]


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(tmp_path / "m.db", durability="fast")
    await store.open(EMBEDDER.space)
    yield store
    await store.close()


async def asked(store: SqliteStore, text: str, *, owner: str = "ada", limit: int = 5, at_least: float = 0.2) -> Found:
    async def work(transaction: Transaction) -> Found:
        vector = EMBEDDER.vector(text)
        return await transaction.nearest(scope(owner), vector, limit=limit, at_least=at_least)

    return await store.transact(work)


def named(found: Found) -> list[tuple[str, float]]:
    return [(one.memory_id, pytest.approx(score, abs=1e-6)) for one, score in found]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=st.lists(st.tuples(WORDS, STATUSES), max_size=12), question=WORDS, limit=st.integers(1, 4))
async def test_rows_and_index_find_the_same(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[list[str], Status]], question: list[str], limit: int
) -> None:
    store = SqliteStore(tmp_path_factory.mktemp("near") / "m.db", durability="fast")
    await store.open(EMBEDDER.space)
    await remember(
        store,
        *(memory(" ".join(text), status=status, fingerprint=f"f{n}") for n, (text, status) in enumerate(said)),
        memory("tea milk", scope=scope("ben")),
    )
    by_rows = await asked(store, " ".join(question), limit=limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexes, "UNINDEXED", 0)
        by_index = await asked(store, " ".join(question), limit=limit)
    assert [one.memory_id for one, _ in by_rows] == [one.memory_id for one, _ in by_index]
    assert named(by_rows) == [(one.memory_id, score) for one, score in by_index]
    if any(status is Status.ACTIVE and set(text) == set(question) for text, status in said):
        assert by_rows
    assert all(one.scope == scope() and one.status is Status.ACTIVE for one, _ in by_rows)
    await store.close()


async def test_no_index_is_made_for_a_small_scope(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    await remember(store, *(memory(f"tea {number}", fingerprint=f"f{number}") for number in range(3)))
    monkeypatch.setattr(indexes, "UNINDEXED", 3)
    assert len(await asked(store, "tea")) == 3
    assert store._opened is not None
    assert store._opened._indexes is None
    monkeypatch.setattr(indexes, "UNINDEXED", 2)
    assert len(await asked(store, "tea")) == 3
    assert store._opened._indexes is not None


async def test_a_scope_of_nobody_has_no_neighbours(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await asked(store, "tea", owner="nobody") == []
    await remember(store, memory("tea", vector=None))
    assert await asked(store, "tea") == []
    monkeypatch.setattr(indexes, "UNINDEXED", -1)
    assert await asked(store, "tea", owner="nobody") == []


async def test_a_damaged_vector_and_one_of_another_length_are_left_out(store: SqliteStore, tmp_path: Path) -> None:
    kept, broken, short = (memory(f"tea {name}", fingerprint=name) for name in ("kept", "broken", "short"))
    await remember(store, kept, broken, short)
    damage = """
        UPDATE memory_search SET vector = zeroblob(?), vector_check = ?
        WHERE row_id = (SELECT row_id FROM memory WHERE memory_id = ?)
    """
    with apsw.Connection(str(tmp_path / "m.db")) as connection:
        connection.execute(damage, (4 * EMBEDDER.space.dimension, 7, broken.memory_id))
        connection.execute(damage, (8, None, short.memory_id))
    assert [one.memory_id for one, _ in await asked(store, "tea")] == [kept.memory_id]


async def test_neighbours_that_were_read_before_are_shown_as_they_are_now(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexes, "UNINDEXED", -1)
    kept, changed, removed = (memory(f"tea {name}", fingerprint=name) for name in ("kept", "changed", "removed"))
    await remember(store, kept, changed, removed)
    assert {one.content for one, _ in await asked(store, "tea")} == {"tea kept", "tea changed", "tea removed"}
    later = replace(changed, content="tea lamp", version=2, fingerprint="later")
    other = SqliteStore(tmp_path / "m.db", durability="fast")
    await other.open(EMBEDDER.space)

    async def work(transaction: Transaction) -> None:
        await transaction.replace(later)
        await transaction.remove(removed.memory_id, scope=removed.scope)

    await other.transact(work)
    await other.close()
    found = {one.memory_id: one for one, _ in await asked(store, "tea")}
    assert found == {kept.memory_id: kept, changed.memory_id: later}


async def test_a_neighbour_is_decoded_once_and_a_sealed_one_each_time(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexes, "UNINDEXED", -1)
    await remember(store, memory("tea", fingerprint="tea"))
    assert store._opened is not None
    rows, read = store._opened.rows, list[int]()
    whole = rows.whole
    monkeypatch.setattr(rows, "whole", lambda found: whole(read.append(row[0]) or row for row in found))
    for opens, more in ((False, 1), (False, 0), (True, 0)):
        monkeypatch.setattr(rows.sealer, "opens", opens)
        before = len(read)
        assert len(await asked(store, "tea")) == 1
        assert len(read) - before == more
    await remember(store, memory("tea milk", fingerprint="milk"))
    for _ in range(2):
        before = len(read)
        assert len(await asked(store, "tea")) == 2
        assert len(read) - before == 1
