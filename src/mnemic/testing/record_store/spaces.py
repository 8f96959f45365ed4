"""Contract of a second embedding space next to the current one."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest

from mnemic.errors import InvalidInput, MnemicError, SpaceMismatch
from mnemic.ports import RecordStore, Transaction
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.record_store.fixtures import (
    EMBEDDER,
    Setting,
    change,
    day,
    everything,
    ids,
    memory,
    remember,
    scope,
)
from mnemic.types import Memory, Status, Vector, VectorSpace

# ruff: noqa: D102


WIDER = WordEmbedder(768)


def _with_vectors(memories: list[Memory]) -> list[tuple[Memory, Vector]]:
    return [(one, WIDER.vector(one.content)) for one in memories]


class SpacesContract(Setting):
    """Check that it is filled while the old one is in use, and that the switch is atomic."""

    async def test_the_store_says_which_space_it_has(self, store: RecordStore) -> None:
        assert await store.transact(lambda transaction: transaction.space()) == EMBEDDER.space
        await store.close()
        await store.open(None)
        assert await store.transact(lambda transaction: transaction.space()) == EMBEDDER.space

    async def test_a_second_space_is_filled_and_put_in_place(self, store: RecordStore) -> None:
        kept = [
            memory("the blue door"),
            memory("a red boat", scope=scope("bob")),
            memory("tea", scope=scope(tenant="rival")),
        ]
        waiting = memory("a waiting one", status=Status.PENDING_REVIEW)
        await remember(store, *kept, waiting)
        await store.begin_space(WIDER.space)
        assert set(ids(await store.memories_without_vector(limit=9))) == {one.memory_id for one in (*kept, waiting)}
        assert len(await store.memories_without_vector(limit=3)) == 3
        assert await store.fill(_with_vectors(kept)) == 3
        assert not await store.switch_space()
        assert kept[0].vector is not None
        assert len(await store.nearest(everything(), kept[0].vector, limit=9)) == 1
        assert await store.fill(_with_vectors([waiting])) == 1
        assert await store.memories_without_vector(limit=9) == []
        assert await store.switch_space()
        (found,) = await store.nearest(everything(), WIDER.vector("the blue door"), limit=9)
        assert (found.memory_id, round(found.score, 3)) == (kept[0].memory_id, 1.0)
        assert len(await store.match(everything(), "door", limit=9)) == 1
        stored = await store.get(kept[0].memory_id, scopes=[scope()])
        assert stored is not None
        assert stored.vector == WIDER.vector("the blue door")
        assert await store.transact(lambda transaction: transaction.space()) == WIDER.space
        await remember(store, memory("new", vector=WIDER.vector("new")))
        with pytest.raises(MnemicError):
            await store.nearest(everything(), kept[0].vector, limit=9)

    async def test_a_vector_of_another_model_is_refused_also_where_it_is_as_long(self, store: RecordStore) -> None:
        kept, other = memory("tea"), VectorSpace(model="another", dimension=EMBEDDER.space.dimension)
        await remember(store, kept)
        assert kept.vector is not None
        assert len(await store.nearest(everything(), kept.vector, limit=9, space=EMBEDDER.space)) == 1
        with pytest.raises(SpaceMismatch):
            await store.nearest(everything(), kept.vector, limit=9, space=other)
        await store.begin_space(other)
        await store.fill([(kept, EMBEDDER.vector("coffee"))])
        assert await store.switch_space()
        with pytest.raises(SpaceMismatch):
            await store.nearest(everything(), kept.vector, limit=9, space=EMBEDDER.space)
        assert len(await store.nearest(everything(), EMBEDDER.vector("coffee"), limit=9, space=other)) == 1

    async def test_clearing_takes_nothing_that_is_used_or_being_filled(self, store: RecordStore) -> None:
        kept = memory("tea")
        await remember(store, kept)
        await store.clear_space()
        assert len(await store.nearest(everything(), EMBEDDER.vector("tea"), limit=9)) == 1
        await store.begin_space(WIDER.space)
        await store.fill(_with_vectors([kept]))
        await store.clear_space()
        assert await store.memories_without_vector(limit=9) == []
        assert await store.switch_space()
        await store.clear_space()
        await store.clear_space()
        assert len(await store.nearest(everything(), WIDER.vector("tea"), limit=9)) == 1

    async def test_what_changes_meanwhile_is_filled_again(self, store: RecordStore) -> None:
        first, second = memory("one"), memory("two")
        await remember(store, first, second)
        await store.begin_space(WIDER.space)
        read = await store.memories_without_vector(limit=9)
        revised = first.next_version(day(1), content="three", vector=EMBEDDER.vector("three"))
        await change(store, revised)
        assert await store.fill(_with_vectors(read)) == 1
        assert await store.memories_without_vector(limit=9) == [revised] or ids(
            await store.memories_without_vector(limit=9)
        ) == [revised.memory_id]
        assert await store.fill(_with_vectors([revised])) == 1
        late = memory("late")
        await remember(store, late)
        again = revised.next_version(day(2), content="four", vector=EMBEDDER.vector("four"))
        await change(store, again)
        assert set(ids(await store.memories_without_vector(limit=9))) == {late.memory_id, again.memory_id}
        assert await store.fill(_with_vectors([late, again])) == 2
        assert await store.switch_space()
        assert len(await store.nearest(everything(), WIDER.vector("four"), limit=9)) == 3

    async def test_it_goes_on_after_a_new_start_and_another_space_begins_anew(self, store: RecordStore) -> None:
        kept = [memory(f"m{number}") for number in range(5)]
        await remember(store, *kept)
        with pytest.raises(InvalidInput):
            await store.fill(_with_vectors(kept))
        with pytest.raises(InvalidInput):
            await store.switch_space()
        await store.begin_space(WIDER.space)
        await store.fill(_with_vectors(kept[:2]))
        await store.close()
        await store.open(EMBEDDER.space)
        await store.begin_space(WIDER.space)
        assert ids(await store.memories_without_vector(limit=9)) == [one.memory_id for one in kept[2:]]
        await store.begin_space(VectorSpace(model="another", dimension=768))
        assert len(await store.memories_without_vector(limit=9)) == 5
        await store.fill(_with_vectors(kept))
        assert await store.switch_space()
        await store.begin_space(EMBEDDER.space)
        assert len(await store.memories_without_vector(limit=9)) == 5
        await store.fill([(one, EMBEDDER.vector(one.content)) for one in kept])
        assert await store.switch_space()
        assert len(await store.nearest(everything(), EMBEDDER.vector("m3"), limit=9)) == 5


# ruff: noqa: D102


SAID = ("tea in the harbour", "coffee in the harbour", "tea at home", "a red bicycle")


class DimensionsContract(Setting):
    """Check `open` with a space of an unusual dimension."""

    @pytest.mark.parametrize("dimension", [8, 768, 1024, 3072])
    async def test_vectors_of_every_dimension_are_searched_exactly(self, tmp_path: Path, dimension: int) -> None:
        embedder = WordEmbedder(dimension)
        store = self.new_store(tmp_path)
        await store.open(embedder.space)
        memories = [memory(text, vector=embedder.vector(text), fingerprint=text) for text in SAID]
        await remember(store, *memories)
        asked = embedder.vector("tea harbour")
        cosines = {one.memory_id: _cosine(one.vector or b"", asked) for one in memories}
        best = sorted(cosines, key=lambda memory_id: (cosines[memory_id], memory_id), reverse=True)

        found = await store.nearest(everything(), asked, limit=9)
        assert ids(found) == best
        assert [one.score for one in found] == pytest.approx([cosines[one] for one in best], abs=1e-5)

        async def find_near(transaction: Transaction) -> list[tuple[Memory, float]]:
            return await transaction.nearest(scope(), asked, limit=2, at_least=-1.0)

        assert [one.memory_id for one, _ in await store.transact(find_near)] == best[:2]
        (kept,) = (await store.get_many([best[0]], scopes=[scope()])).values()
        assert kept.vector == next(one.vector for one in memories if one.memory_id == best[0])
        await self._others_are_refused(store, tmp_path, dimension)
        await store.close()

    async def _others_are_refused(self, store: RecordStore, folder: Path, dimension: int) -> None:
        other = WordEmbedder(dimension + 1)
        with pytest.raises(InvalidInput, match="vector"):
            await store.nearest(everything(), other.vector("tea"), limit=1)
        with pytest.raises(InvalidInput, match="vector"):
            await remember(store, memory("too long", vector=other.vector("too long")))
        again = self.new_store(folder) if store.capabilities.shared else store
        with pytest.raises(SpaceMismatch):
            await again.open(other.space)


def _cosine(one: bytes, other: bytes) -> float:
    return sum(left * right for left, right in zip(array("f", one), array("f", other), strict=True))
