"""Reads of an application's documents on the tables of one tenant (`sql/documents.sql`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from mnemic.errors import InvalidInput
from mnemic.language.text.bm25 import keyword_scores
from mnemic.stores.codec import from_micros, load
from mnemic.stores.relational.statements import Ask
from mnemic.types import (
    Document,
    DocumentAnswer,
    DocumentOperation,
    FindDocuments,
    GetDocument,
    ListNamespaces,
    Namespace,
    PutDocument,
    Vector,
    checked_identifier,
)
from mnemic.types.filter_language import accepts, check_conditions, equal


def check_batch(tenant: str, operations: Iterable[DocumentOperation]) -> None:
    """Raise InvalidInput for arguments that no document store takes, before anything is done."""
    checked_identifier(tenant, "tenant")
    for operation in operations:
        if isinstance(operation, FindDocuments):
            check_conditions(operation.conditions)
        if isinstance(operation, FindDocuments | ListNamespaces) and (operation.limit < 0 or operation.offset < 0):
            raise InvalidInput("limit", hint="limit and offset count from 0")


def last_puts(operations: Iterable[DocumentOperation]) -> list[PutDocument]:
    """Return the last put to each key, in the order in which the keys were first put."""
    return list({(one.namespace, one.key): one for one in operations if isinstance(one, PutDocument)}.values())


def document_of(row: Sequence[Any]) -> Document:
    """Return the document of a row: number, path, key, value, times of creation, change and expiry, score."""
    _, path, key, value, created, updated, expires_at, score = row
    created_at, updated_at = from_micros(created), from_micros(updated)
    assert created_at is not None
    assert updated_at is not None
    return Document(
        namespace=namespace_of(path),
        key=key.decode() if isinstance(key, bytes) else key,
        value=load(value),
        created_at=created_at,
        updated_at=updated_at,
        expires_at=from_micros(expires_at),
        score=score,
    )


def path_of(namespace: Namespace) -> str:
    """Return a namespace as one text that is a prefix only of texts within the namespace."""
    return "".join(segment.replace("~", "~0").replace("/", "~1") + "/" for segment in namespace)


def namespace_of(path: str | bytes) -> Namespace:
    """Return the namespace of `path_of`, as text or in UTF-8."""
    text = path.decode() if isinstance(path, bytes) else path
    return tuple(segment.replace("~1", "/").replace("~0", "~") for segment in text.split("/")[:-1])


def end_of(path: str) -> str:
    """Return the first text, by characters, after everything under `path`, which is not the root."""
    return path[:-1] + "0"  # "0" is the character after "/"


__all__ = [
    "accepts",
    "best_first",
    "check_conditions",
    "cosines",
    "equal",
    "keyword_scores",
    "list_matching",
    "texts_in",
]

# -- order -------------------------------------------------------------------------------------------------------------


def cosines(vectors: Mapping[int, Sequence[Vector]], vector: Vector) -> dict[int, float]:
    """Return the best cosine of each row's vectors with `vector`; rows with vectors of another size are left out."""
    rows = [(row, one) for row, many in vectors.items() for one in many if len(one) == len(vector)]
    if not rows:
        return {}
    matrix = np.frombuffer(b"".join(one for _, one in rows), dtype="<f4").reshape(len(rows), -1)
    scores = matrix @ np.frombuffer(vector, dtype="<f4")
    best: dict[int, float] = {}
    for (row, _), score in zip(rows, scores.tolist(), strict=True):
        best[row] = max(score, best.get(row, score))
    return best


