"""Memories in PostgreSQL: rows, history, vectors, postings, audit and outbox, committed together; and documents."""

from __future__ import annotations

from mnemic.stores.postgres.documents import PostgresDocuments
from mnemic.stores.postgres.store import PostgresStore

__all__ = ["PostgresDocuments", "PostgresStore"]
