"""Common parts of every document store: the check of a batch, names of namespaces, rows as documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.stores.codec import from_micros, load
from mnemic.stores.document_order import check_conditions
from mnemic.types import (
    Document,
    DocumentOperation,
    FindDocuments,
    ListNamespaces,
    Namespace,
    PutDocument,
    checked_identifier,
)


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
