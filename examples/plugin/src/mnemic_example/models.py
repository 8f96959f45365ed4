"""An embedder, a language model, a reranker and an extractor, as small as they can be."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from struct import pack
from typing import Any

from mnemic.extract import Extraction
from mnemic.types import Candidate, Completion, Message, Prompt, Source, Vector, VectorSpace


class ExampleEmbedder:
    """Counts of words by a hash of 64 places: no meaning, and enough to try the way."""

    space = VectorSpace(model="example", dimension=64)

    async def embed(self, texts: Sequence[str], **options: Any) -> list[Vector]:
        """One vector of length 1 for each text."""
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        counts = [0.0] * self.space.dimension
        for word in text.casefold().split() or [""]:
            counts[sha256(word.encode()).digest()[0] % len(counts)] += 1.0
        length = sum(count * count for count in counts) ** 0.5
        return pack(f"<{len(counts)}f", *(count / length for count in counts))

    async def close(self) -> None:
        """Nothing to free."""


class ExampleCompleter:
    """A model that always gives the same answer."""

    model = "example"

    async def complete(self, prompt: Prompt, **options: Any) -> Completion:
        """Return an empty JSON object."""
        return Completion(text="{}", model=self.model)

    async def close(self) -> None:
        """Nothing to free."""


class ExampleExtractor:
    """Keeps what follows "note:"."""

    async def extract(self, message: Message, **options: Any) -> Extraction:
        """One candidate, or none."""
        mark, _, note = message.content.partition("note:")
        if not note.strip():
            return Extraction()
        start = len(mark) + len("note:")
        source = Source(origin=message.origin, quote=note, span=(start, start + len(note)))
        return Extraction(candidates=(Candidate(content=note.strip(), source=source),))


class ExampleReranker:
    """Texts that share more words with the query go first."""

    async def rerank(self, query: str, texts: Sequence[str], **options: Any) -> list[float]:
        """One score in 0..1 for each text."""
        asked = set(query.casefold().split())
        return [len(asked & set(text.casefold().split())) / max(1, len(asked)) for text in texts]

    async def close(self) -> None:
        """Nothing to free."""


def build_embedder(**options: Any) -> ExampleEmbedder:
    """Return the embedder; `options` are `settings` and `clock`."""
    return ExampleEmbedder()


def build_completer(location: str, **options: Any) -> ExampleCompleter:
    """Return the model at `location`; `options` are `settings` and `clock`."""
    return ExampleCompleter()


def build_extractor(**options: Any) -> ExampleExtractor:
    """Return the extractor; `options` are `settings`, `embedder` and `completer`."""
    return ExampleExtractor()


def build_reranker(**options: Any) -> ExampleReranker:
    """Return the reranker; `options` are `settings` and `clock`."""
    return ExampleReranker()
