"""Step 4: the vector, made before any transaction is open."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from mnemic.errors import EmbedderFailed, SpaceMismatch
from mnemic.ports import Embedder, Reads
from mnemic.types import Deadline, Vector
from mnemic.write.draft import Draft

_KEY_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_]+|\d+")


def index_text(content: str, *, key: str | None = None) -> str:
    """The text that a memory's vector is made of: the words of its key, and what it says.

    Its context is left to the keyword list: a vector of both finds messages that answer several questions less well
    (docs/adr/0006-fusion-and-signals.md).
    """
    words = " ".join(_KEY_WORD.findall(key)).lower() if key else ""
    return f"{words}: {content}" if words else content


async def embed(drafts: Sequence[Draft], embedder: Embedder, deadline: Deadline | None) -> list[Draft]:
    """The drafts with their vectors, in one call. Raises EmbedderFailed; then none of them has one."""
    texts = [index_text(draft.candidate.content, key=draft.candidate.key) for draft in drafts]
    vectors = await embedder.embed(texts, deadline=deadline)
    if len(vectors) != len(texts) or any(not _fits(vector, embedder) for vector in vectors):
        raise EmbedderFailed("dimension")
    return [replace(draft, vector=vector, space=embedder.space) for draft, vector in zip(drafts, vectors, strict=True)]


async def require_present(tx: Reads, draft: Draft) -> None:
    """Raises SpaceMismatch where the store was changed to another embedder after the draft's vector was made."""
    if draft.space != await tx.space():
        raise SpaceMismatch(hint="the store has another embedder by now; the same call makes a new vector")


def _fits(vector: Vector, embedder: Embedder) -> bool:
    return len(vector) == 4 * embedder.space.dimension
