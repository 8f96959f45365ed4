"""The vectors of the race, made before it begins: what a call takes then is what it takes beyond the embedder."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.types import Deadline, Vector
from mnemic_eval.vectors import HashedEmbedder, KeptEmbedder

REAL = 12_000
"""Texts that have the vectors of the bundled embedder; further ones, of the largest size alone, have hashed ones."""


class Vectors:
    """An embedder, as the engine and as the peers take one, that looks up what was made by `make`. What else is asked
    for, as parts of a question are, is made at once: `spent` is the CPU that took and `waited` the time, in seconds.
    """

    def __init__(self, kept: Path) -> None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        self._embedder = KeptEmbedder(MiniLmEmbedder(), kept)
        self.space = self._embedder.space
        self._known: dict[str, Vector] = {}
        self.spent = self.waited = 0.0

    def make(self, texts: Sequence[str]) -> None:
        """Have the vectors of these texts at hand; some of the peers strip a text before they embed it."""
        real = asyncio.run(self._embedder.embed(texts[:REAL]))
        hashed = asyncio.run(HashedEmbedder(self.space).embed(texts[REAL:]))
        for text, vector in zip(texts, [*real, *hashed], strict=True):
            self._known[text] = self._known[text.strip()] = vector

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        """Return the vectors of these texts."""
        if unknown := [text for text in texts if text not in self._known]:
            began, at = time.process_time(), time.perf_counter()
            self._known |= zip(unknown, await self._embedder.inner.embed(unknown, deadline=deadline), strict=True)
            self.spent += time.process_time() - began
            self.waited += time.perf_counter() - at
        return [self._known[text] for text in texts]

    async def close(self) -> None:
        """Nothing is held for one contestant."""

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector a text as plain numbers: what the peers take. A text in JSON, as LangGraph's stores hand
        over what is at a path of its own, has the vector of what it holds.
        """
        bare = [text if text in self._known else json.loads(text)["text"] for text in texts]
        return [np.frombuffer(self._known[text], "<f4").tolist() for text in bare]

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of one text as plain numbers."""
        return self.embed_documents([text])[0]

    def nearest(self, texts: Sequence[str], query: str, count: int) -> set[str]:
        """Return the `count` of `texts` that are nearest to `query`, multiplied out."""
        held = np.frombuffer(b"".join([self._known[text] for text in texts]), "<f4").reshape(len(texts), -1)
        scores = held @ np.frombuffer(self._known[query], "<f4")
        return {texts[place] for place in np.argpartition(-scores, count)[:count].tolist()}
