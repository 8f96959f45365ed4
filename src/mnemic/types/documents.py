"""Documents: JSON values that an application stores under a namespace and a key of its choice.

They are not memories: nothing extracts, guards, merges or audits them. They are separated by tenant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from mnemic.types.json_forms import Serialisable
from mnemic.types.values import Vector

Namespace = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document(Serialisable):
    """One document as it is stored. `value` is JSON data that the holder may change: it is a copy.

    `score` is there if it was found by a query: cosine (by vector) or BM25 (by words).
    """

    namespace: Namespace
    key: str
    value: dict[str, Any] = field(repr=False)
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetDocument:
    """One document, or None. `refresh` restarts its time to live."""

    namespace: Namespace
    key: str
    refresh: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FindDocuments:
    """The documents under `prefix` (whole segments) that `conditions` accept, `limit` of them from `offset`.

    Without a query the last changed come first. With a `vector` they are ordered by cosine, else with a `query` by
    BM25 over their texts; documents without either come last, without a score.
    """

    prefix: Namespace = ()
    conditions: Mapping[str, Any] = field(default_factory=dict)
    limit: int = 10
    offset: int = 0
    query: str | None = field(default=None, repr=False)
    vector: Vector | None = field(default=None, repr=False)
    refresh: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PutDocument:
    """Store `value` (JSON text), or delete the document if it is None. `vectors` replace the previous ones."""

    namespace: Namespace
    key: str
    value: str | None = field(default=None, repr=False)
    vectors: tuple[Vector, ...] = field(default=(), repr=False)
    ttl: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListNamespaces:
    """Return the namespaces with documents, cut to `max_depth` segments, each once, in order.

    Each must start with all of `prefixes` and end with all of `suffixes`; `*` matches any one segment.
    """

    prefixes: tuple[Namespace, ...] = ()
    suffixes: tuple[Namespace, ...] = ()
    max_depth: int | None = None
    limit: int = 100
    offset: int = 0


DocumentOperation = GetDocument | FindDocuments | PutDocument | ListNamespaces
DocumentAnswer = Document | list[Document] | list[Namespace] | None
