"""Memories in Apache Cassandra: a user's rows in one partition, committed together by a lightweight transaction."""

from __future__ import annotations

from mnemic.stores.cassandra.store import CassandraStore

__all__ = ["CassandraStore"]
