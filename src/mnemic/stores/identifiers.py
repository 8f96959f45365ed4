"""The identifiers of a scope's memories by place, and the places by identifier, in some forty bytes a memory."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnemic.stores.growing import Growing

_LATE = 4096
"""Keys that wait in a dict before they are sorted, and one in `_PART` of those that are."""
_PART = 16
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_NO_KEY = bytes(16)


class Lookup:
    """The last place of a key in a column that only grows: four bytes a place, and a dict of the latest."""

    def __init__(self, column: Growing) -> None:
        self._column = column
        self._order = np.zeros(0, np.uint32)
        self._late: dict[Hashable, int] = {}

    @property
    def nbytes(self) -> int:
        """Memory in use, the dict by estimate."""
        return self._order.nbytes + 150 * len(self._late)

    def noted(self, keys: Sequence[Hashable]) -> None:
        """These keys were appended to the column."""
        end = len(self._column.all)
        self._late |= zip(keys, range(end - len(keys), end), strict=True)
        if len(self._late) > _LATE + len(self._order) // _PART:
            self._settle()

    def find(self, keys: Sequence[Hashable]) -> NDArray[np.int64]:
        """The last place of each key, -1 where there is none."""
        found = np.full(len(keys), -1, np.int64)
        if len(self._order) and keys:
            sorted_before = self._column.all[: len(self._order)]
            wanted = np.array(keys, self._column.all.dtype)
            places = self._order[np.searchsorted(sorted_before, wanted, "right", sorter=self._order) - 1]
            same = sorted_before[places] == wanted
            found[same] = places[same]
        for number, key in enumerate(keys):
            if key in self._late:
                found[number] = self._late[key]
        return found

    def _settle(self) -> None:
        keys = self._column.all
        places = np.concatenate([self._order, np.arange(len(self._order), len(keys), dtype=np.uint32)])
        # Stable, so that of equal keys the last place comes last; two sorted runs, mostly, which it merges.
        self._order = places[np.argsort(keys[places], kind="stable")]
        self._late = {}


class Identifiers:
    """`row_id` and `memory_id` of each place. An identifier that is no UUID in its usual spelling is kept as text."""

    def __init__(self) -> None:
        self._rows = Growing(np.int64)
        self._keys = Growing("S16")
        self._by_row, self._by_key = Lookup(self._rows), Lookup(self._keys)
        self._odd: dict[int, str] = {}
        self._odd_places: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._rows.all)

    @property
    def nbytes(self) -> int:
        """Memory in use, dicts by estimate."""
        sorted_ones = self._by_row.nbytes + self._by_key.nbytes
        return self._rows.nbytes + self._keys.nbytes + sorted_ones + 300 * len(self._odd)

    @property
    def rows(self) -> NDArray[np.int64]:
        """The row of each place: a view, valid until the next `extend`."""
        return self._rows.all

    def extend(self, row_ids: Sequence[int], memory_ids: Sequence[str]) -> None:
        """Append further places."""
        first = len(self)
        self._rows.extend(row_ids)
        self._by_row.noted(row_ids)
        keys = list(map(_key, memory_ids))
        self._keys.extend(np.frombuffer(b"".join(keys), "S16") if keys else [])
        self._by_key.noted(keys)
        for offset, (key, memory_id) in enumerate(zip(keys, memory_ids, strict=True)):
            if key is _NO_KEY:
                self._odd[first + offset] = memory_id
                self._odd_places[memory_id] = first + offset

    def of_rows(self, row_ids: Sequence[int]) -> NDArray[np.int64]:
        """The last place of each row, -1 where there is none."""
        return self._by_row.find(row_ids)

    def of_ids(self, memory_ids: Sequence[str]) -> NDArray[np.int64]:
        """The last place of each memory, -1 where there is none."""
        keys = list(map(_key, memory_ids))
        places = self._by_key.find(keys)
        for number, key in enumerate(keys):
            if key is _NO_KEY:
                places[number] = self._odd_places.get(memory_ids[number], -1)
        return places

    def named(self, places: NDArray[Any]) -> list[str]:
        """The identifiers of these places."""
        texts = map(_text, self._keys.all[places].tolist())
        if not self._odd:
            return list(texts)
        return [self._odd.get(place, text) for place, text in zip(places.tolist(), texts, strict=True)]

    def newest(self, places: NDArray[Any], count: int) -> list[str]:
        """Of the identifiers of these places the `count` greatest, the greatest first."""
        if self._odd or len(places) <= count:
            return sorted(self.named(places), reverse=True)[:count]
        return self.named(places[np.argsort(self._keys.all[places])[: -count - 1 : -1]])


def _key(memory_id: str) -> bytes:
    key = bytes.fromhex(memory_id.replace("-", "")) if _UUID.fullmatch(memory_id) else _NO_KEY
    return key if any(key) else _NO_KEY


def _text(key: bytes) -> str:
    # numpy leaves out the zeros at the end of a key.
    digits = key.ljust(16, b"\0").hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
