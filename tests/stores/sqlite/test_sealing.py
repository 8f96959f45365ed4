"""Sealed rows: nothing of a memory in any file, every search as before, and what a missing or destroyed key does."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import apsw
import pytest

from mnemic.errors import KeyFailed, NotSupported, StoreCorrupt
from mnemic.keys import KeyFolder, MasterKeys
from mnemic.maintenance.reembed import reembed
from mnemic.stores import encryption
from mnemic.stores.encryption import ERASED
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.record_store.fixtures import EMBEDDER, change, everything, ids, memory, remember, scope
from mnemic.types import Level, Memory, Origin, Scope, Source
from mnemic.write.prepare import round_vectors

CANARY = "zwieback-canary"
SAID = f"The {CANARY} sleeps in the blue basket"
SHARED = Scope(tenant=scope().tenant, level=Level.WORKSPACE, owner="office")


def keys(folder: Path) -> KeyFolder:
    if not (folder / "master.key").exists():
        MasterKeys.make(folder / "master.key")
    return KeyFolder(folder / "keys", folder / "master.key")


def sealed_store(folder: Path, name: str = "m.db") -> SqliteStore:
    return SqliteStore(folder / name, keyring=keys(folder), seals=True, reserved_bytes=65536)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = sealed_store(tmp_path)
    await store.open(EMBEDDER.space)
    yield store
    await store.close()


def full(**fields: object) -> Memory:
    source = Source(origin=Origin.USER_STATED, quote=CANARY, speaker=CANARY, ref=CANARY)
    given = {"context": f"about {CANARY}", "data": {"name": CANARY}, "source": source} | fields
    return memory(SAID, **given)  # type: ignore[arg-type]


def found_in(folder: Path, *needles: bytes) -> list[str]:
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert files
    return [file.name for file in files for needle in needles if needle in file.read_bytes()]


async def test_nothing_of_a_memory_is_in_any_file(store: SqliteStore, tmp_path: Path) -> None:
    kept = full()
    await remember(store, kept)
    await change(store, kept.next_version(kept.updated_at, content=f"{SAID}, or under it"))
    assert kept.vector is not None
    assert found_in(tmp_path, CANARY.encode(), b"basket", kept.vector, kept.vector[:32]) == []
    await store.tidy()
    assert found_in(tmp_path, CANARY.encode(), b"basket", kept.vector, kept.vector[:32]) == []


async def test_a_plain_store_would_show_it(tmp_path: Path) -> None:
    plain = SqliteStore(tmp_path / "plain.db", reserved_bytes=65536)
    keys(tmp_path)
    await plain.open(EMBEDDER.space)
    await remember(plain, full())
    assert found_in(tmp_path, CANARY.encode()) != []
    await plain.close()


async def test_every_search_finds_it_also_in_another_process(store: SqliteStore, tmp_path: Path) -> None:
    kept, other = full(), memory("The dog has a basket that is blue")
    await remember(store, kept, other)
    again = sealed_store(tmp_path)
    await again.open(EMBEDDER.space)
    for each in (store, again):
        assert kept.vector is not None
        assert ids(await each.nearest(everything(), kept.vector, limit=1)) == [kept.memory_id]
        assert ids(await each.match(everything(), "canary", limit=5)) == [kept.memory_id]
        assert ids(await each.match(everything(), '"blue basket"', limit=5)) == [kept.memory_id]
        assert set(ids(await each.match(everything(), "blue basket", limit=5))) == {kept.memory_id, other.memory_id}
        assert await each.speakers(everything()) == {CANARY}
        assert await each.get(kept.memory_id, scopes=[scope()]) == kept
    await again.close()


async def test_a_store_without_the_key_says_so(store: SqliteStore, tmp_path: Path) -> None:
    kept = full()
    await remember(store, kept)
    plain = SqliteStore(tmp_path / "m.db")
    await plain.open(EMBEDDER.space)
    for read in (plain.newest(everything(), limit=5), plain.match(everything(), "canary", limit=5)):
        with pytest.raises(KeyFailed, match="key_failed:missing"):
            await read
    await plain.close()


async def test_the_wrong_master_key_is_told(store: SqliteStore, tmp_path: Path) -> None:
    await remember(store, full())
    MasterKeys.make(tmp_path / "other.key")
    wrong = SqliteStore(tmp_path / "m.db", keyring=KeyFolder(tmp_path / "keys", tmp_path / "other.key"), seals=True)
    await wrong.open(EMBEDDER.space)
    with pytest.raises(KeyFailed, match="key_failed:wrong_key"):
        await wrong.newest(everything(), limit=5)
    await wrong.close()


async def test_plain_and_sealed_rows_lie_in_one_store(tmp_path: Path) -> None:
    plain = SqliteStore(tmp_path / "m.db")
    await plain.open(EMBEDDER.space)
    before = memory("The parrot says good morning")
    await remember(plain, before)
    await plain.close()
    store = sealed_store(tmp_path)
    await store.open(EMBEDDER.space)
    after = memory("The parrot says good night")
    await remember(store, after)
    assert set(ids(await store.match(everything(), '"parrot says"', limit=5))) == {before.memory_id, after.memory_id}
    await change(store, before.next_version(before.updated_at, content="The parrot is silent"))
    assert ids(await store.match(everything(), '"parrot says"', limit=5)) == [after.memory_id]
    assert await store.transact(lambda tx: tx.remove(before.memory_id, scope=scope()))
    assert ids(await store.newest(everything(), limit=5)) == [after.memory_id]
    await store.close()


async def test_a_copy_made_before_shows_nothing_of_a_subject_whose_key_is_destroyed(
    store: SqliteStore, tmp_path: Path
) -> None:
    """In their own scope and in shared ones; of others everything."""
    subject, other = scope(), Scope(tenant=scope().tenant, level=Level.USER, owner="ben")
    theirs = full()
    said_in_office = full(scope=SHARED, author=subject.owner)
    kept = memory("The office closes at six", scope=SHARED, author=other.owner)
    await remember(store, theirs, said_in_office, kept)
    await store.tidy()
    shutil.copyfile(tmp_path / "m.db", tmp_path / "copy.db")
    for gone in (theirs, said_in_office):
        await store.transact(lambda tx, gone=gone: tx.remove(gone.memory_id, scope=gone.scope))  # type: ignore[misc]
    assert keys(tmp_path).destroy(subject)

    copy = sealed_store(tmp_path, "copy.db")
    await copy.open(EMBEDDER.space)
    shown = await copy.newest(everything(subject, SHARED), limit=9)
    assert contents(shown) == {theirs.memory_id: ERASED, said_in_office.memory_id: ERASED, kept.memory_id: kept.content}
    assert [(one.data, one.context, one.source.quote, one.vector) for one in shown if one.content == ERASED] == [
        ({}, "", None, None)
    ] * 2
    assert theirs.vector is not None
    assert ids(await copy.match(everything(subject, SHARED), "canary basket", limit=9)) == []
    assert theirs.memory_id not in ids(await copy.nearest(everything(subject, SHARED), theirs.vector, limit=9))
    assert await copy.transact(lambda tx: tx.remove(theirs.memory_id, scope=subject))
    await copy.close()
    assert found_in(tmp_path, CANARY.encode(), theirs.vector) == []


async def test_what_is_sealed_is_declared(store: SqliteStore, tmp_path: Path) -> None:
    assert store.capabilities.sealed == {"content", "vectors", "words"}
    assert SqliteStore(tmp_path / "m.db").capabilities.sealed == frozenset()


def contents(memories: Sequence[Memory]) -> dict[str, str]:
    return {one.memory_id: one.content for one in memories}


async def test_an_existing_file_is_sealed_and_nothing_of_it_is_left_plain(tmp_path: Path) -> None:
    plain = SqliteStore(tmp_path / "m.db", reserved_bytes=65536)
    await plain.open(EMBEDDER.space)
    kept = full()
    await remember(plain, kept, *(memory(f"The {CANARY} number {n} sings", author="ben") for n in range(300)))
    newer = kept.next_version(kept.updated_at, content=f"{SAID}, or under it")
    await change(plain, newer)
    before = await plain.newest(everything(), limit=400)
    with pytest.raises(NotSupported, match="not_supported:seal"):
        await plain.seal(kept.scope.tenant)
    await plain.close()

    store = sealed_store(tmp_path)
    await store.open(EMBEDDER.space)
    assert await store.seal(kept.scope.tenant) == 302
    assert await store.seal(kept.scope.tenant) == 0
    assert await store.newest(everything(), limit=400) == before
    assert [one.content for one in await store.versions(kept.memory_id, scopes=[scope()])] == [SAID, newer.content]
    assert ids(await store.match(everything(), '"blue basket"', limit=5)) == [kept.memory_id]
    assert kept.vector is not None
    assert found_in(tmp_path, CANARY.encode(), kept.vector) == []
    await store.close()


async def test_another_embedder_gives_sealed_vectors_and_passes_over_what_cannot_be_opened(
    store: SqliteStore, tmp_path: Path
) -> None:
    wider = WordEmbedder(768)
    kept, gone = full(), memory("The heron is on the roof", scope=scope("ben"))
    await remember(store, kept, gone)
    assert keys(tmp_path).destroy(scope("ben"))
    done = await reembed(store, wider)
    assert (done.filled, done.space) == (2, wider.space)
    (new,) = round_vectors([wider.vector(SAID)])
    (found,) = await store.nearest(everything(), new, limit=5)
    assert (found.memory_id, round(found.score, 3)) == (kept.memory_id, 1.0)
    stored = await store.get_many([kept.memory_id, gone.memory_id], scopes=[scope(), scope("ben")])
    assert {memory_id: one.vector for memory_id, one in stored.items()} == {kept.memory_id: new, gone.memory_id: None}
    assert stored[gone.memory_id].content == ERASED
    await store.tidy()
    assert found_in(tmp_path, new, CANARY.encode()) == []


def counted(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return a list that gets the result of each decoding from here on."""
    decoded: list[object] = []
    memory_from = encryption.memory_from

    def noted(*given: Any) -> Memory:
        memory: Memory = memory_from(*given)
        decoded.append(memory)
        return memory

    monkeypatch.setattr(encryption, "memory_from", noted)
    return decoded


async def test_a_memory_that_was_read_is_kept_decoded_and_its_damaged_row_is_noticed_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded = counted(monkeypatch)
    store = SqliteStore(tmp_path / "plain.db")
    await store.open(EMBEDDER.space)
    known = memory("the umbrella is in the car")
    await remember(store, known)
    for _ in range(3):
        assert await store.get(known.memory_id, scopes=[scope()]) == known
    assert len(decoded) == 1
    file = apsw.Connection(str(tmp_path / "plain.db"))
    file.execute("UPDATE memory SET body = replace(body, 'in the car', 'in the bar')")
    file.close()
    with pytest.raises(StoreCorrupt):
        await store.get(known.memory_id, scopes=[scope()])
    await store.close()


async def test_nothing_sealed_is_kept_decoded(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = counted(monkeypatch)
    kept = full()
    await remember(store, kept)
    for _ in range(3):
        assert await store.get(kept.memory_id, scopes=[kept.scope]) is not None
    assert len(decoded) == 3
