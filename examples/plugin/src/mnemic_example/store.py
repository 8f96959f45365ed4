"""A record store. A real one implements `mnemic.ports.RecordStore` and passes `mnemic.testing.record_store`."""

from __future__ import annotations

from typing import Any

from mnemic.ports import RecordStore
from mnemic.stores.in_memory_store import InProcessStore


class ExampleStore(InProcessStore):
    """The dictionaries of mnemic under another address."""

    def __init__(self, location: str) -> None:
        super().__init__()
        self.location = location


def build(location: str, **options: Any) -> RecordStore:
    """Return the store at `location`; `options` are `durability`, `keyring` and `seals`."""
    return ExampleStore(location)
