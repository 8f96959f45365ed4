"""Re-embedding while the store is in use: a second embedding space, filled batch by batch, then swapped in atomically.

Until then searches use the old space, and new memories are filled in too. It may be killed at any moment: another run
continues. Memory use is bounded by the batch.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from mnemic.errors import StoreBusy
from mnemic.ports import Embedder, RecordStore
from mnemic.types import VectorSpace
from mnemic.unit_of_work import commit
from mnemic.write.prepare import index_text, round_vectors

BATCH = 64
_ATTEMPTS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ReembedResult:
    """Number of vectors that this run made, and the space that all memories have now."""

    filled: int
    space: VectorSpace


async def reembed(
    store: RecordStore,
    embedder: Embedder,
    *,
    adopt: Callable[[], Awaitable[None]] | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> ReembedResult:
    """Embed every memory of the store, of all tenants and statuses, with `embedder`, and switch to its space.

    `adopt` is called once the store has switched, before the old vectors are removed, which takes a while.
    `on_progress` receives the number of finished memories. Raises EmbedderFailed and StoreFailed, StoreBusy too if
    others never stop writing: then nothing has changed, and a further run continues. If the store has this space
    already, nothing is embedded.
    """
    if await commit(store, lambda unit: unit.reads.space()) == embedder.space:
        return await _adopt_space(store, ReembedResult(filled=0, space=embedder.space), adopt)
    await store.begin_space(embedder.space)
    filled = 0
    for _ in range(_ATTEMPTS):
        while memories := await store.memories_without_vector(limit=BATCH):
            vectors = round_vectors(await embedder.embed([index_text(one.content, key=one.key) for one in memories]))
            filled += await store.fill(list(zip(memories, vectors, strict=True)))
            if on_progress is not None:
                on_progress(filled)
        if await store.switch_space():
            return await _adopt_space(store, ReembedResult(filled=filled, space=embedder.space), adopt)
    raise StoreBusy(hint="others write without a pause; run it again")


async def _adopt_space(
    store: RecordStore, done: ReembedResult, adopt: Callable[[], Awaitable[None]] | None
) -> ReembedResult:
    if adopt is not None:
        await adopt()
    await store.clear_space()
    return done