def texts_in(value: Any) -> Iterator[str]:
    """Every text in JSON data, names of fields left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_in(inner)


def best_first(rows: Sequence[tuple[Any, ...]], scores: Mapping[int, float]) -> Sequence[tuple[Any, ...]]:
    """Rows (their number in the first column) by score; those without a score come last, in their order."""
    if not scores:
        return rows
    return sorted(rows, key=lambda row: -scores[row[0]] if row[0] in scores else float("inf"))


# -- namespaces --------------------------------------------------------------------------------------------------------


def list_matching(namespaces: Sequence[Namespace], wanted: ListNamespaces) -> list[Namespace]:
    """Return the namespaces that `wanted` asks for."""
    depth = wanted.max_depth
    chosen = sorted({one if depth is None else one[:depth] for one in namespaces if _fits(one, wanted)})
    return list(islice(chosen, wanted.offset, wanted.offset + wanted.limit))


def _fits(namespace: Namespace, wanted: ListNamespaces) -> bool:
    backwards = namespace[::-1]
    return all(_begins(namespace, prefix) for prefix in wanted.prefixes) and all(
        _begins(backwards, suffix[::-1]) for suffix in wanted.suffixes
    )


def _begins(namespace: Namespace, pattern: Namespace) -> bool:
    return len(namespace) >= len(pattern) and all(
        want in ("*", have) for want, have in zip(pattern, namespace, strict=False)
    )


VALUE, EXPIRES_AT, SCORE = 3, 6, 7
"""Places of columns in a row."""

Page = tuple[int | None, int]
"""Limit, None for all, and offset."""


class DocumentReads(ABC):
    """Reads of a batch of one tenant, as of one moment. `hide`: documents that have expired by this time are hidden."""

    beyond: Any = "\U0010ffff"
    """Greater than every path."""

    def __init__(self, ask: Ask, tenant: str, hide: int | None) -> None:
        self._ask = ask
        self._place = (tenant, hide)

    @abstractmethod
    async def _rows_near(self, vector: Vector, page: Page, within: tuple[Any, Any]) -> Sequence[Any]:
        """Return the rows whose paths are `within`, those with the best vectors first, each with its score."""

    @staticmethod
    def _text(text: str) -> Any:
        """Return a path or a key as the database stores it."""
        return text

    async def answers(self, operations: Sequence[DocumentOperation]) -> tuple[list[DocumentAnswer], list[int]]:
        """Return the answers, and the rows with a renewed time to live."""
        answers: list[DocumentAnswer] = []
        refreshed: list[int] = []
        for operation in operations:
            rows: Sequence[Any] = ()
            if isinstance(operation, GetDocument):
                rows = await self._get(operation)
                answers.append(document_of(rows[0]) if rows else None)
            elif isinstance(operation, FindDocuments):
                rows = await self._find(operation)
                answers.append([document_of(row) for row in rows])
            else:
                answers.append(
                    await self._list_namespaces(operation) if isinstance(operation, ListNamespaces) else None
                )
            if isinstance(operation, GetDocument | FindDocuments) and operation.refresh:
                refreshed += [row[0] for row in rows if row[EXPIRES_AT] is not None]
        return answers, refreshed

    async def _get(self, wanted: GetDocument) -> Sequence[Any]:
        return await self._ask("get", *self._place, self._text(path_of(wanted.namespace)), self._text(wanted.key))

    async def _find(self, wanted: FindDocuments) -> Sequence[Any]:
        """Return a page of rows. Conditions that only Python can evaluate are tested on every row below the prefix."""
        by_words = wanted.query if wanted.vector is None else None
        if not wanted.conditions and not by_words:
            return await self._rows(wanted, (wanted.limit, wanted.offset))
        rows: Sequence[Any] = await self._rows(wanted, (None, 0))
        if wanted.conditions:
            rows = [row for row in rows if accepts(load(row[VALUE]), wanted.conditions)]
        if by_words:
            found = keyword_scores({row[0]: "\n".join(texts_in(load(row[VALUE]))) for row in rows}, by_words)
            rows = [(*row[:SCORE], found.get(row[0])) for row in best_first(rows, found)]
        return rows[wanted.offset : wanted.offset + wanted.limit]

    async def _rows(self, wanted: FindDocuments, page: Page) -> Sequence[Any]:
        if not wanted.prefix and wanted.vector is None:
            return await self._ask("find", *self._place, *page)
        start = path_of(wanted.prefix)
        within = (self._text(start), self._text(end_of(start)) if start else self.beyond)
        if wanted.vector is None:
            return await self._ask("find_under", *self._place, *page, *within)
        return await self._rows_near(wanted.vector, page, within)

    async def _list_namespaces(self, wanted: ListNamespaces) -> list[Namespace]:
        return list_matching([namespace_of(path) for (path,) in await self._ask("paths", *self._place)], wanted)
