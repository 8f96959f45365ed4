"""LangGraph's operations as documents', and documents as LangGraph's items."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from langgraph.store.base import (
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)

from mnemic.types import (
    Document,
    DocumentAnswer,
    DocumentOperation,
    FindDocuments,
    GetDocument,
    ListNamespaces,
    PutDocument,
    Vector,
)


@dataclass(slots=True)
class Batch:
    """A batch on its way: the operations, and the texts that must be embedded before it can be applied.

    `places[n]` is the number of the operation that the vector of `texts[n]` belongs to.
    """

    operations: list[DocumentOperation]
    documents: dict[int, list[str]] = field(default_factory=dict)
    queries: dict[int, str] = field(default_factory=dict)

    @property
    def texts(self) -> list[str]:
        """The documents' texts, in the order in which `embedded` takes their vectors."""
        return [text for texts in self.documents.values() for text in texts]

    def set_vectors(self, vectors: Sequence[Sequence[float]], queries: Sequence[Sequence[float]], dims: int) -> None:
        """Put the vectors of `texts` and of `queries` into the operations. Raises ValueError for the wrong number of
        vectors or of dimensions; nothing has been written then.
        """
        if len(vectors) != len(self.texts) or len(queries) != len(self.queries):
            raise ValueError("the embedding function returned another number of vectors than it was given texts")
        left = iter(vectors)
        for place, texts in self.documents.items():
            packed = (_pack_unit_vector(next(left), dims) for _ in texts)
            put = self.operations[place]
            assert isinstance(put, PutDocument)
            self.operations[place] = replace(put, vectors=tuple(one for one in packed if one is not None))
        for place, vector in zip(self.queries, queries, strict=True):
            find = self.operations[place]
            assert isinstance(find, FindDocuments)
            self.operations[place] = replace(find, vector=_pack_unit_vector(vector, dims))


class Paths:
    """Texts of a value that are embedded: those at the configured fields, or at those a put names itself."""

    def __init__(self, index: IndexConfig | None) -> None:
        fields = (index or {}).get("fields") or ["$"]
        self._indexed = index is not None
        self._default = [_tokens(path) for path in fields]

    def texts(self, put: PutOp) -> list[str]:
        """Return the texts of one put to embed; none if it is a deletion or asks not to be indexed."""
        if not self._indexed or put.value is None or put.index is False:
            return []
        paths = self._default if put.index is None else [_tokens(path) for path in put.index]
        return [text for path in paths for text in get_text_at_path(put.value, path) if text]


def _tokens(path: str) -> list[str] | str:
    return path if path == "$" else tokenize_path(path)


def batch_of(ops: Iterable[Op], paths: Paths, *, semantic: bool) -> Batch:
    """Return the whole batch checked and translated. Raises InvalidNamespaceError, TypeError for a value that is not
    JSON, ValueError for an unknown operation.
    """
    batch = Batch(operations=[])
    for place, op in enumerate(ops):
        validate_op_namespace(op)
        batch.operations.append(_operation(op))
        if isinstance(op, PutOp) and (texts := paths.texts(op)):
            batch.documents[place] = texts
        if semantic and isinstance(op, SearchOp) and op.query:
            batch.queries[place] = op.query
    return batch


def _operation(op: Op) -> DocumentOperation:
    if isinstance(op, GetOp):
        return GetDocument(namespace=tuple(op.namespace), key=str(op.key), refresh=op.refresh_ttl)
    if isinstance(op, PutOp):
        value = None if op.value is None else json_text(op.value)
        ttl = None if op.ttl is None else timedelta(minutes=op.ttl)
        return PutDocument(namespace=tuple(op.namespace), key=str(op.key), value=value, ttl=ttl)
    if isinstance(op, SearchOp):
        return FindDocuments(
            prefix=tuple(op.namespace_prefix),
            conditions=op.filter or {},
            limit=op.limit,
            offset=op.offset,
            query=op.query or None,
            refresh=op.refresh_ttl,
        )
    if isinstance(op, ListNamespacesOp):
        matching = op.match_conditions or ()
        return ListNamespaces(
            prefixes=tuple(tuple(one.path) for one in matching if one.match_type == "prefix"),
            suffixes=tuple(tuple(one.path) for one in matching if one.match_type == "suffix"),
            max_depth=op.max_depth,
            limit=op.limit,
            offset=op.offset,
        )
    raise ValueError(f"Unknown operation type: {type(op)}")


def json_text(value: Any) -> str:
    """`value` as JSON. Raises TypeError for values that JSON cannot express, half surrogates and NaN included."""
    _check_names(value)
    try:
        text = json.dumps(_plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text.encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise TypeError("the value is not JSON: it contains NaN, infinity, half a surrogate or itself") from error
    return text


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) and not isinstance(value, dict) else value


def _check_names(value: Any) -> None:
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) for name in value):
            raise TypeError("the names of a value's fields must be texts")
        for inner in value.values():
            _check_names(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _check_names(inner)


def result_of(op: Op, answer: DocumentAnswer) -> Result:
    """Return the answer to one operation as LangGraph spells it."""
    if isinstance(op, SearchOp):
        assert isinstance(answer, list)
        return [_search_item(document) for document in answer if isinstance(document, Document)]
    if isinstance(answer, Document):
        return Item(
            value=answer.value,
            key=answer.key,
            namespace=answer.namespace,
            created_at=answer.created_at,
            updated_at=answer.updated_at,
        )
    return [one for one in answer if isinstance(one, tuple)] if isinstance(answer, list) else None


def _search_item(document: Document) -> SearchItem:
    return SearchItem(
        namespace=document.namespace,
        key=document.key,
        value=document.value,
        created_at=document.created_at,
        updated_at=document.updated_at,
        score=document.score,
    )


def _pack_unit_vector(vector: Sequence[float], dims: int) -> Vector | None:
    """Return a vector of unit length; None for the zero vector, which points nowhere."""
    if len(vector) != dims:
        raise ValueError(
            f"the embedding function returned {len(vector)} dimensions, the index is configured for {dims}"
        )
    length = math.sqrt(math.fsum(value * value for value in vector))
    if not math.isfinite(length):
        raise ValueError("the embedding function returned a value that is not finite")
    return array("f", [value / length for value in vector]).tobytes() if length else None
