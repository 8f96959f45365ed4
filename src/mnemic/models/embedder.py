"""An embedder called with its vendor's client by way of Pydantic AI."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from mnemic.errors import InvalidConfig, InvalidInput, MnemicError
from mnemic.models.clients import ClientPerLoop, OpenModel
from mnemic.models.failures import call_failed
from mnemic.models.http_embedder import embedder_error, unit_vector
from mnemic.models.openai_client import CallFailed, FailureCause
from mnemic.ports import Clock, Embedder
from mnemic.providers.model_breakers import BreakingEmbedder
from mnemic.providers.retrying import RetryingEmbedder
from mnemic.types import Deadline, Vector, VectorSpace

if TYPE_CHECKING:
    from pydantic_ai.embeddings import EmbeddingModel
    from pydantic_ai.embeddings.settings import EmbeddingSettings

TIMEOUT_SECONDS = 30.0
BATCH = 64
"""Texts of one request; Cohere takes 96, Gemini 100, Voyage 128."""


class VendorEmbedder:
    """Vectors of one vendor's model, checked and normalised here. Questions and statements are embedded differently if
    the model distinguishes them.

    Texts go out 64 at a time, one request after the other, all inside the deadline. Temporary failures are retried, and
    a server that does not answer is not called for a while. Raises EmbedderFailed, never a partial list.
    """

    def __init__(self, make: Callable[[], OpenModel[EmbeddingModel]], model: str, dimension: int, clock: Clock) -> None:
        if type(dimension) is not int or dimension < 1:
            raise InvalidConfig("embedder_dimension", hint="a whole number, at least 1")
        self.space = VectorSpace(model=model, dimension=dimension)
        self._server = _Server(make, self.space)
        self._statements: Embedder = _guard_embedder(_Asking(self._server, "document"), clock)
        self._questions: Embedder = _guard_embedder(_Asking(self._server, "query"), clock)

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        """One vector per statement; see `mnemic.ports.Embedder`."""
        return await self._statements.embed(texts, deadline=deadline)

    async def embed_queries(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        """One vector per question; see `mnemic.ports.EmbedsQueries`."""
        return await self._questions.embed(texts, deadline=deadline)

    async def close(self) -> None:
        """Close the connections. May be called twice."""
        await self._statements.close()
        await self._questions.close()
        await self._server.clients.close()


class _Server:
    """A vendor's model with the options that it accepted."""

    def __init__(self, make: Callable[[], OpenModel[EmbeddingModel]], space: VectorSpace) -> None:
        self.clients: ClientPerLoop[EmbeddingModel] = ClientPerLoop(make)
        self.space = space
        self._takes_dimensions = True

    async def vectors(
        self, texts: list[str], purpose: Literal["document", "query"], deadline: Deadline | None
    ) -> list[Vector]:
        """Return one vector per text. Raises CallFailed, EmbedderFailed."""
        if self.clients.closed:
            raise CallFailed(FailureCause.REFUSED, "closed")
        model = await self.clients.get()
        if self._takes_dimensions:
            try:
                return await self._ask(model, texts, purpose, deadline, {"dimensions": self.space.dimension})
            except CallFailed as failure:
                if failure.trouble is not FailureCause.REFUSED:
                    raise
        vectors = await self._ask(model, texts, purpose, deadline, {})
        self._takes_dimensions = False  # only accepted options are cached: the refusal may have been of a text
        return vectors

    async def _ask(
        self,
        model: EmbeddingModel,
        texts: list[str],
        purpose: Literal["document", "query"],
        deadline: Deadline | None,
        options: EmbeddingSettings,
    ) -> list[Vector]:
        seconds = TIMEOUT_SECONDS if deadline is None else min(TIMEOUT_SECONDS, deadline.remaining())
        if seconds <= 0:
            raise CallFailed(FailureCause.TIMEOUT, "no time left for a call")
        try:
            async with asyncio.timeout(seconds):
                answer = await model.embed(texts, input_type=purpose, settings={"truncate": True, **options})
        except MnemicError:
            raise
        except Exception as error:  # noqa: BLE001 - the vendors' clients raise classes of many kinds
            raise call_failed(error) from None
        if len(answer.embeddings) != len(texts):
            raise CallFailed(FailureCause.RESPONSE, "another number of vectors than texts", sent=True)
        return [unit_vector(row, self.space.dimension) for row in answer.embeddings]


class _Asking:
    """The port of embedders for statements or for questions."""

    def __init__(self, server: _Server, purpose: Literal["document", "query"]) -> None:
        self.space = server.space
        self._server, self._purpose = server, purpose

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise InvalidInput("texts", hint="a sequence of strings")
        vectors: list[Vector] = []
        for first in range(0, len(texts), BATCH):
            try:
                vectors += await self._server.vectors(list(texts[first : first + BATCH]), self._purpose, deadline)
            except CallFailed as failure:
                raise embedder_error(failure) from None
        return vectors

    async def close(self) -> None:
        """Do nothing: the server is closed by its owner."""


def _guard_embedder(inner: Embedder, clock: Clock) -> Embedder:
    return BreakingEmbedder(RetryingEmbedder(inner, clock), clock)
