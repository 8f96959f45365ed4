"""JSON Schema, draft 2020-12: the part of it that describes data, checked when a schema is given and when data is.

Known are the keywords in `KEYWORDS`, boolean schemas and `$ref` to this schema's own `$defs`; `format` is asserted for
`date`, `date-time` and `time`, and is an annotation otherwise. A schema that uses anything else is refused, so that no
rule is ever passed over in silence. The tests hold it to the reference implementation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import Any

from mnemic.conditions import equal
from mnemic.errors import InvalidConfig, InvalidInput

_ANNOTATIONS = frozenset({"$schema", "$id", "$comment", "title", "description", "default", "examples", "deprecated"})
_ABSENT: Any = object()
MAX_DEPTH = 32


@dataclass(frozen=True, slots=True)
class Problem:
    """Place at which data breaks its schema (names and places, never values), and the keyword that it breaks."""

    path: str
    keyword: str


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema that was found to be one. Raises InvalidConfig (`invalid_config:schema:<keyword>`)."""

    document: Mapping[str, Any] = field(repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.document, Mapping):
            raise InvalidConfig("schema", hint="a schema is a JSON object")
        for one in _subschemas(self.document, 0):
            _check_schema(one, self.document)

    def problems(self, data: object) -> Iterator[Problem]:
        """Everything in which `data` breaks the schema, in no promised order."""
        return _problems(data, self.document, _Place(self.document))

    def require(self, data: object) -> None:
        """Raises InvalidInput (`invalid_input:data:<path>:<keyword>`) for the first problem."""
        for problem in self.problems(data):
            raise InvalidInput(f"data:{problem.path}:{problem.keyword}", hint="it does not keep its schema")

    def at(self, path: Sequence[str]) -> Mapping[str, Any] | None:
        """The schema of the property at `path`, or None where the schema names no such property."""
        here: Any = self.document
        for name in path:
            here = _resolved(here, self.document)
            here = here.get("properties", {}).get(name) if isinstance(here, Mapping) else None
        found = _resolved(here, self.document)
        return found if isinstance(found, Mapping) else None


@dataclass(frozen=True, slots=True)
class _Place:
    """Place of a check in the data, and the schema that `$ref` looks into."""

    root: Mapping[str, Any]
    path: str = "$"
    depth: int = 0

    def into(self, name: str | int) -> _Place:
        if self.depth >= MAX_DEPTH:
            raise InvalidInput("data:depth", hint=f"at most {MAX_DEPTH} levels")
        return _Place(self.root, f"{self.path}.{name}", self.depth + 1)


def _problems(data: Any, schema: Any, place: _Place) -> Iterator[Problem]:
    if isinstance(schema, bool):
        if not schema:
            yield Problem(place.path, "false")
        return
    if place.depth > MAX_DEPTH:
        raise InvalidInput("data:depth", hint=f"at most {MAX_DEPTH} levels")
    for keyword, value in schema.items():
        rule = _RULES.get(keyword)
        if rule is not None and not rule(data, value):
            yield Problem(place.path, keyword)
        elif keyword == "additionalProperties":
            yield from _additional(data, value, schema.get("properties", {}), place)
        elif keyword in _NESTED:
            yield from _NESTED[keyword](data, value, place)


# -- rules that look at one value --------------------------------------------------------------------------------------


def _is_type(data: Any, name: str) -> bool:
    match name:
        case "null":
            return data is None
        case "boolean":
            return isinstance(data, bool)
        case "string":
            return isinstance(data, str)
        case "object":
            return isinstance(data, Mapping)
        case "array":
            return isinstance(data, list | tuple)
        case "integer":
            return _is_number(data) and float(data).is_integer()
        case _:
            return _is_number(data)


def _is_number(data: Any) -> bool:
    return isinstance(data, int | float) and not isinstance(data, bool) and math.isfinite(data)


def _is_multiple(data: Any, of: float) -> bool:
    return not _is_number(data) or (
        data % of == 0 if isinstance(data, int) and isinstance(of, int) else float(data / of).is_integer()
    )


