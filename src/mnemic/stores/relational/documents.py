"""Reads of an application's documents on the tables of one tenant (`sql/documents.sql`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from mnemic.stores.codec import load
from mnemic.stores.documents import (
    accepts,
    best_first,
    document_of,
    end_of,
    keyword_scores,
    list_matching,
    namespace_of,
    path_of,
    texts_in,
)
from mnemic.stores.relational.statements import Ask
from mnemic.types import (
    DocumentAnswer,
    DocumentOperation,
    FindDocuments,
    GetDocument,
    ListNamespaces,
    Namespace,
    Vector,
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
