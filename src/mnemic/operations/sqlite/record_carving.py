"""Record carving: read records page by page from a damaged file, without the B-tree that connects the pages.

The format is SQLite's own (https://sqlite.org/fileformat2.html): rows are in leaf pages of tables and in the pages of
tables without row identifiers; long records continue in overflow pages. The write-ahead log is applied first, up to its
last commit.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

_TABLE_LEAF, _INDEX_LEAF, _INDEX_INTERIOR = 0x0D, 0x0A, 0x02
_HEADERS = {_TABLE_LEAF: 8, _INDEX_LEAF: 8, _INDEX_INTERIOR: 12}
_SIZES = tuple(1 << power for power in range(9, 17))
_DEFAULT_SIZE = 4096
_FILE_HEADER = 100
_WAL_HEADER, _FRAME_HEADER = 32, 24
_WAL_MAGIC = (0x377F0682, 0x377F0683)
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_MAX_BYTES = 1 << 30


class Record(NamedTuple):
    """One row: the number it has in a table with row identifiers, else None, and its values, texts as bytes."""

    row_id: int | None
    values: tuple[Any, ...]


class Text(bytes):
    """The bytes of a text, which need not be UTF-8 any more."""


def records(path: Path) -> Iterator[Record]:
    """Yield every record that can be read in the pages of the file; unreadable ones are omitted."""
    pages = _Pages(path)
    for number in range(1, pages.count + 1):
        yield from pages.records(number)


class _Pages:
    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        (size,) = struct.unpack_from(">H", data, 16) if len(data) >= _FILE_HEADER else (0,)
        size = 65536 if size == 1 else size
        # A store is made with the default; a header with an impossible value is damaged.
        self._size = size if size in _SIZES else _DEFAULT_SIZE
        reserved = data[20] if len(data) > 20 and data[20] <= 32 else 0
        self._usable = self._size - reserved
        self._data = data
        self._newer = _pages_in_log(Path(f"{path}-wal"), self._size)
        self.count = max([len(data) // self._size, *self._newer])

    def page(self, number: int) -> bytes:
        """Return the newest committed contents of a page; empty for one that is not there."""
        if number in self._newer:
            return self._newer[number]
        start = (number - 1) * self._size
        return self._data[start : start + self._size] if number > 0 else b""

    def records(self, number: int) -> Iterator[Record]:
        """Yield the records with cells in this page."""
        page = self.page(number)
        start = _FILE_HEADER if number == 1 else 0
        if len(page) < self._size or page[start] not in _HEADERS:
            return
        kind = page[start]
        (cells,) = struct.unpack_from(">H", page, start + 3)
        first = start + _HEADERS[kind]
        for place in range(first, min(first + 2 * cells, self._size - 1), 2):
            try:
                (at,) = struct.unpack_from(">H", page, place)
                yield self._record(page, at, kind)
            except (IndexError, ValueError, struct.error, OverflowError):
                continue

    def _record(self, page: bytes, at: int, kind: int) -> Record:
        if kind == _INDEX_INTERIOR:
            at += 4
        length, at = _varint(page, at)
        row_id = None
        if kind == _TABLE_LEAF:
            row_id, at = _varint(page, at)
            row_id -= (row_id >> 63) << 64
        return Record(row_id, _values(self._payload(page, at, length, table=kind == _TABLE_LEAF)))

    def _payload(self, page: bytes, at: int, length: int, *, table: bool) -> bytes:
        if length > _MAX_BYTES:
            raise ValueError("too long")
        usable = self._usable
        most = usable - 35 if table else (usable - 12) * 64 // 255 - 23
        if length <= most:
            return page[at : at + length]
        least = (usable - 12) * 32 // 255 - 23
        here = least + (length - least) % (usable - 4)
        here = here if here <= most else least
        parts, left = [page[at : at + here]], length - here
        (following,) = struct.unpack_from(">I", page, at + here)
        while left > 0:
            further = self.page(following)
            if len(further) < self._size:
                raise ValueError("no such page")
            parts.append(further[4 : min(usable, 4 + left)])
            left -= usable - 4
            (following,) = struct.unpack_from(">I", further)
        return b"".join(parts)


def _pages_in_log(log: Path, size: int) -> dict[int, bytes]:
    """Return the pages in a write-ahead log, as of the last commit in it."""
    data = log.read_bytes() if log.is_file() else b""
    if len(data) < _WAL_HEADER or struct.unpack_from(">I", data)[0] not in _WAL_MAGIC:
        return {}
    salts = data[16:24]
    committed: dict[int, bytes] = {}
    pending: dict[int, bytes] = {}
    for at in range(_WAL_HEADER, len(data) - _FRAME_HEADER - size + 1, _FRAME_HEADER + size):
        number, total = struct.unpack_from(">II", data, at)
        if data[at + 8 : at + 16] != salts:
            break
        pending[number] = data[at + _FRAME_HEADER : at + _FRAME_HEADER + size]
        if total:
            committed |= pending
            pending.clear()
    return committed


def _varint(data: bytes, at: int) -> tuple[int, int]:
    found = 0
    for place in range(8):
        byte = data[at + place]
        found = found << 7 | byte & 0x7F
        if byte < 0x80:
            return found, at + place + 1
    return found << 8 | data[at + 8], at + 9


def _values(payload: bytes) -> tuple[Any, ...]:
    """Return the values of a record. Raises ValueError or IndexError if the payload is no record."""
    size, at = _varint(payload, 0)
    if not 1 <= size <= len(payload):
        raise ValueError("no record")
    body, values = size, []
    while at < size:
        kind, at = _varint(payload, at)
        value, body = _value(payload, kind, body)
        values.append(value)
    if body != len(payload):
        raise ValueError("no record")
    return tuple(values)


def _value(payload: bytes, kind: int, at: int) -> tuple[Any, int]:
    if kind in (0, 8, 9):
        return (None, 0, 1)[(0, 8, 9).index(kind)], at
    if kind in _INTEGERS:
        end = at + _INTEGERS[kind]
        return int.from_bytes(payload[at:end], "big", signed=True), _payload_in_page(payload, end)
    if kind == 7:
        return struct.unpack_from(">d", payload, at)[0], _payload_in_page(payload, at + 8)
    if kind < 12:
        raise ValueError("no such type")
    end = _payload_in_page(payload, at + (kind - 12) // 2)
    return (Text if kind % 2 else bytes)(payload[at:end]), end


def _payload_in_page(payload: bytes, end: int) -> int:
    if end > len(payload):
        raise ValueError("no record")
    return end