def _formatted(data: Any, name: str) -> bool:
    parse = _FORMATS.get(name)
    if parse is None or not isinstance(data, str):
        return True
    try:
        return parse(data)
    except ValueError:
        return False


def _is_moment(text: str) -> bool:
    """RFC 3339 date-time; the offset may be left out, since a confirmation often names local times only."""
    return re.match(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d", text) is not None and bool(datetime.fromisoformat(text.upper()))


def _is_time(text: str) -> bool:
    return re.match(r"\d\d:\d\d", text) is not None and time.fromisoformat(text.upper()) is not None


def _is_date(text: str) -> bool:
    return re.fullmatch(r"\d{4}-\d\d-\d\d", text) is not None and bool(date.fromisoformat(text))


_FORMATS: Mapping[str, Callable[[str], bool]] = {"date": _is_date, "date-time": _is_moment, "time": _is_time}


def _unique(data: Sequence[Any]) -> bool:
    return not any(equal(one, other) for at, one in enumerate(data) for other in data[:at])


def _of(kind: Any, test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """A rule that says nothing about data of another type."""
    return lambda data, value: not isinstance(data, kind) or isinstance(data, bool) or test(data, value)


_LIST: Any = list | tuple
_NUMBER: Any = int | float
_RULES: Mapping[str, Callable[[Any, Any], bool]] = {
    "type": lambda data, names: any(_is_type(data, name) for name in ([names] if isinstance(names, str) else names)),
    "enum": lambda data, values: any(equal(data, value) for value in values),
    "const": equal,
    "format": _formatted,
    "minLength": _of(str, lambda data, least: len(data) >= least),
    "maxLength": _of(str, lambda data, most: len(data) <= most),
    "pattern": _of(str, lambda data, pattern: re.search(pattern, data) is not None),
    "minimum": _of(_NUMBER, lambda data, least: data >= least),
    "maximum": _of(_NUMBER, lambda data, most: data <= most),
    "exclusiveMinimum": _of(_NUMBER, lambda data, least: data > least),
    "exclusiveMaximum": _of(_NUMBER, lambda data, most: data < most),
    "multipleOf": _is_multiple,
    "minItems": _of(_LIST, lambda data, least: len(data) >= least),
    "maxItems": _of(_LIST, lambda data, most: len(data) <= most),
    "uniqueItems": _of(_LIST, lambda data, wanted: not wanted or _unique(data)),
    "required": _of(Mapping, lambda data, names: all(name in data for name in names)),
    "minProperties": _of(Mapping, lambda data, least: len(data) >= least),
    "maxProperties": _of(Mapping, lambda data, most: len(data) <= most),
}


# -- rules that look into a value, or at other schemas -----------------------------------------------------------------


def _properties(data: Any, value: Any, place: _Place) -> Iterator[Problem]:
    if isinstance(data, Mapping):
        for name, inner in value.items():
            if name in data:
                yield from _problems(data[name], inner, place.into(name))


def _additional(data: Any, value: Any, named: Mapping[str, Any], place: _Place) -> Iterator[Problem]:
    if isinstance(data, Mapping):
        for name in data.keys() - named.keys():
            if value is False:
                yield Problem(place.path, "additionalProperties")
            else:
                yield from _problems(data[name], value, place.into("*"))


def _items(data: Any, value: Any, place: _Place) -> Iterator[Problem]:
    if isinstance(data, list | tuple):
        for at, inner in enumerate(data):
            yield from _problems(inner, value, place.into(at))


def _ref(data: Any, value: Any, place: _Place) -> Iterator[Problem]:
    deeper = _Place(place.root, place.path, place.depth + 1)
    yield from _problems(data, _target(value, place.root), deeper)


def _holding(data: Any, value: Any, place: _Place) -> int:
    return sum(not any(_problems(data, one, place)) for one in value)


def _all_of(data: Any, value: Any, place: _Place) -> Iterator[Problem]:
    for one in value:
        yield from _problems(data, one, place)


def _any_of(data: Any, value: Any, place: _Place) -> Iterator[Problem]:
    if not _holding(data, value, place):
        yield Problem(place.path, "anyOf")


def _one_of(data: Any, value: Any, place: _Place) -> Iterator[Problem]:
    if _holding(data, value, place) != 1:
        yield Problem(place.path, "oneOf")


def _not(data: Any, value: Any, place: _Place) -> Iterator[Problem]:
    if _holding(data, [value], place):
        yield Problem(place.path, "not")


_NESTED: Mapping[str, Callable[[Any, Any, _Place], Iterator[Problem]]] = {
    "properties": _properties,
    "items": _items,
    "$ref": _ref,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
}

KEYWORDS = frozenset({*_RULES, *_NESTED, "additionalProperties", "$defs", *_ANNOTATIONS})
"""Every keyword that a schema may use."""


# -- the schema itself -------------------------------------------------------------------------------------------------


def _subschemas(schema: Any, depth: int) -> Iterator[Any]:
    if depth > MAX_DEPTH:
        raise InvalidConfig("schema:depth", hint=f"at most {MAX_DEPTH} levels")
    yield schema
    if isinstance(schema, Mapping):
        for keyword in ("additionalProperties", "items", "not"):
            if keyword in schema:
                yield from _subschemas(schema[keyword], depth + 1)
        for keyword in ("properties", "$defs"):
            for inner in _mapping(schema.get(keyword, {}), keyword).values():
                yield from _subschemas(inner, depth + 1)
        for keyword in ("allOf", "anyOf", "oneOf"):
            for inner in _sequence(schema.get(keyword, ()), keyword):
                yield from _subschemas(inner, depth + 1)


_TYPES = frozenset({"null", "boolean", "string", "object", "array", "integer", "number"})
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_LIMITS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


def _check_schema(schema: Any, root: Mapping[str, Any]) -> None:
    if isinstance(schema, bool):
        return
    for keyword, value in _mapping(schema, "type").items():
        if keyword not in KEYWORDS:
            raise InvalidConfig(f"schema:{keyword}", hint="this keyword is not known")
        if not _is_sound(keyword, value, root):
            raise InvalidConfig(f"schema:{keyword}", hint="its value is not what the keyword needs")


def _is_sound(keyword: str, value: Any, root: Mapping[str, Any]) -> bool:
    if keyword == "type":
        names = [value] if isinstance(value, str) else value
        return isinstance(names, list | tuple) and all(name in _TYPES for name in names)
    if keyword in _COUNTS:
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if keyword in _LIMITS:
        return _is_number(value) and (keyword != "multipleOf" or value > 0)
    if keyword == "pattern":
        return _compiles(value)
    if keyword == "$ref":
        return _target(value, root) is not _ABSENT
    if keyword in ("enum", "required"):
        return isinstance(value, list | tuple)
    return True


def _compiles(pattern: Any) -> bool:
    try:
        re.compile(pattern)
    except (re.error, TypeError):
        return False
    return True


def _target(reference: Any, root: Mapping[str, Any]) -> Any:
    """Return what `#/$defs/<name>` points at, `_ABSENT` for any other reference."""
    name = reference.removeprefix("#/$defs/") if isinstance(reference, str) else ""
    return root.get("$defs", {}).get(name, _ABSENT)


def _resolved(schema: Any, root: Mapping[str, Any]) -> Any:
    for _ in range(MAX_DEPTH):
        if not (isinstance(schema, Mapping) and "$ref" in schema):
            break
        schema = _target(schema["$ref"], root)
    return schema


def _mapping(value: Any, keyword: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidConfig(f"schema:{keyword}", hint="a JSON object")
    return value


def _sequence(value: Any, keyword: str) -> Sequence[Any]:
    if not isinstance(value, list | tuple):
        raise InvalidConfig(f"schema:{keyword}", hint="a list")
    return value
