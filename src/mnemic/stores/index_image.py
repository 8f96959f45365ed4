"""Image of a search index: its columns one after the other, as they are in memory, so that a new process takes them
over instead of building them from rows.

An image begins with its head in JSON, one line, which gives type, length and checksum of each column. The values are
those of this program's index and nothing else: no code is run to read them, and an unexpected type is refused.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from mnemic.stores.columns import AppendOnlyColumn, SparseColumn
from mnemic.stores.identifiers import Identifiers, NameLookup
from mnemic.stores.postings import Postings, PostingsSegment
from mnemic.stores.scope_index import ScopeIndex
from mnemic.stores.vectors import QuantisedVectors, Vectors

FORMAT = 1
"""To be raised with every change in the meaning of a column: an image of another format is not read."""

_ALIGNED = 64
"""Bytes, a cache line: columns begin at multiples of it, so that numpy reads them in place."""
_OWN = (AppendOnlyColumn, SparseColumn, Postings, Vectors, QuantisedVectors, Identifiers, NameLookup)
_COLUMNS = ("_identifiers", "_vectors", "_named", "_said", "_cues", "_happened", "_times", "_content", "_context")
_DERIVED = frozenset({"_column", "_key", "_late", "_waiting"})
"""Attributes that are not in an image: they refer to other columns, or are empty once an index is settled."""


class UnusableImage(ValueError):
    """The bytes are no image, or not one that this index can load."""


def write(index: ScopeIndex, file: BinaryIO, mark: Mapping[str, Any]) -> None:
    """Write the index to `file`; `mark` is stored in its head. Raises OSError."""
    index.settle()
    arrays: list[NDArray[Any]] = []
    columns = {name: _describe_value(vars(index)[name], arrays) for name in _COLUMNS}
    lengths = [array.nbytes for array in arrays]
    checks = [zlib.crc32(_bytes(array)) for array in arrays]
    said = {"names": index.names, "live": len(index), "seen": index.seen, "columns": columns}
    head = json.dumps({"format": FORMAT, "mark": dict(mark), "lengths": lengths, "checks": checks} | said).encode()
    # The checksum of the head comes first, in eight digits, so that a damaged head is never parsed.
    checked = b"%08x" % zlib.crc32(head) + head + b"\n"
    file.write(checked + bytes(-len(checked) % _ALIGNED))
    for array in arrays:
        file.write(_bytes(array))
        file.write(bytes(-array.nbytes % _ALIGNED))


def read(data: bytearray, index: ScopeIndex, mark: Mapping[str, Any]) -> None:
    """Let `index`, an empty one, load the image in `data`; it uses these bytes from then on. Raises Unfit if they are
    damaged, of another format, or have another mark; the index is of no use then.
    """
    try:
        end = data.index(b"\n") + 1
        said = bytes(data[8 : end - 1])
        if int(data[:8], 16) != zlib.crc32(said):
            raise UnusableImage("head")
        head = json.loads(said)
        if head["format"] != FORMAT or head["mark"] != dict(mark):
            raise UnusableImage("mark")
        parts, at = [], end + -end % _ALIGNED
        for length, check in zip(head["lengths"], head["checks"], strict=True):
            part = memoryview(data)[at : at + length]
            if len(part) != length or zlib.crc32(part) != check:
                raise UnusableImage("column")
            parts.append(part)
            at += length + -length % _ALIGNED
        for name in _COLUMNS:
            _restore(vars(index), name, head["columns"][name], parts)
        index.taken_over(head["names"], live=head["live"], seen=head["seen"])
    except UnusableImage:
        raise
    # A file may contain anything. For any error in its shape, the index is built from rows instead.
    except (KeyError, TypeError, IndexError, ValueError, AttributeError, RecursionError) as error:
        raise UnusableImage("shape") from error


def _bytes(array: NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _describe_value(value: Any, arrays: list[NDArray[Any]]) -> Any:
    """Return the JSON form of a value, its arrays moved into `arrays`."""
    if isinstance(value, AppendOnlyColumn):
        return {"room": _describe_value(value.all, arrays)} | _numbers(value)
    if isinstance(value, PostingsSegment):
        return {"part": [_describe_value(one, arrays) for one in value]}
    if isinstance(value, _OWN):
        return {name: _describe_value(one, arrays) for name, one in vars(value).items() if name not in _DERIVED}
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1, "type": value.dtype.descr, "shape": value.shape}
    if isinstance(value, Mapping):
        return {"pairs": [[key, _describe_value(one, arrays)] for key, one in value.items()]}
    if isinstance(value, list):
        return {"items": [_describe_value(one, arrays) for one in value]}
    return {"value": value}


def _numbers(column: AppendOnlyColumn) -> dict[str, Any]:
    return {name: value for name, value in vars(column).items() if isinstance(value, int) and name != "_size"}


def _restore(holder: dict[str, Any], name: str, said: Any, parts: list[memoryview]) -> None:
    """Give the attribute `name` the value that was described: a column in place, for other columns refer to it."""
    present = holder[name]
    if isinstance(present, AppendOnlyColumn) and "room" in said:
        present.take_over(_array(said["room"], parts))
        vars(present).update({key: int(value) for key, value in said.items() if key in _numbers(present)})
    elif isinstance(present, _OWN) and said != {"value": None}:
        for attribute in vars(present):
            if attribute not in _DERIVED:
                _restore(vars(present), attribute, said[attribute], parts)
    elif isinstance(present, Mapping) and present and isinstance(next(iter(present.values())), _OWN):
        for key, one in said["pairs"]:
            _restore(holder[name], key, one, parts)
    elif isinstance(present, list) and present and isinstance(present[0], _OWN):
        for column, one in zip(present, said["items"], strict=True):
            _restore({"column": column}, "column", one, parts)
    else:
        holder[name] = _value(said, parts)


def _value(said: Any, parts: list[memoryview]) -> Any:
    if "array" in said:
        return _array(said, parts)
    if "part" in said:
        return PostingsSegment(*(_value(one, parts) for one in said["part"]))
    if "items" in said:
        return [_value(one, parts) for one in said["items"]]
    if "pairs" in said:
        return {key: _value(one, parts) for key, one in said["pairs"]}
    return said["value"]


def _array(said: Any, parts: list[memoryview]) -> NDArray[Any]:
    fields = [tuple(one) for one in said["type"]]
    kind = np.dtype(fields[0][1]) if len(fields) == 1 and not fields[0][0] else np.dtype(fields)
    # A column of objects would take the bytes of the file for addresses.
    if kind.hasobject:
        raise UnusableImage("type")
    part = parts[said["array"]]
    return np.frombuffer(part, kind).reshape(said["shape"]) if len(part) else np.zeros(said["shape"], kind)
