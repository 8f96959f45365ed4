"""Embedders, language models and rerankers that are plain functions of a program."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

from mnemic.errors import (
    EmbedderFailed,
    InvalidConfig,
    MnemicError,
    ModelEmpty,
    ModelTimeout,
    ModelUnavailable,
    RerankerFailed,
)
from mnemic.models.http_embedder import unit_vector
from mnemic.ports import Completer, Embedder, Reranker
from mnemic.types import Completion, Deadline, Prompt, Vector, VectorSpace

EmbedFunction = Callable[[list[str]], Sequence[Sequence[float]]]
"""Texts to vectors: `OpenAIEmbeddings().embed_documents`, `SentenceTransformer(...).encode`."""
ModelFunction = Callable[[str], str | Awaitable[str]]
"""A prompt to an answer: `lambda prompt: chat_model.invoke(prompt).content`."""
RerankFunction = Callable[[str, list[str]], Sequence[float] | Awaitable[Sequence[float]]]
"""A query and texts to a score between 0 and 1 for each text."""


class FunctionEmbedder:
    """A function of texts as an `Embedder`, called in a thread. It is called once when it is made, for the dimension of
    its vectors; these need not be of unit length. `model` names their space: vectors of two are never compared.

    Raises InvalidConfig (`invalid_config:embedder`) if it does not return a vector for each text.
    """

    def __init__(self, function: EmbedFunction, model: str | None = None) -> None:
        if inspect.iscoroutinefunction(function):
            raise InvalidConfig("embedder", hint="a function that is not awaited; an object has `space` and `embed`")
        self._function = function
        rows = self._rows(["dimension"])
        self._space = VectorSpace(model=model or _name_of(function), dimension=len(rows[0]))

    @property
    def space(self) -> VectorSpace:
        """The space of its vectors."""
        return self._space

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        """Return one vector per text. Raises EmbedderFailed."""
        if not texts:
            return []
        try:
            async with asyncio.timeout(None if deadline is None else max(0.0, deadline.remaining())):
                rows = await asyncio.to_thread(self._rows, list(texts))
        except TimeoutError:
            raise EmbedderFailed("timeout") from None
        except InvalidConfig:
            raise EmbedderFailed("response", hint="the embedder returned no vector for each text") from None
        except MnemicError:
            raise
        except Exception as error:  # whatever a function of the program raises
            raise EmbedderFailed("unavailable", hint=type(error).__name__) from error
        return [unit_vector(row, self._space.dimension) for row in rows]

    async def close(self) -> None:
        """Do nothing: the function is the program's."""

    def _rows(self, texts: list[str]) -> list[list[float]]:
        given: Any = self._function(texts)
        try:
            rows = [[float(value) for value in row] for row in given]
        except (TypeError, ValueError):
            rows = []
        if len(rows) != len(texts) or not all(rows):
            raise InvalidConfig("embedder", hint="a function of a list of texts that returns a vector for each")
        return rows


class FunctionCompleter:
    """A function of a prompt as a `Completer`: awaited if it can be, else called in a thread."""

    def __init__(self, function: ModelFunction) -> None:
        self._function = function

    @property
    def model(self) -> str:
        """The name of the function."""
        return _name_of(self._function)

    async def complete(self, prompt: Prompt, *, deadline: Deadline) -> Completion:
        """Return its answer. Raises ModelTimeout, ModelUnavailable, ModelEmpty."""
        turns = (f"{role}: {text}" for role, text in prompt.before)
        asked = "\n\n".join([prompt.system, *turns, prompt.user])
        try:
            text = await _call(self._function, deadline, asked)
        except TimeoutError:
            raise ModelTimeout() from None
        except MnemicError:
            raise
        except Exception as error:  # whatever a function of the program raises
            raise ModelUnavailable(hint=type(error).__name__) from error
        if not isinstance(text, str) or not text.strip():
            raise ModelEmpty(hint="the function returned no text")
        return Completion(text=text, model=self.model)

    async def close(self) -> None:
        """Do nothing: the function is the program's."""


class FunctionReranker:
    """A function of a query and texts as a `Reranker`: awaited if it can be, else called in a thread."""

    def __init__(self, function: RerankFunction) -> None:
        self._function = function

    async def rerank(self, query: str, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[float]:
        """Return a score between 0 and 1 per text. Raises RerankerFailed."""
        try:
            scores = [float(score) for score in await _call(self._function, deadline, query, list(texts))]
        except TimeoutError:
            raise RerankerFailed("timeout") from None
        except Exception as error:  # whatever a function of the program raises
            raise RerankerFailed("unavailable", hint=type(error).__name__) from error
        if len(scores) != len(texts) or not all(0.0 <= score <= 1.0 for score in scores):
            raise RerankerFailed("response", hint="the function returns a score from 0 to 1 for each text")
        return scores

    async def close(self) -> None:
        """Do nothing: the function is the program's."""


def embedder_from(given: Embedder | EmbedFunction, model: str | None) -> Embedder:
    """Return an embedder for an object that is one, or for a function; `model` names a function's space. Raises
    InvalidConfig (`embedder`).
    """
    if hasattr(given, "embed") and hasattr(given, "space"):
        return cast("Embedder", given)
    if not callable(given):
        raise InvalidConfig("embedder", hint="a function of a list of texts, or an object with `space` and `embed`")
    return FunctionEmbedder(given, model)


def completer_from(given: Completer | ModelFunction) -> Completer:
    """Return a language model for an object that is one, or for a function. Raises InvalidConfig (`model`)."""
    if hasattr(given, "complete"):
        return cast("Completer", given)
    if not callable(given):
        raise InvalidConfig("model", hint="a model's name, a function of a prompt, or an object with `complete`")
    return FunctionCompleter(given)


def reranker_from(given: Reranker | RerankFunction) -> Reranker:
    """Return a reranker for an object that is one, or for a function. Raises InvalidConfig (`reranker`)."""
    if hasattr(given, "rerank"):
        return cast("Reranker", given)
    if not callable(given):
        raise InvalidConfig("reranker", hint="a function of a query and a list of texts, or an object with `rerank`")
    return FunctionReranker(given)


async def _call(function: Callable[..., Any], deadline: Deadline | None, *given: object) -> Any:
    """Return the result of a function, awaited if it is awaitable. Raises TimeoutError, and what it raises."""
    async with asyncio.timeout(None if deadline is None else max(0.0, deadline.remaining())):
        if inspect.iscoroutinefunction(function):
            return await function(*given)
        found = await asyncio.to_thread(function, *given)
        return await found if inspect.isawaitable(found) else found


def _name_of(function: Callable[..., Any]) -> str:
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return f"{getattr(function, '__module__', 'program')}.{name}"
