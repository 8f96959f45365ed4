"""Embedder over HTTP, with OpenAI's `/v1/embeddings` protocol."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mnemic.errors import EmbedderFailed, InvalidConfig, InvalidInput
from mnemic.models.openai_client import CallFailed, FailureCause, OpenAIClient
from mnemic.types import Deadline, Vector, VectorSpace

if TYPE_CHECKING:
    from openai import AsyncOpenAI

TIMEOUT_SECONDS = 30.0
BATCH = 64
_REASONS = {
    FailureCause.TIMEOUT: "timeout",
    FailureCause.UNREACHABLE: "unavailable",
    FailureCause.BUSY: "unavailable",
    FailureCause.REFUSED: "unavailable",
    FailureCause.AUTH: "auth",
    FailureCause.RESPONSE: "response",
}


class HttpEmbedder:
    """Vectors from a server, checked and normalised here: a server's answer is not trusted to be complete or sound.

    Texts go out `batch` at a time, one request after the other, all inside the deadline; a request takes at most
    `timeout` seconds. Nothing is retried here: see `RetryingEmbedder`.

    Raises InvalidConfig (`invalid_config:openai`) if the `openai` package is absent; calls raise EmbedderFailed
    (`embedder_failed:timeout`, `:unavailable`, `:auth`, `:response` for an answer that is incomplete or no answer at
    all, `:dimension`, `:not_finite`, `:zero_vector`), never a partial list.
    """

    def __init__(
        self,
        base_url: str | None,
        model: str,
        dimension: int,
        api_key: str | None = None,
        *,
        timeout: float = TIMEOUT_SECONDS,
        batch: int = BATCH,
    ) -> None:
        if type(dimension) is not int or dimension < 1:
            raise InvalidConfig("embedder_dimension", hint="a whole number, at least 1")
        if type(batch) is not int or batch < 1:
            raise InvalidConfig("embedder_batch", hint="a whole number, at least 1")
        self._space = VectorSpace(model=model, dimension=dimension)
        self._batch = batch
        self._client = OpenAIClient(base_url=base_url, api_key=api_key, timeout=timeout)

    @property
    def space(self) -> VectorSpace:
        """The space of the vectors."""
        return self._space

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        """Return one vector for each text; see `mnemic.ports.Embedder`."""
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise InvalidInput("texts", hint="a sequence of strings")
        vectors: list[Vector] = []
        for first in range(0, len(texts), self._batch):
            vectors += await self._embed(list(texts[first : first + self._batch]), deadline)
        return vectors

    async def close(self) -> None:
        """Close the connections. May be called twice."""
        await self._client.close()

    async def _embed(self, texts: list[str], deadline: Deadline | None) -> list[Vector]:
        async def request(client: AsyncOpenAI, seconds: float) -> object:
            # Plain numbers: the default, base64, is not understood by every server.
            return await client.embeddings.create(
                model=self._space.model, input=texts, encoding_format="float", timeout=seconds
            )

        try:
            rows = _rows(await self._client.call(request, deadline), len(texts))
        except CallFailed as failure:
            raise embedder_error(failure) from None
        return [unit_vector(row, self._space.dimension) for row in rows]


def unit_vector(values: Sequence[float], dimension: int) -> Vector:
    """Return a server's answer as a vector of unit length. Raises EmbedderFailed (`embedder_failed:dimension`,
    `:not_finite`, `:zero_vector`).
    """
    if len(values) != dimension:
        hint = f"the server's vectors have {len(values)} dimensions, {dimension} are configured"
        raise _permanent(EmbedderFailed("dimension", hint=hint))
    if not all(map(math.isfinite, values)):
        raise EmbedderFailed("not_finite")
    length = math.hypot(*values)
    if length == 0:
        raise EmbedderFailed("zero_vector")
    if not math.isfinite(length):
        raise EmbedderFailed("not_finite")
    return struct.pack(f"<{len(values)}f", *(value / length for value in values))


def _rows(answer: object, count: int) -> list[Sequence[float]]:
    """Return the vectors in the order of the texts. Raises CallFailed unless there is exactly one for each."""
    data = getattr(answer, "data", None)
    if not isinstance(data, list) or len(data) != count:
        raise CallFailed(FailureCause.RESPONSE, "another number of vectors than texts")
    placed: dict[object, Sequence[float]] = {
        getattr(item, "index", None): getattr(item, "embedding", ()) for item in data
    }
    if placed.keys() != set(range(count)):
        raise CallFailed(FailureCause.RESPONSE, "vectors without their places")
    rows = [placed[place] for place in range(count)]
    if not all(isinstance(row, list) and all(type(value) in (int, float) for value in row) for row in rows):
        raise CallFailed(FailureCause.RESPONSE, "vectors that are not lists of numbers")
    return rows


def embedder_error(failure: CallFailed) -> EmbedderFailed:
    """Return the error of an embedder for a call that failed."""
    error = EmbedderFailed(_REASONS[failure.trouble], hint=failure.hint)
    error.permanent = failure.permanent
    error.retry_after = failure.retry_after
    return error


def _permanent(error: EmbedderFailed) -> EmbedderFailed:
    error.permanent = True
    return error
