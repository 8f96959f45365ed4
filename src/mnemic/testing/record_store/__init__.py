"""Contract of every record store, as one pytest class.

A backend's suite is a subclass that creates its store:

    class TestMyStore(RecordStoreContract):
        def new_store(self, folder: Path) -> RecordStore:
            return MyStore(folder / "memories")

If the store declares `shared`, `new_store` is called several times for one folder and reaches the same data; if it
declares `durable`, a second time after the first was closed.
"""

from __future__ import annotations

import pytest

for _part in (
    "setting",
    "writing",
    "reading",
    "believing",
    "searching",
    "surrounding",
    "trail",
    "sharing",
    "keeping",
    "spaces",
    "dimensions",
    "damaging",
):
    pytest.register_assert_rewrite(f"{__name__}.{_part}")

from mnemic.testing.record_store.audit_and_outbox import TrailContract  # noqa: E402
from mnemic.testing.record_store.concurrency import SharingContract  # noqa: E402
from mnemic.testing.record_store.fixtures import EMBEDDER, Setting, memory, remember, scope  # noqa: E402
from mnemic.testing.record_store.graph_search import SurroundingContract  # noqa: E402
from mnemic.testing.record_store.maintenance import KeepingContract  # noqa: E402
from mnemic.testing.record_store.plain_reads import BelievingContract, ReadingContract  # noqa: E402
from mnemic.testing.record_store.ranked_lists import SearchingContract  # noqa: E402
from mnemic.testing.record_store.row_damage import DamagingContract  # noqa: E402
from mnemic.testing.record_store.spaces import DimensionsContract, SpacesContract  # noqa: E402
from mnemic.testing.record_store.transactions import WritingContract  # noqa: E402

__all__ = ["EMBEDDER", "RecordStoreContract", "Setting", "memory", "remember", "scope"]


class RecordStoreContract(
    WritingContract,
    ReadingContract,
    BelievingContract,
    SearchingContract,
    SurroundingContract,
    TrailContract,
    SharingContract,
    KeepingContract,
    SpacesContract,
    DimensionsContract,
    DamagingContract,
):
    """Everything `mnemic.ports.RecordStore` promises, as tests. Subclass it and define `new_store`."""
