"""Ports of the engine. The docstrings are obligations that `mnemic.testing` checks.

An implementation raises only errors of `mnemic.errors`, never those of a driver.
"""

from __future__ import annotations

from mnemic.ports.further_stores import DocumentStore, GraphStore, SessionStore
from mnemic.ports.keyring import Keyring, Reseal
from mnemic.ports.projections import Outbox
from mnemic.ports.providers import (
    Clock,
    Completer,
    Embedder,
    EmbedsQueries,
    JudgesAnswers,
    JudgesChanges,
    JudgesKeeping,
    ModelLoading,
    Reranker,
)
from mnemic.ports.record_store import (
    AuditLog,
    ChangeFeed,
    MarkLock,
    Reads,
    RecordStore,
    Sealing,
    SecondSpace,
    Snapshot,
    Transaction,
    VectorPrefetch,
)
from mnemic.types.store_reads import Capabilities, ScopeChanges

__all__ = [
    "AuditLog",
    "Capabilities",
    "ChangeFeed",
    "Clock",
    "Completer",
    "DocumentStore",
    "Embedder",
    "EmbedsQueries",
    "GraphStore",
    "JudgesAnswers",
    "JudgesChanges",
    "JudgesKeeping",
    "Keyring",
    "MarkLock",
    "ModelLoading",
    "Outbox",
    "Reads",
    "RecordStore",
    "Reranker",
    "Reseal",
    "ScopeChanges",
    "Sealing",
    "SecondSpace",
    "SessionStore",
    "Snapshot",
    "Transaction",
    "VectorPrefetch",
]
