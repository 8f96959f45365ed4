"""A record store over ten verbs of a database: the audit chain, the outbox, idempotency, usage, vector spaces, sealing,
time travel and traces are written here once.

`RowStore` (`mnemic.ports.row_store`) is what a database gives, `LayeredStore` what the engine uses.
"""

from __future__ import annotations

from mnemic.stores.layered.store import LayeredStore

__all__ = ["LayeredStore"]
