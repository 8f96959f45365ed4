"""Record store over ten verbs of a database: audit chain, outbox, idempotency, usage, vector spaces, sealing, time
travel and traces are implemented here once.

`RowStore` (`mnemic.ports.database_backend`) is the database's side, `LayeredStore` the engine's.
"""

from __future__ import annotations

from mnemic.stores.row_store_adapter.store import LayeredStore

__all__ = ["LayeredStore"]
