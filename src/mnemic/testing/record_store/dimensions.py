"""Contract for vectors of any dimension: each is stored, compared and never mixed with others."""

# ruff: noqa: D102

from __future__ import annotations

from array import array
from pathlib import Path

import pytest

from mnemic.errors import InvalidInput, SpaceMismatch
from mnemic.ports import RecordStore, Transaction
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.record_store.fixtures import Setting, everything, ids, memory, remember, scope
from mnemic.types import Memory

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
