"""Operations on whole stores: backup, restore, salvage, inspection, move to another store, another embedder.

Each function opens the store that it is given by its URL; none is needed to add, search or capture.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mnemic.operations.reembedding import reembed_store
    from mnemic.operations.store_operations import backup_store, move_store, restore_store, salvage_store

__all__ = ["backup_store", "move_store", "reembed_store", "restore_store", "salvage_store"]


def __getattr__(name: str) -> Any:
    # Loaded late: the module of a backend that imports the manifest of a backup may not load the jobs of the core.
    if name not in __all__:
        raise AttributeError(f"module 'mnemic.operations' has no attribute {name!r}")
    module = "reembedding" if name == "reembed_store" else "store_operations"
    return getattr(import_module(f"mnemic.operations.{module}"), name)
