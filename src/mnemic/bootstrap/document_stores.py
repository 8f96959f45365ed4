"""Addresses to stores of documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemic.bootstrap.copies_and_replicas import plain, routed
from mnemic.bootstrap.plugin_backends import backend
from mnemic.bootstrap.record_stores import sqlite_path
from mnemic.errors import NotSupported

if TYPE_CHECKING:
    from mnemic.ports import DocumentStore


def build_documents(location: str) -> DocumentStore:
    """Return the documents in the store at `location`: a path, `sqlite:///path`, `postgresql://...` or a URL whose
    scheme a plug-in offers. Raises NotSupported for `memory:`.
    """
    if location == "memory:":
        raise NotSupported("documents:memory", hint="documents are kept; LangGraph has an InMemoryStore")
    if (build := backend("document_stores", location)) is not None:
        documents: DocumentStore = build(plain(location), **routed(location))
        return documents
    from mnemic_sqlite.documents import SqliteDocuments

    return SqliteDocuments(sqlite_path(location))
