"""Embedding that begins before the store has been read, by what was known of it at the last search."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from mnemic.ports import Embedder, EmbedsQueries
from mnemic.types import Deadline, Scope, Vector, VectorSpace

MOST = 1024
"""Sets of scopes of which is kept who spoke there last."""


async def vectors_of_queries(embedder: Embedder, texts: Sequence[str], deadline: Deadline | None) -> list[Vector]:
    """Return one vector per question, as `embedder` reads questions. Raises EmbedderFailed."""
    embed = embedder.embed_queries if isinstance(embedder, EmbedsQueries) else embedder.embed
    return await embed(texts, deadline=deadline)


class Spoken:
    """Speakers in the scopes of the latest searches: a guess, which each search checks."""

    def __init__(self) -> None:
        self._speakers: dict[tuple[Scope, ...], frozenset[str]] = {}

    def last(self, scopes: tuple[Scope, ...]) -> frozenset[str] | None:
        """Return the speakers of these scopes at the last search, None where there was none."""
        return self._speakers.get(scopes)

    def forget(self) -> None:
        """Keep nothing of what was said until now."""
        self._speakers.clear()

    def note(self, scopes: tuple[Scope, ...], speakers: frozenset[str]) -> None:
        """Keep who speaks there now."""
        if len(self._speakers) >= MOST:
            self.forget()
        self._speakers[scopes] = speakers


class Embedding:
    """The vectors of one search. Close it however the search ends."""

    def __init__(self, embedder: Embedder, deadline: Deadline | None) -> None:
        self._embedder = embedder
        self._deadline = deadline
        self._texts: list[str] = []
        self._made: asyncio.Future[list[Vector]] | None = None

    @property
    def space(self) -> VectorSpace:
        """The space of its vectors."""
        return self._embedder.space

    def begin(self, texts: Sequence[str]) -> None:
        """Begin to embed `texts`, in the place of what was begun before."""
        self.close()
        self._texts = list(texts)
        self._made = asyncio.ensure_future(vectors_of_queries(self._embedder, self._texts, self._deadline))

    async def of(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the vectors of `texts`, those that were begun where they are the same. Raises EmbedderFailed."""
        if self._made is None or self._texts != list(texts):
            self.begin(texts)
        assert self._made is not None
        return await self._made

    def close(self) -> None:
        """Give up what is not done; of what nobody waited for no failure is told."""
        made, self._made = self._made, None
        if made is not None and not made.cancel() and not made.cancelled():
            made.exception()
