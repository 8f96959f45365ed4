"""Just enough of ONNX's file format to read the weights of one graph and to write another. No `onnx` package needed.

Field numbers are those of onnx.proto (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto), the encoding that of
https://protobuf.dev/programming-guides/encoding/.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FLOAT, UINT8, INT8, INT32, INT64, BOOL = 1, 2, 3, 6, 7, 9
_NUMPY_NAMES = {FLOAT: "<f4", UINT8: "u1", INT8: "i1", INT32: "<i4", INT64: "<i8", BOOL: "?"}
_IR_VERSION = 8
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def read_weights(model: bytes) -> dict[str, NDArray[np.generic]]:
    """The initializers of a serialised ModelProto by name, as views into `model`. Other bytes are not expected."""
    import numpy as np

    weights: dict[str, NDArray[np.generic]] = {}
    graph = dict(_fields(memoryview(model)))[7]
    for number, tensor in _fields(_message(graph)):
        if number == 5:
            dims, name, kind, raw = _tensor(_message(tensor))
            weights[name] = np.frombuffer(raw, _NUMPY_NAMES[kind]).reshape(dims)
    return weights


def _tensor(message: memoryview) -> tuple[list[int], str, int, memoryview]:
    dims: list[int] = []
    name, kind, raw = "", 0, memoryview(b"")
    for number, value in _fields(message):
        if number == 1:
            dims += [value] if isinstance(value, int) else _packed(value)
        elif number == 2 and isinstance(value, int):
            kind = value
        elif number == 8:
            name = bytes(_message(value)).decode()
        elif number == 9:
            raw = _message(value)
    return dims, name, kind, raw


def _message(value: int | memoryview) -> memoryview:
    if isinstance(value, int):
        raise ValueError("not an ONNX model")
    return value


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    place = 0
    while place < len(message):
        tag, place = _read_varint(message, place)
        wire = tag & 7
        if wire == _VARINT:
            value, place = _read_varint(message, place)
            yield tag >> 3, value
            continue
        size = {_FIXED64: 8, _FIXED32: 4}.get(wire)
        if size is None:
            size, place = _read_varint(message, place)
        yield tag >> 3, message[place : place + size]
        place += size


def _packed(message: memoryview) -> list[int]:
    values: list[int] = []
    place = 0
    while place < len(message):
        value, place = _read_varint(message, place)
        values.append(value)
    return values


def _read_varint(message: memoryview, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        place += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, place


class GraphWriter:
    """Collects nodes and weights of one graph; a method returns the name of what it added, for the next node to use."""

    def __init__(self, opsets: Mapping[str, int]) -> None:
        self._opsets = opsets
        self._nodes: list[bytes] = []
        self._weights: dict[str, tuple[bytes, memoryview]] = {}

    def weight(self, name: str, values: NDArray[np.generic]) -> str:
        """Add a constant tensor."""
        import numpy as np

        kinds = [kind for kind, spelled in _NUMPY_NAMES.items() if np.dtype(spelled) == values.dtype]
        if not kinds:
            raise ValueError(f"no ONNX type for {values.dtype}")
        dims = b"".join(_field(1, size) for size in values.shape)
        raw = np.ascontiguousarray(values).data.cast("B")
        self._weights[name] = dims + _field(2, kinds[0]) + _field(8, name) + _header(9, len(raw)), raw
        return name

    def node(
        self, op: str, inputs: Sequence[str], output: str, *more: str, domain: str = "", **attributes: float | list[int]
    ) -> str:
        """Add an operation; `output` and `more` name its results. Whole-number attributes are written as INT."""
        body = b"".join(_field(1, name) for name in inputs) + b"".join(_field(2, name) for name in (output, *more))
        body += (
            _field(4, op) + b"".join(_field(5, _attribute(*pair)) for pair in attributes.items()) + _field(7, domain)
        )
        self._nodes.append(body)
        return output

    def model(
        self,
        inputs: Mapping[str, tuple[int, Sequence[str | int]]],
        outputs: Mapping[str, tuple[int, Sequence[str | int]]],
    ) -> bytes:
        """The serialised ModelProto. `inputs` and `outputs` map a name to its element type and its dimensions."""
        graph: list[bytes | memoryview] = [_field(1, node) for node in self._nodes]
        for described, raw in self._weights.values():
            graph += (_header(5, len(described) + len(raw)), described, raw)
        for number, values in ((11, inputs), (12, outputs)):
            graph += (_field(number, _value_info(name, *kind)) for name, kind in values.items())
        graph.append(_field(2, "graph"))
        opsets = (_field(8, _field(1, domain) + _field(2, version)) for domain, version in self._opsets.items())
        # Joined once: the weights are large, and every further copy of them would show in the start-up time.
        return b"".join([_field(1, _IR_VERSION), *opsets, _header(7, sum(map(len, graph))), *graph])


def _attribute(name: str, value: float | list[int]) -> bytes:
    if isinstance(value, list):
        return _field(1, name) + b"".join(_field(8, item) for item in value) + _field(20, 7)
    if isinstance(value, int):
        return _field(1, name) + _field(3, value) + _field(20, 2)
    return _field(1, name) + _tag(2, _FIXED32) + struct.pack("<f", value) + _field(20, 1)


def _value_info(name: str, kind: int, dims: Sequence[str | int]) -> bytes:
    shape = b"".join(_field(1, _field(1, dim) if isinstance(dim, int) else _field(2, dim)) for dim in dims)
    return _field(1, name) + _field(2, _field(1, _field(1, kind) + _field(2, shape)))


def _field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _tag(number, _VARINT) + _varint(value)
    payload = value.encode() if isinstance(value, str) else value
    return _header(number, len(payload)) + payload


def _header(number: int, size: int) -> bytes:
    return _tag(number, _BYTES) + _varint(size)


def _tag(number: int, wire: int) -> bytes:
    return _varint(number << 3 | wire)


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1  # a negative number is its two's complement in 64 bits
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
