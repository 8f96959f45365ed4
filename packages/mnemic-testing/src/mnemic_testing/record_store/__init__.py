"""The contract every record store keeps, as one pytest class.

A backend's suite is a subclass that says how to make a store:

    class TestMyStore(RecordStoreContract):
        def new_store(self, folder: Path) -> RecordStore:
            return MyStore(folder / "memories")

Where the store declares `shared`, `new_store` is called several times for one folder and reaches the same data;
where it declares `durable`, a second time after the first was closed.
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

from mnemic_testing.record_store.believing import BelievingContract  # noqa: E402
from mnemic_testing.record_store.damaging import DamagingContract  # noqa: E402
from mnemic_testing.record_store.dimensions import DimensionsContract  # noqa: E402
from mnemic_testing.record_store.keeping import KeepingContract  # noqa: E402
from mnemic_testing.record_store.reading import ReadingContract  # noqa: E402
from mnemic_testing.record_store.searching import SearchingContract  # noqa: E402
from mnemic_testing.record_store.setting import EMBEDDER, Setting, memory, remember, scope  # noqa: E402
from mnemic_testing.record_store.sharing import SharingContract  # noqa: E402
from mnemic_testing.record_store.spaces import SpacesContract  # noqa: E402
from mnemic_testing.record_store.surrounding import SurroundingContract  # noqa: E402
from mnemic_testing.record_store.trail import TrailContract  # noqa: E402
from mnemic_testing.record_store.writing import WritingContract  # noqa: E402

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
    """Everything `mnemic.ports.RecordStore` promises, as tests. Subclass it and give `new_store`."""
