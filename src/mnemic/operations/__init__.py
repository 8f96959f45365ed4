"""Operations on whole stores: backup, restore, salvage, inspection, move to another store, another embedder.

Each function opens the store that it is given by its URL; none is needed to add, search or capture.
"""

from __future__ import annotations

from mnemic.operations.store_operations import backup_store, move_store, reembed_store, restore_store, salvage_store

__all__ = ["backup_store", "move_store", "reembed_store", "restore_store", "salvage_store"]
