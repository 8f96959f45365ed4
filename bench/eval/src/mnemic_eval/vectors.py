"""Embedders that time, cache or replace another one. Each has the embedding space of the engine's default embedder."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from mnemic.errors import InvalidInput
from mnemic.ports import Embedder, EmbedsQueries
from mnemic.retrieve.prefetch import vectors_of_queries
from mnemic.types import Deadline, Vector, VectorSpace

_DIGEST = 16
_QUERY = "\0"
"""Prefix of a cached question; no text begins with it."""


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()


class HashedEmbedder:
    """Random unit vectors in the space of another embedder, the same for the same text, with which a store is filled
    fast.

    They have no meaning, but an exact scan over them costs as much as over real ones.
    """

    def __init__(self, space: VectorSpace) -> None:
        self._space = space

    @property
    def space(self) -> VectorSpace:
        """The space of the embedder that this one replaces."""
        return self._space

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        """One vector per text."""
        return [self._vector(text) for text in texts]

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _vector(self, text: str) -> Vector:
        random = np.random.default_rng(int.from_bytes(_digest(text), "little"))
        values = random.standard_normal(self._space.dimension, np.float32)
        return (values / np.linalg.norm(values)).astype("<f4").tobytes()


class _AroundEmbedder:
    """What an embedder can do beside embedding (judge answers and changes, load its model), its inner one does: without
    it another search would be measured than the one that users have.
    """

    inner: Embedder

    def __getattr__(self, name: str) -> Any:
        if name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)


class TimedEmbedder(_AroundEmbedder):
    """Passes texts to `inner` and adds the time taken to `seconds`; `filling` replaces it by another embedder."""

    def __init__(self, inner: Embedder) -> None:
        self.inner = inner
        self.seconds = 0.0
        self._stand_in: Embedder | None = None

    @property
    def space(self) -> VectorSpace:
        """The space of the inner embedder."""
        return self.inner.space

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        """Return the vectors of the current embedder; the time counts also if it fails."""
        return await self._time_work((self._stand_in or self.inner).embed(texts, deadline=deadline))

    async def embed_queries(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        """Return the current embedder's vectors of questions."""
        return await self._time_work(vectors_of_queries(self._stand_in or self.inner, texts, deadline))

    async def _time_work(self, work: Awaitable[list[Vector]]) -> list[Vector]:
        began = time.perf_counter()
        try:
            return await work
        finally:
            self.seconds += time.perf_counter() - began

    async def close(self) -> None:
        """Leave the inner embedder open: several engines share it, and its owner closes it."""

    @contextmanager
    def filling(self) -> Iterator[None]:
        """Use hashed vectors instead of real ones inside the block."""
        self._stand_in = HashedEmbedder(self.space)
        try:
            yield
        finally:
            self._stand_in = None

    def take(self) -> float:
        """Return the seconds since the last call, and reset the counter."""
        seconds, self.seconds = self.seconds, 0.0
        return seconds


class KeptEmbedder(_AroundEmbedder):
    """Caches every vector of `inner` in the file at `path`, so that a repeated evaluation embeds nothing twice.

    The file begins with the name of the vector space, followed by records of a text's digest and its vector. It
    contains no text. A last record that an interrupted run left truncated is written again. Raises InvalidInput
    (`invalid_input:vectors`) for a file that does not begin so.
    """

    def __init__(self, inner: Embedder, path: Path) -> None:
        self.inner = inner
        self._vectors: dict[bytes, Vector] = {}
        head = f"{self.space.model}/{self.space.dimension}\n".encode()
        self._file = path.open("a+b")
        if self._file.tell():
            self._read(head)
        else:
            self._file.write(head)

    def _read(self, head: bytes) -> None:
        self._file.seek(0)
        data = self._file.read()
        if not data.startswith(head):
            self._file.close()
            raise InvalidInput("vectors", hint="the file contains vectors of another embedder, or something else")
        width = _DIGEST + 4 * self.space.dimension
        whole = len(data) - (len(data) - len(head)) % width
        for start in range(len(head), whole, width):
            self._vectors[data[start : start + _DIGEST]] = data[start + _DIGEST : start + width]
        self._file.truncate(whole)

    @property
    def space(self) -> VectorSpace:
        """The space of the inner embedder."""
        return self.inner.space

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        """Return one vector per text; those not yet cached are computed in one call."""
        return await self._keep_vectors(texts, "", lambda new: self.inner.embed(new, deadline=deadline))

    async def embed_queries(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        """Return one vector per question, cached separately from those of texts if the inner embedder distinguishes
        them.
        """
        mark = _QUERY if isinstance(self.inner, EmbedsQueries) else ""
        return await self._keep_vectors(texts, mark, lambda new: vectors_of_queries(self.inner, new, deadline))

    async def _keep_vectors(
        self, texts: Sequence[str], mark: str, make: Callable[[list[str]], Awaitable[list[Vector]]]
    ) -> list[Vector]:
        new = [text for text in dict.fromkeys(texts) if _digest(mark + text) not in self._vectors]
        for text, vector in zip(new, await make(new) if new else (), strict=True):
            self._vectors[_digest(mark + text)] = vector
            self._file.write(_digest(mark + text) + vector)
        return [self._vectors[_digest(mark + text)] for text in texts]

    async def close(self) -> None:
        """Close the file and the inner embedder. May be called twice."""
        self._file.close()
        await self.inner.close()
