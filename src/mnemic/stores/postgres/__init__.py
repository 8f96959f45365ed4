"""Memories in PostgreSQL: rows, history, vectors, postings, audit and outbox, committed together."""

from __future__ import annotations

from mnemic.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
