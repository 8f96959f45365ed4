"""Memories in one SQLite file: rows, history, vectors, terms, audit and outbox, committed together."""

from __future__ import annotations

from mnemic.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
