"""Identifiers of the memories of one scope by place, and the place of an identifier."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnemic.stores.columns import AppendOnlyColumn
from mnemic.types import Scored

_FIRST = 1 << 16
"""Number of places that a dict alone maps: older ones are sorted, and the dict has the latest."""

_LATE, _PART = 4096, 64
"""Places that wait in the dict then, and one in so many of those that are sorted."""

_TEXTS = 32_768
"""Maximum number of identifiers cached as text, of the places in use."""

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_UUIDS = re.compile(rf"{_UUID.pattern}(?: {_UUID.pattern})*+")
_NO_KEY = bytes(16)
_NEW_SCORED: Callable[[tuple[str, float]], Scored] = partial(tuple.__new__, Scored)


class NameLookup:
    """The last place of a name in a column that only grows and contains `key` of the name: four bytes a place, and a
    dict of the latest.
    """

    def __init__(self, column: AppendOnlyColumn, key: Callable[[Any], Hashable]) -> None:
        self._column = column
        self._key = key
        self._order = np.zeros(0, np.uint32)
        self._late: dict[Hashable, int] = {}

    @property
    def nbytes(self) -> int:
        """Memory in use, the dict by estimate."""
        return self._order.nbytes + 150 * len(self._late)

    def note_names(self, names: Sequence[Hashable]) -> None:
        """Record that the keys of these names were appended to the column."""
        end = len(self._column.all)
        self._late |= zip(names, range(end - len(names), end), strict=True)
        if len(self._late) > (_LATE + len(self._order) // _PART if len(self._order) else _FIRST):
            self.settle()

    def find(self, names: Sequence[Hashable]) -> NDArray[np.int64]:
        """Return the last place of each name, -1 if there is none."""
        found = np.array([self._late.get(name, -1) for name in names], np.int64)
        if len(self._order):
            missing = np.flatnonzero(found < 0)
            found[missing] = self._sorted_keys([self._key(names[number]) for number in missing.tolist()])
        return found

    def _sorted_keys(self, keys: Sequence[Hashable]) -> NDArray[np.int64]:
        keyed = self._column.all[: len(self._order)]
        wanted = np.array(keys, keyed.dtype)
        places = self._order[np.searchsorted(keyed, wanted, "right", sorter=self._order) - 1].astype(np.int64)
        return np.where(keyed[places] == wanted, places, -1)

    def settle(self) -> None:
        """Sort the latest names in among the others."""
        keys = self._column.all
        places = np.concatenate([self._order, np.arange(len(self._order), len(keys), dtype=np.uint32)])
        # Stable, so that of equal keys the last place comes last; two sorted runs, mostly, which it merges.
        self._order = places[np.argsort(keys[places], kind="stable")]
        self._late = {}


class Identifiers:
    """`row_id` and `memory_id` of each place. An identifier that is no UUID in its usual spelling is stored as text."""

    def __init__(self) -> None:
        self._rows = AppendOnlyColumn(np.int64)
        self._keys = AppendOnlyColumn("S16")
        self._by_row, self._by_name = NameLookup(self._rows, int), NameLookup(self._keys, _key)
        self._texts: dict[int, str] = {}
        self._odd: dict[int, str] = {}
        self._odd_places: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._rows.all)

    @property
    def nbytes(self) -> int:
        """Memory in use, dicts by estimate."""
        sorted_ones = self._by_row.nbytes + self._by_name.nbytes
        return self._rows.nbytes + self._keys.nbytes + sorted_ones + 300 * len(self._odd) + 200 * len(self._texts)

    @property
    def rows(self) -> NDArray[np.int64]:
        """The row of each place: a view, valid until the next `extend`."""
        return self._rows.all

    def extend(self, row_ids: Sequence[int], memory_ids: Sequence[str]) -> None:
        """Append further places."""
        first = len(self)
        self._rows.extend(row_ids)
        self._by_row.note_names(row_ids)
        keys = _keys(memory_ids)
        self._keys.extend(keys)
        self._by_name.note_names(memory_ids)
        for offset in np.flatnonzero(keys == b"").tolist():
            self._odd[first + offset] = memory_ids[offset]
            self._odd_places[memory_ids[offset]] = first + offset

    def settle(self) -> None:
        """Sort the latest names in among the others."""
        self._by_row.settle()
        self._by_name.settle()

    def of_rows(self, row_ids: Sequence[int]) -> NDArray[np.int64]:
        """Return the last place of each row, -1 if there is none."""
        return self._by_row.find(row_ids)

    def of_ids(self, memory_ids: Sequence[str]) -> NDArray[np.int64]:
        """Return the last place of each memory, -1 if there is none."""
        places = self._by_name.find(memory_ids)
        for number, memory_id in enumerate(memory_ids if self._odd else ()):
            if _key(memory_id) is _NO_KEY:
                places[number] = self._odd_places.get(memory_id, -1)
        return places

    def names_at(self, places: NDArray[Any]) -> list[str]:
        """Return the identifiers of these places."""
        chosen: list[int] = places.tolist()
        kept = self._texts
        unknown = [place for place in chosen if place not in kept]
        if unknown:
            if len(kept) + len(unknown) > _TEXTS:
                kept, unknown = {}, list(dict.fromkeys(chosen))
                self._texts = kept
            digits = self._keys.all[unknown].tobytes().hex()
            texts = (_text(digits[at : at + 32]) for at in range(0, len(digits), 32))
            kept.update(zip(unknown, texts, strict=True))
        if not self._odd:
            return list(map(kept.__getitem__, chosen))
        return [self._odd.get(place, kept[place]) for place in chosen]

    def newest(self, places: NDArray[Any], count: int) -> list[str]:
        """Return the `count` greatest identifiers of these places, greatest first."""
        if self._odd or len(places) <= count:
            return sorted(self.names_at(places), reverse=True)[:count]
        return self.names_at(places[np.argsort(self._keys.all[places])[: -count - 1 : -1]])

    def best(self, places: NDArray[np.int64], scores: NDArray[np.float64], limit: int) -> list[Scored]:
        """Return the places with the highest scores, best first, at most `limit`; among equals the newer memory."""
        if limit <= 0 or not len(places):
            return []
        worst = np.partition(scores, -limit)[-limit] if limit < len(scores) else scores.min()
        above = scores > worst
        better = zip(scores[above].tolist(), self.names_at(places[above]), strict=True)
        ranked = sorted(better, reverse=True)
        last = self.newest(places[scores == worst], limit - len(ranked))
        ranked += [(float(worst), memory_id) for memory_id in last]
        return [_NEW_SCORED((memory_id, score)) for score, memory_id in ranked]


def _key(memory_id: str) -> bytes:
    key = bytes.fromhex(memory_id.replace("-", "")) if _UUID.fullmatch(memory_id) else _NO_KEY
    return key if any(key) else _NO_KEY


def _keys(memory_ids: Sequence[str]) -> NDArray[np.bytes_]:
    together = " ".join(memory_ids)  # many are read in one piece if all are UUIDs
    if len(together) == 37 * len(memory_ids) - 1 and _UUIDS.fullmatch(together):
        return np.frombuffer(bytes.fromhex(together.replace("-", "")), "S16")
    return np.frombuffer(b"".join(map(_key, memory_ids)), "S16")


def _text(digits: str) -> str:
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
