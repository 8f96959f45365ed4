"""Memories in PostgreSQL with pgvector."""

from mnemic.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
