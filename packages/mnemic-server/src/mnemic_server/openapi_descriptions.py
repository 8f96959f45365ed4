"""Meaning of each field of requests and answers. One name has one meaning, wherever it occurs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from enum import Enum, StrEnum
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, JsonValue, create_model

from mnemic_server.field_descriptions import FIELDS


def describe(document: dict[str, Any]) -> None:
    """Give each operation of an OpenAPI document its summary, the first sentence of its description, and each field and
    parameter that has no description that of its name.
    """
    for shape in document["components"]["schemas"].values():
        for name, field in shape.get("properties", {}).items():
            _name(field, name)
    for operations in document["paths"].values():
        for operation in operations.values():
            operation["summary"] = operation["description"].partition(".")[0]
            for parameter in operation.get("parameters", ()):
                _name(parameter, parameter["name"])


def _name(described: dict[str, Any], name: str) -> None:
    if name in FIELDS:
        described.setdefault("description", FIELDS[name])


class ResponseBody(BaseModel):
    """Base of response bodies. The names of fields determine their meanings (`mnemic_server.field_descriptions`)."""


def shape_of(cls: type, doc: str | None = None, name: str | None = None) -> type[ResponseBody]:
    """Return the shape of a dataclass in JSON, as `mnemic.types.to_json` writes it; its name is that of the class."""
    hints = get_type_hints(cls)
    fields: Any = {one.name: (_shape(hints[one.name]), ...) for one in dataclasses.fields(cls)}
    return create_model(name or f"{cls.__name__}Response", __base__=ResponseBody, __doc__=doc or cls.__doc__, **fields)


def _shape(declared: Any) -> Any:
    origin, arguments = get_origin(declared), get_args(declared)
    if bool in arguments and any(get_origin(one) is Mapping for one in arguments):
        return JsonValue
    if origin in (Union, UnionType):
        return Union[tuple(_shape(one) for one in arguments)]  # noqa: UP007 - made at run time
    if origin is tuple and arguments[-1] is not Ellipsis:
        return list[Union[tuple(_shape(one) for one in arguments)]]  # type: ignore[misc]  # noqa: UP007
    if origin in (tuple, Sequence, list, frozenset):
        return list[_shape(arguments[0])]  # type: ignore[misc]  # made at run time
    if origin in (Mapping, dict):
        return dict[str, _shape(arguments[1])]  # type: ignore[misc]  # made at run time
    return _scalar(declared)


def _scalar(declared: Any) -> Any:
    if declared in (datetime, date, timedelta, bytes):
        return str
    if isinstance(declared, type) and issubclass(declared, Enum):
        by_value = issubclass(declared, StrEnum)
        return Literal[tuple(one.value if by_value else one.name.lower() for one in declared)]
    is_value = isinstance(declared, type) and dataclasses.is_dataclass(declared)
    return shape_of(declared) if is_value else declared
