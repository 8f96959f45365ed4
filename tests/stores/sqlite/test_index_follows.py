"""An index that is given the rows a process has just committed is the one that it would read from the file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemic.ports import Snapshot, Transaction
from mnemic.stores.sqlite import SqliteStore, indexes
from mnemic.stores.sqlite.rows import Rows
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.types import Kind, Memory, Origin, Source, Where
from mnemic.write.prepare import round_vectors

WORDS = st.lists(st.sampled_from(["tea", "milk", "rain", "boat", "door", "lamp"]), min_size=1, max_size=4)
STEPS = st.lists(st.tuples(st.sampled_from("aaamcr"), WORDS, st.integers(0, 9)), min_size=1, max_size=10)


def told(words: Sequence[str], number: int, step: str) -> Memory:
    text = " ".join(words)
    message: dict[str, Any] = {
        "kind": Kind.EPISODIC,
        "source": Source(origin=Origin.IMPORT, session="s", speaker="Zoë"),
    }
    vector = round_vectors([EMBEDDER.vector(text)])[0] if number % 3 else None
    return memory(text, fingerprint=f"f{number}", vector=vector, **(message if step == "m" else {}))


async def looked(store: SqliteStore) -> list[Any]:
    """Return the answer of every list of the index, and the neighbours as memories."""
    where = Where(scopes=(scope(),))

    async def read(snapshot: Snapshot) -> list[Any]:
        found = [
            await snapshot.nearest(where, EMBEDDER.vector("tea milk"), limit=9),
            await snapshot.match(where, "tea rain", limit=9),
            await snapshot.recent(where, limit=20),
        ]
        ids = [entry.memory_id for one in found for entry in one]
        once = list(dict.fromkeys(ids))
        return [*found, await snapshot.signals(where, once), await snapshot.get_many(once, scopes=where.scopes)]

    async def near(transaction: Transaction) -> Any:
        return await transaction.nearest(scope(), EMBEDDER.vector("tea milk"), limit=9, at_least=0.1)

    return [*await store.read(read), await store.transact(near)]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, together=st.booleans())
async def test_what_follows_a_commit_is_what_the_file_says(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, list[str], int]], together: bool
) -> None:
    path = tmp_path_factory.mktemp("follow") / "m.db"
    store, other = SqliteStore(path, durability="fast"), SqliteStore(path, durability="fast")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexes, "UNINDEXED", 0)
        await store.open(EMBEDDER.space)
        await remember(store, memory("boat lamp", fingerprint="first"))
        await looked(store)
        known: list[Memory] = []

        async def step(transaction: Transaction, number: int, kind: str, words: list[str], pick: int) -> None:
            if kind in "am" or not known:
                known.append(told(words, number, kind))
                await transaction.insert(known[-1])
            elif kind == "r":
                await transaction.remove(known.pop(pick % len(known)).memory_id, scope=scope())
            else:
                at = pick % len(known)
                known[at] = known[at].next_version(known[at].updated_at, content=" ".join(words))
                await transaction.replace(known[at])

        async def all_steps(transaction: Transaction) -> None:
            for number, (kind, words, pick) in enumerate(steps):
                await step(transaction, number, kind, words, pick)

        if together:
            await store.transact(all_steps)
        for number, (kind, words, pick) in enumerate([] if together else steps):
            await store.transact(lambda tx, given=(number, kind, words, pick): step(tx, *given))
        await other.open(EMBEDDER.space)
        assert await looked(store) == await looked(other)
    await store.close()
    await other.close()


async def test_memories_that_another_process_changed_are_read_again(tmp_path: Path) -> None:
    store, other = (SqliteStore(tmp_path / "m.db", durability="fast") for _ in range(2))
    kept, changed, removed = (memory(f"tea {word}", fingerprint=word) for word in ("boat", "milk", "rain"))
    await store.open(EMBEDDER.space)
    await remember(store, kept, changed, removed)
    await other.open(EMBEDDER.space)
    assert len((await looked(other))[4]) == 3

    async def change(transaction: Transaction) -> None:
        await transaction.replace(changed.next_version(changed.updated_at, content="tea door"))
        await transaction.remove(removed.memory_id, scope=scope())

    await store.transact(change)
    found = (await looked(other))[4]
    assert {one.content for one in found.values()} == {"tea boat", "tea door"}
    assert removed.memory_id not in found
    await store.close()
    await other.close()


async def test_a_search_takes_memories_that_it_has_met_from_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexes, "UNINDEXED", 0)
    store = SqliteStore(tmp_path / "m.db", durability="fast")
    await store.open(EMBEDDER.space)
    await remember(store, memory("boat lamp", fingerprint="first"), memory("tea milk", fingerprint="second"))
    first = await looked(store)
    monkeypatch.setattr(Rows, "memory", None)
    assert await looked(store) == first
    await store.close()


async def test_nothing_is_read_again_after_a_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexes, "UNINDEXED", 0)
    store = SqliteStore(tmp_path / "m.db", durability="fast")
    await store.open(EMBEDDER.space)
    await remember(store, memory("boat lamp", fingerprint="first"))
    await looked(store)
    monkeypatch.setattr(indexes.ScopeIndexes, "_refresh", None)
    await remember(store, memory("tea milk", fingerprint="second"))
    assert len((await looked(store))[2]) == 2
    await store.close()
