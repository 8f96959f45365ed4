"""Step 4: the vector, made before any transaction is open."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mnemic.errors import EmbedderFailed
from mnemic.types import Deadline, Vector
from mnemic.types.values import VECTOR_STEPS
from mnemic.write.draft import Draft

if TYPE_CHECKING:
    from mnemic.ports import Embedder


_KEY_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_]+|\d+")


def index_text(content: str, *, key: str | None = None) -> str:
    """Return the text that a memory's vector is made from: the words of its key, and its content.

    Its context is indexed by words only: a vector of both is worse at finding messages that answer several questions.
    """
    words = " ".join(_KEY_WORD.findall(key)).lower() if key else ""
    return f"{words}: {content}" if words else content


async def embed(drafts: Sequence[Draft], embedder: Embedder, deadline: Deadline | None) -> None:
    """Give the drafts their vectors, made in one call. Raises EmbedderFailed; then none has a vector."""
    said = [draft.candidate for draft in drafts]
    texts = [one.content if one.key is None else index_text(one.content, key=one.key) for one in said]
    vectors = await embedder.embed(texts, deadline=deadline)
    # Four bytes per value: an embedder that answers with another dimension must not fill the store.
    size = 4 * embedder.space.dimension
    if len(vectors) != len(texts) or any(len(vector) != size for vector in vectors):
        raise EmbedderFailed("dimension")
    for draft, vector in zip(drafts, round_vectors(vectors), strict=True):
        draft.vector, draft.space = vector, embedder.space


_MOST = (VECTOR_STEPS - 1) / VECTOR_STEPS
_ROUNDING = 1.5 * 2**52 / VECTOR_STEPS


def round_vectors(vectors: Sequence[Vector]) -> list[Vector]:
    """Return vectors of one dimension in steps of 2^-15, which take half the room in a file (decision 0003). The
    rounding error of one value is added to the next, so that the length is preserved; a cosine moves by about 0.00001.
    """
    if not vectors:
        return []
    import numpy as np

    values = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1)
    sums = np.zeros((len(values), values.shape[1] + 1))
    np.add.accumulate(np.abs(values), axis=1, out=sums[:, 1:])
    # Error diffusion: sums are rounded, so each rounding error moves into the next value. Beside a number of this size
    # the last bit of a double is one step.
    sums += _ROUNDING
    steps = (sums[:, 1:] - sums[:, :-1]).astype("<f4")
    np.minimum(steps, _MOST, out=steps)
    np.copysign(steps, values, out=steps)
    steps += 0.0  # for -0
    return [one.tobytes() for one in steps]
