"""Values to JSON data and back, driven by the fields and annotations of their classes.

A dataclass and a NamedTuple become an object with one member per field, a time ISO 8601 in UTC, a duration ISO 8601
(`P180D`), a set a sorted list, bytes base64, an enumeration of texts its value and any other its name in lower case. If
an annotation allows several dataclasses, the object names its own under `type`. A round trip gives an equal value. The
forms themselves are in `mnemic.types.json_forms`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from mnemic.types.json_forms import decode_value, encode_value

T = TypeVar("T")


class Serialisable:
    """Adds `to_dict` and `from_dict` to a dataclass."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the value as JSON data, one member per field; `from_dict` reads it back.

        Raises InvalidInput (`invalid_input:<field>`) for a value without a JSON form (NaN, a time without a time zone).
        """
        data: dict[str, Any] = to_json(self)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Build the value of `to_dict`; a field that has a default may be left out.

        Raises InvalidInput (`invalid_input:<field>`) for a field that is missing, unknown or of the wrong type.
        """
        return from_json(cls, data)


def to_json(value: object, declared: Any = None) -> Any:
    """Return `value` as JSON data.

    `declared` is the annotation that `from_json` will be given if that is not the value's class, such as a union.
    Raises InvalidInput (`invalid_input:<field>`) for a value without a JSON form, TypeError for such a class.
    """
    return encode_value(value, type(value) if declared is None else declared)


def from_json(declared: type[T], data: object) -> T:
    """Return the value that `to_json` turned into `data`. `declared`: its class, or an annotation.

    Raises InvalidInput (`invalid_input:<field>`) for data that is not such a value.
    """
    value: T = decode_value(declared, data)
    return value
