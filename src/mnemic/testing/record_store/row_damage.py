"""Contract for rows that were changed below the store, for a store with checksums."""

# ruff: noqa: D102

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from mnemic.errors import StoreCorrupt
from mnemic.ports import RecordStore
from mnemic.ports.record_store import Damage, DamageScan
from mnemic.retrieve.search import Searcher
from mnemic.testing.record_store.fixtures import EMBEDDER, START, Setting, everything, ids, memory, remember, scope
from mnemic.types import Memory, Status

Part = Literal["body", "version", "column", "vector", "words", "mark"]
SAID = ("tea in the morning", "milk in the tea", "no tea at night", "coffee is for work")


class DamagingContract(Setting):
    """Check that a damaged row is skipped, named and removable, and that all other rows are served."""

    def spoil(self, folder: Path, memory_id: str, part: Part) -> bool:
        """Change one letter or number of the stored memory in `folder`, below the open store: in its present body, that
        of its first version, its status, vector or hashed words, or in the mark of this name. Return False if the store
        has no rows below it that a test can damage.
        """
        return False

    async def _spoil_row(self, store: RecordStore, folder: Path, part: Part) -> list[Memory]:
        """Store four memories and damage the first; none if the store cannot be damaged."""
        kept = [memory(said, fingerprint=said, key=f"key {number}") for number, said in enumerate(SAID)]
        await remember(store, *kept)
        return kept if self.spoil(folder, kept[0].memory_id, part) else []

    async def test_a_damaged_memory_is_skipped_and_the_others_are_served(
        self, store: RecordStore, tmp_path: Path
    ) -> None:
        kept = await self._spoil_row(store, tmp_path, "body")
        if not kept:
            return
        hurt, *others = kept
        again = self.new_store(tmp_path)
        await again.open(EMBEDDER.space)
        for one in (store, again):
            assert await one.newest(everything(), limit=3) == others[::-1]
            assert ids(await one.newest(everything(), limit=2)) == ids(others[:0:-1])
            found = await one.get_many(ids(kept), scopes=[scope()])
            assert found == {other.memory_id: other for other in others}
            with pytest.raises(StoreCorrupt) as raised:
                await one.get(hurt.memory_id, scopes=[scope()])
            assert raised.value.reason == "store_corrupt:memory"
            with pytest.raises(StoreCorrupt):
                await one.find_fingerprint(scope(), hurt.fingerprint)
            assert set(ids(await one.match(everything(), "tea", limit=9))) >= set(ids(others[:2]))
            near = await one.nearest(everything(), EMBEDDER.vector("coffee is for work"), limit=1)
            assert ids(near) == [others[2].memory_id]
        await again.close()

    async def test_a_search_says_that_it_could_not_read_a_damaged_memory(
        self, store: RecordStore, tmp_path: Path
    ) -> None:
        kept = await self._spoil_row(store, tmp_path, "body")
        if not kept:
            return
        again = self.new_store(tmp_path)
        await again.open(EMBEDDER.space)
        searcher = Searcher(again, EMBEDDER)
        found = await searcher.search("tea in the morning", everything(), top_k=2)
        assert found.errors == {"memory": "store_corrupt:memory"}
        assert len(found.hits) == 2
        assert kept[0].memory_id not in [hit.memory.memory_id for hit in found.hits]
        assert await again.count(everything()) == len(await again.newest(everything(), limit=9)) == 3
        await again.transact(lambda transaction: transaction.remove(kept[0].memory_id, scope=scope()))
        assert (await searcher.search("tea in the morning", everything(), top_k=2)).errors == {}
        assert await again.count(everything()) == 3
        await again.close()

    async def test_a_damaged_row_is_named_until_it_is_removed(self, store: RecordStore, tmp_path: Path) -> None:
        kept = await self._spoil_row(store, tmp_path, "body")
        if not kept:
            return
        assert isinstance(store, DamageScan)
        hurt = kept[0]
        assert {row.name for row in await store.find_damage("acme")} == {hurt.memory_id}
        assert await store.find_damage("rival") == []
        (found, *rest) = await store.scan("acme", statuses=[Status.ACTIVE])
        assert (found.memory_id, rest) == (hurt.memory_id, kept[1:])
        assert hurt.content not in found.content
        with pytest.raises(StoreCorrupt):
            await store.transact(lambda transaction: transaction.replace(found.next_version(START, key="other")))
        assert await store.transact(lambda transaction: transaction.remove(hurt.memory_id, scope=scope()))
        assert await store.find_damage("acme") == []
        assert hurt.memory_id not in ids(await store.match(everything(), "morning", limit=9))

    async def test_a_damaged_earlier_version_is_said_to_be_one(self, store: RecordStore, tmp_path: Path) -> None:
        said = memory("tea in the morning")
        await remember(store, said)
        now = said.next_version(START, content="coffee by now")
        await store.transact(lambda transaction: transaction.replace(now))
        if not self.spoil(tmp_path, said.memory_id, "version"):
            return
        assert isinstance(store, DamageScan)
        before, present = await store.versions(said.memory_id, scopes=[scope()])
        assert (before.version, present) == (1, now)
        assert "tea" not in before.content
        assert await store.find_damage("acme") == [Damage("memory_version", f"{said.memory_id} version 1")]
        assert await store.get(said.memory_id, scopes=[scope()]) == now

    async def test_a_changed_column_is_named_and_no_false_value_is_returned(
        self, store: RecordStore, tmp_path: Path
    ) -> None:
        kept = await self._spoil_row(store, tmp_path, "column")
        if not kept:
            return
        assert isinstance(store, DamageScan)
        assert {row.name for row in await store.find_damage("acme")} == {kept[0].memory_id}
        assert await store.get_many(ids(kept), scopes=[scope()]) == {one.memory_id: one for one in kept}

    @pytest.mark.parametrize("part", ["vector", "words"])
    async def test_what_is_kept_for_searching_is_believed_no_more(
        self, store: RecordStore, tmp_path: Path, part: Part
    ) -> None:
        kept = await self._spoil_row(store, tmp_path, part)
        if not kept:
            return
        assert isinstance(store, DamageScan)
        hurt = kept[0]
        (named,) = await store.find_damage("acme")
        assert named.name.startswith(hurt.memory_id)
        again = self.new_store(tmp_path)
        await again.open(EMBEDDER.space)
        found = (await again.get_many([hurt.memory_id], scopes=[scope()]))[hurt.memory_id]
        assert (found.content, found.vector) == (hurt.content, None if part == "vector" else hurt.vector)
        assert ids(await again.match(everything(), "coffee", limit=9)) == [kept[3].memory_id]
        assert ids(await again.match(everything(), "morning", limit=9)) == [hurt.memory_id]
        assert await again.transact(lambda transaction: transaction.remove(hurt.memory_id, scope=scope()))
        assert ids(await again.match(everything(), "morning", limit=9)) == []
        await again.close()

    async def test_a_damaged_mark_is_no_mark(self, store: RecordStore, tmp_path: Path) -> None:
        await store.transact(lambda transaction: transaction.put_mark("acme", "consent:ada", "given"))
        if not self.spoil(tmp_path, "consent:ada", "mark"):
            return
        assert isinstance(store, DamageScan)
        with pytest.raises(StoreCorrupt, match="mark"):
            await store.marks("acme", "consent:")
        with pytest.raises(StoreCorrupt, match="mark"):
            await store.transact(lambda transaction: transaction.find_mark("acme", "consent:ada"))
        assert await store.find_damage("acme") == [Damage("mark", "a row")]
