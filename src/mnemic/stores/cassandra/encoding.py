"""Rows and keys as bytes: keys sort as their values do, rows preserve the types of their values."""

from __future__ import annotations

import struct

from mnemic.ports.database_backend import Row

_TEXT, _NUMBER = b"\x02", b"\x03"
_END = b"\xff"
"""Greater than the first byte of every value."""

_LOW = 1 << 63


def sortable_key(values: Row) -> bytes:
    """Return the values of a key as bytes that sort as the values do: text byte by byte, integers by value."""
    return b"".join(map(_sorting, values))


def end_of(prefix: Row) -> bytes:
    """Return the smallest bytes after every key that begins with `prefix`."""
    return sortable_key(prefix) + _END


def _sorting(value: str | int) -> bytes:
    if isinstance(value, int):
        return _NUMBER + (value + _LOW).to_bytes(8, "big")
    return _TEXT + value.encode("utf-8", "surrogatepass").replace(b"\x00", b"\x00\xff") + b"\x00\x00"


def pack_row(row: Row) -> bytes:
    """Return a row as bytes."""
    return b"".join(map(_pack_value, row))


def _pack_value(value: object) -> bytes:
    if value is None:
        return b"n"
    if isinstance(value, int):
        return b"i" + struct.pack(">q", value)
    kind, data = (b"s", value.encode("utf-8", "surrogatepass")) if isinstance(value, str) else (b"b", value)
    assert isinstance(data, bytes)
    return kind + struct.pack(">I", len(data)) + data


def unpack_row(data: bytes) -> Row:
    """Return the row of `packed`."""
    row: list[object] = []
    at = 0
    while at < len(data):
        kind, at = data[at : at + 1], at + 1
        if kind == b"n":
            row.append(None)
        elif kind == b"i":
            row.append(struct.unpack_from(">q", data, at)[0])
            at += 8
        else:
            (size,) = struct.unpack_from(">I", data, at)
            value = data[at + 4 : at + 4 + size]
            row.append(value.decode("utf-8", "surrogatepass") if kind == b"s" else value)
            at += 4 + size
    return tuple(row)
