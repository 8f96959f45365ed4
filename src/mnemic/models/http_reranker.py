"""Reranker over HTTP: the protocol of Cohere, Jina, vLLM and LiteLLM, that of Voyage, or that of TEI."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from mnemic.errors import InvalidInput, RerankerFailed
from mnemic.models.openai_client import CallFailed, FailureCause, OpenAIClient
from mnemic.ports import Clock
from mnemic.runtime.circuit_breaker import CircuitBreaker
from mnemic.types import Deadline

if TYPE_CHECKING:
    from openai import AsyncOpenAI

Protocol = Literal["cohere", "jina", "voyage", "tei"]
PROTOCOLS: tuple[Protocol, ...] = ("cohere", "jina", "voyage", "tei")
TIMEOUT = timedelta(seconds=3)
"""The longest wait for one call. A search answers without the reranker then."""
_REASONS = {
    FailureCause.TIMEOUT: "timeout",
    FailureCause.UNREACHABLE: "unavailable",
    FailureCause.BUSY: "unavailable",
    FailureCause.REFUSED: "refused",
    FailureCause.AUTH: "auth",
    FailureCause.RESPONSE: "response",
}
_UNANSWERED = frozenset({FailureCause.TIMEOUT, FailureCause.UNREACHABLE, FailureCause.BUSY})


def _cohere(model: str, query: str, texts: list[str]) -> dict[str, Any]:
    return {"model": model, "query": query, "documents": texts, "top_n": len(texts)}


def _voyage(model: str, query: str, texts: list[str]) -> dict[str, Any]:
    return {"model": model, "query": query, "documents": texts, "top_k": len(texts)}


def _tei(_: str, query: str, texts: list[str]) -> dict[str, Any]:
    return {"query": query, "texts": texts, "truncate": True}


_REQUESTS: Mapping[Protocol, Callable[[str, str, list[str]], dict[str, Any]]] = MappingProxyType(
    {"cohere": _cohere, "jina": _cohere, "voyage": _voyage, "tei": _tei}
)


class HttpReranker:
    """Scores from a server. `base_url` is the address to which `/rerank` is added (Cohere: https://api.cohere.com/v2).

    A call takes at most `timeout`, and a server that does not answer is not asked again for a while
    (`mnemic.runtime.circuit_breaker`). Raises InvalidConfig (`invalid_config:openai`) if the `openai` package is
    absent; calls raise RerankerFailed, never a partial list.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        clock: Clock,
        *,
        api_key: str | None = None,
        protocol: Protocol = "cohere",
        timeout: timedelta = TIMEOUT,
    ) -> None:
        self._model = model
        self._request = _REQUESTS[protocol]
        self._client = OpenAIClient(base_url=base_url, api_key=api_key, timeout=timeout.total_seconds())
        self._circuit = CircuitBreaker(clock.monotonic)

    async def rerank(self, query: str, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[float]:
        """One score in 0..1 for each text, in order. Raises RerankerFailed (`reranker_failed:timeout`, `:unavailable`,
        `:auth`, `:refused`, `:response`, `:circuit_open`).
        """
        if isinstance(texts, str):
            raise InvalidInput("texts", hint="a sequence of strings")
        if not texts:
            return []
        if not self._circuit.allows():
            raise RerankerFailed("circuit_open", hint="the reranker did not answer; it is asked again in a while")
        body = self._request(self._model, query, list(texts))

        async def request(client: AsyncOpenAI, seconds: float) -> object:
            answer: object = await client.post("/rerank", cast_to=object, body=body, options={"timeout": seconds})
            return answer

        try:
            scores = _scores(await self._client.call(request, deadline), len(texts))
        except CallFailed as failure:
            if failure.trouble in _UNANSWERED:
                self._circuit.count_timeout()
            else:
                self._circuit.close_circuit()
            raise RerankerFailed(_REASONS[failure.trouble], hint=failure.hint) from None
        self._circuit.close_circuit()
        return scores

    async def close(self) -> None:
        """Close the connections. May be called twice."""
        await self._client.close()


def _scores(answer: object, count: int) -> list[float]:
    """Return the scores in the order of the texts. Raises CallFailed unless there is exactly one for each."""
    if isinstance(answer, Mapping):
        answer = answer.get("results", answer.get("data"))
    if not isinstance(answer, list) or len(answer) != count:
        raise CallFailed(FailureCause.RESPONSE, "another number of scores than texts")
    placed = {one.get("index"): _score(one) for one in answer if isinstance(one, Mapping)}
    if placed.keys() != set(range(count)):
        raise CallFailed(FailureCause.RESPONSE, "scores without their places")
    scores = [placed[place] for place in range(count)]
    if all(0 <= score <= 1 for score in scores):
        return scores
    return [1 / (1 + math.exp(-max(-700.0, score))) for score in scores]  # a cross-encoder's raw logits


def _score(one: Mapping[str, Any]) -> float:
    value = one.get("relevance_score", one.get("score"))
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise CallFailed(FailureCause.RESPONSE, "a score that is no number")
    return float(value)
