"""An embedder for tests: no model, the same vectors on every machine; texts that share words are near each other."""

from __future__ import annotations

import hashlib
import math
from array import array
from collections.abc import Sequence

from mnemic.errors import EmbedderFailed
from mnemic.language.text.analyse import terms
from mnemic.types import Deadline, Vector, VectorSpace
from mnemic.write.prepare import round_vectors

_PLACES_PER_WORD = 4


class WordEmbedder:
    """An `Embedder` that adds up hashed words: equal texts have cosine 1, texts without a common word about 0.

    It knows words, not meanings. `texts` counts the embedded texts.
    """

    def __init__(self, dimension: int = 384) -> None:
        self._space = VectorSpace(model="hashed-words-1", dimension=dimension)
        self.texts = 0
        self.closed = False

    @property
    def space(self) -> VectorSpace:
        """The space of the hashed words."""
        return self._space

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        """Return one vector per text. Raises EmbedderFailed (`embedder_failed:timeout`) if the deadline has passed."""
        if deadline is not None and deadline.expired:
            raise EmbedderFailed("timeout")
        self.texts += len(texts)
        return [self.vector(text) for text in texts]

    def vector(self, text: str) -> Vector:
        """Return the vector of one text without awaiting, rounded as a write rounds it."""
        values = [0.0] * self._space.dimension
        for word in terms(text) or ["(blank)"]:
            digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=4 * _PLACES_PER_WORD).digest()
            for start in range(0, len(digest), 4):
                number = int.from_bytes(digest[start : start + 4], "big")
                values[(number >> 1) % len(values)] += 1.0 if number & 1 else -1.0
        length = math.sqrt(math.fsum(value * value for value in values)) or 1.0
        if length == 1.0 and not any(values):
            values[0] = 1.0
        return round_vectors([array("f", [value / length for value in values]).tobytes()])[0]

    async def close(self) -> None:
        """Record the call in `closed`; there is nothing to release."""
        self.closed = True
